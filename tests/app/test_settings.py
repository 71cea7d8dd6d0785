"""Environment variables: which values they may have, whom a wrong one stops, and what is never shown."""

import pickle
import traceback

import pytest

from bioqa.app.settings import Settings, SettingsError, load_settings
from bioqa.system.secret import Secret


def test_without_any_variable_the_defaults_hold() -> None:
    settings = load_settings()
    assert settings.index is None
    assert (settings.ranker, settings.candidates, settings.host, settings.port) == (
        "soft",
        100,
        "127.0.0.1",
        8000,
    )
    assert settings.threads(encoder=False) == 1
    assert 1 <= settings.threads(encoder=True) <= 256


def test_processes_share_threads() -> None:
    settings = Settings(torch_threads=8)
    assert settings.threads(encoder=False) == settings.threads(encoder=True) == 8
    assert [settings.threads(encoder=True, processes=n) for n in (0, 1, 3, 9)] == [8, 8, 2, 1]
    assert Settings().threads(encoder=False, processes=4) == 1


def test_variables_are_read_and_options_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIOQA_INDEX", "/srv/index")
    monkeypatch.setenv("BIOQA_PORT", "9000")
    monkeypatch.setenv("BIOQA_RANKER", "")
    settings = load_settings(port=9001, index=None)
    assert (settings.index, settings.port, settings.ranker) == ("/srv/index", 9001, "soft")


def test_every_bad_variable_is_named_with_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIOQA_PORT", "http")
    monkeypatch.setenv("BIOQA_CANDIDATES", "0")
    with pytest.raises(SettingsError) as caught:
        load_settings().check()
    message = str(caught.value)
    assert "BIOQA_PORT" in message
    assert "'http'" in message
    assert "BIOQA_CANDIDATES" in message


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_every_setting_says_what_it_is(name: str) -> None:
    assert Settings.model_fields[name].description


def test_secrets_for_elasticsearch_are_read_and_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BIOQA_ELASTIC_USER", "ada")
    monkeypatch.setenv("BIOQA_ELASTIC_PASSWORD", "s3cret")
    monkeypatch.setenv("BIOQA_ELASTIC_API_KEY", "k3y")
    monkeypatch.setenv("BIOQA_ELASTIC_REPLICAS", "1")
    monkeypatch.setenv("BIOQA_BM25_K1", "0.9")
    settings = load_settings()
    access, shape = settings.access(), settings.shape()
    assert (access.user, access.password, access.api_key) == ("ada", Secret("s3cret"), Secret("k3y"))
    assert (shape.replicas, shape.k1) == (1, 0.9)
    shown = f"{settings!r} {access!r}"
    assert "s3cret" not in shown
    assert "k3y" not in shown


def test_a_variable_stops_only_what_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIOQA_PORT", "http")
    settings = load_settings(index="x")
    assert (settings.index, settings.candidates) == ("x", 100)
    for use in (lambda: settings.port, settings.check):
        with pytest.raises(SettingsError, match=r"BIOQA_PORT: .*, not 'http'"):
            use()
    assert load_settings(port=8001).check().port == 8001
    assert pickle.loads(pickle.dumps(load_settings(port=8001))).port == 8001


def test_an_option_that_is_wrong_is_an_error_at_once() -> None:
    with pytest.raises(SettingsError, match="BIOQA_CANDIDATES"):
        load_settings(candidates=0)


def test_a_port_that_kubernetes_set_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIOQA_PORT", "tcp://10.96.0.12:8000")
    assert load_settings().check().port == 8000


def test_paths_may_begin_with_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    for name in ("INDEX", "RANKER", "DATA_DIR", "API_KEYS_FILE", "ELASTIC_CA_FILE"):
        monkeypatch.setenv(f"BIOQA_{name}", f"~/{name}")
    monkeypatch.setenv("BIOQA_RANKERS", "soft, ~/other")
    settings = load_settings().check()
    paths = (
        settings.index,
        settings.ranker,
        settings.data_dir,
        settings.api_keys_file,
        settings.elastic_ca_file,
    )
    assert [str(path) for path in paths] == [
        f"/home/ada/{name}" for name in ("INDEX", "RANKER", "DATA_DIR", "API_KEYS_FILE", "ELASTIC_CA_FILE")
    ]
    assert settings.rankers == "soft,/home/ada/other"


@pytest.mark.parametrize(
    "key",
    ["S3cretKey==\n", "\ufeffS3cretKey", " S3cretKey", "S3cretKey\u2014", "S3cret\nKey", "\udcffS3cretKey"],
)
def test_no_message_shows_a_key(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environ", {"BIOQA_ELASTIC_API_KEY": key})
    settings = load_settings()
    try:
        used = settings.access().api_key
    except SettingsError as error:
        shown = "".join(traceback.format_exception(error))
        assert "BIOQA_ELASTIC_API_KEY: character " in shown
        assert "S3cret" not in shown
    else:
        assert used is not None
        assert used.reveal() == key.strip()
    assert "S3cret" not in repr(settings)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ELASTIC_PASSWORD", "s3cret\n", "BIOQA_ELASTIC_PASSWORD: character 7 is a line break"),
        ("ELASTIC_PASSWORD", "s3cr\x00et", "BIOQA_ELASTIC_PASSWORD: character 5 is a control character"),
        ("ELASTIC_PASSWORD", "s3cret\udcff", "BIOQA_ELASTIC_PASSWORD: character 7 is no UTF-8"),
        (
            "ELASTIC_USER",
            "a:b",
            "BIOQA_ELASTIC_USER: holds a colon, which separates user and password, not 'a:b'",
        ),
    ],
)
def test_a_password_holds_what_it_may(
    name: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.environ", {f"BIOQA_{name}": value})
    settings = load_settings()
    with pytest.raises(SettingsError) as caught:
        settings.access()
    assert str(caught.value) == said
    assert "s3cr" not in "".join(traceback.format_exception(caught.value))


def test_a_password_may_be_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIOQA_ELASTIC_PASSWORD", " pässwört:\U0001f9ec ")
    password = load_settings().access().password
    assert password is not None
    assert password.reveal() == " pässwört:\U0001f9ec "


def test_a_key_of_white_space_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIOQA_ELASTIC_API_KEY", " \n")
    assert load_settings().access().api_key is None
