import pytest

from bioqa.app.settings import Settings, SettingsError, load_settings


def test_without_any_variable_the_defaults_hold() -> None:
    settings = load_settings()
    assert settings.index is None
    assert (settings.ranker, settings.candidates, settings.host, settings.port) == (
        "soft",
        100,
        "127.0.0.1",
        8000,
    )
    assert 1 <= settings.torch_threads <= 256


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
        load_settings()
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
    assert (access.user, access.password, access.api_key) == ("ada", "s3cret", "k3y")
    assert (shape.replicas, shape.k1) == (1, 0.9)
    shown = f"{settings!r} {access!r}"
    assert "s3cret" not in shown
    assert "k3y" not in shown
