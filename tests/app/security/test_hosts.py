"""Which names in a Host header mean this server."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.engine import Engine
from bioqa.app.main import create_app
from bioqa.app.security.hosts import HostsError, is_allowed, parse_hosts
from bioqa.app.settings import Settings
from tests.app.requests import is_problem
from tests.app.security.conftest import Serve


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8000",
        "a.localhost",
        "127.0.0.1",
        "127.1.2.3:80",
        "[::1]:8000",
        "10.0.0.7:8000",
        "[fe80::1]",
    ],
)
def test_addresses_and_names_of_this_machine_are_always_allowed(host: str) -> None:
    assert is_allowed(host, ())


@pytest.mark.parametrize(
    "host", ["", "evil.test", "evil.test:8000", "localhost.evil.test", "127.0.0.1.evil.test", "[", "a b"]
)
def test_other_names_are_not(host: str) -> None:
    assert not is_allowed(host, parse_hosts("bioqa.example.org"))
    assert is_allowed("any.test", {"*"})


def test_names_are_allowed_one_by_one_or_by_their_domain() -> None:
    allowed = parse_hosts(" Bioqa.example.org, *.lab.test ,")
    assert allowed == {"bioqa.example.org", "*.lab.test"}
    for host in ("bioqa.example.org", "BIOQA.example.org.:443", "a.lab.test", "a.b.lab.test:1"):
        assert is_allowed(host, allowed)
    for host in ("lab.test", "xlab.test", "other.example.org"):
        assert not is_allowed(host, allowed)


@pytest.mark.parametrize("text", ["https://a.test", "a.test:80", "a.test/path", "a b", "a.*.test"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(HostsError, match="BIOQA_ALLOWED_HOSTS"):
        parse_hosts(text)


def called(client: TestClient, host: str, path: str = "/info") -> int:
    return client.get(path, headers={"Host": host}).status_code


@pytest.fixture
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what the other tests' client needs."""
    monkeypatch.delenv("BIOQA_ALLOWED_HOSTS")


REBOUND = ("evil.test", "evil.test:8000", "localhost.evil.test", "127.0.0.1.evil.test")


@pytest.mark.usefixtures("unset")
@pytest.mark.parametrize("listening", ["127.0.0.1", "::1", "0.0.0.0", "10.0.0.7", "lab.example.org"])
def test_a_name_that_an_attacker_has_is_refused_wherever_it_listens(serve: Serve, listening: str) -> None:
    client = serve(host=listening)
    for host in REBOUND:
        refused = client.get("/info", headers={"Host": host})
        assert "BIOQA_ALLOWED_HOSTS" in is_problem(refused, 421)["detail"]
        assert called(client, host, "/") == 421
        assert called(client, host, "/v1/bioasq/batches") == 421
    assert called(client, "localhost:8000") == 200
    assert called(client, "127.0.0.1") == 200
    assert called(client, "192.0.2.1:8000") == 200, "an address is nobody's name"
    assert called(client, "evil.test", "/healthz") == 200


@pytest.mark.usefixtures("unset")
def test_the_host_that_is_listened_on_is_known(serve: Serve) -> None:
    assert called(serve(host="lab.example.org"), "lab.example.org:8000") == 200


@pytest.mark.usefixtures("unset")
def test_names_without_a_dot_are_known_where_others_can_call(serve: Serve) -> None:
    assert called(serve(host="0.0.0.0"), "bioqa-1:8000") == 200
    assert called(serve(host="127.0.0.1"), "bioqa-1:8000") == 421


def test_names_of_the_setting_are_known(serve: Serve) -> None:
    client = serve(allowed_hosts="med.example.org,*.lab.test")
    assert [called(client, host) for host in ("med.example.org", "a.lab.test:80", "evil.test")] == [
        200,
        200,
        421,
    ]
    assert called(serve(allowed_hosts="*"), "evil.test") == 200


@pytest.mark.usefixtures("unset")
def test_with_keys_any_name_will_do_unless_some_are_set(serve: Serve, key_path: Path, secret: str) -> None:
    sent = {"X-API-Key": secret, "Host": "med.example.org"}
    assert serve(api_keys_file=key_path).get("/info", headers=sent).status_code == 200
    refused = serve(api_keys_file=key_path, allowed_hosts="a.test").get("/info", headers=sent)
    assert refused.status_code == 421


def test_a_setting_that_names_no_host_ends_the_start(engine: Engine) -> None:
    with pytest.raises(HostsError):
        create_app(Settings(allowed_hosts="https://a.test"), engine)
