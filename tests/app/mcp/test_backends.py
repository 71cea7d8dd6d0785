"""Where the tools' answers come from, and what is told when they cannot."""

import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from bioqa.app.answers.service import Service
from bioqa.app.mcp.backends import LocalBackend, RemoteBackend
from bioqa.app.mcp.server import create_server
from bioqa.app.settings import Settings
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.system.errors import BioqaError
from bioqa.system.secret import Secret
from tests.app.engines import over
from tests.app.mcp.calls import answered, refused
from tests.app.requests import BODY

SETTINGS = Settings(max_question_characters=300)


def test_an_index_that_is_away_is_told_and_found_again(tmp_path: Path, index_folder: Path) -> None:
    def open_index() -> SearchIndex:
        if not (tmp_path / "there").exists():
            raise BioqaError("the index is away")
        return TantivyIndex.open(index_folder)

    service = Service(SETTINGS, over(open_index))
    server = create_server(LocalBackend(service))
    assert refused(server, "search", question=BODY) == (
        "Error executing tool search: the search index is not available at the moment; "
        "the server's log says why"
    )
    (tmp_path / "there").touch()
    assert answered(server, "search", question=BODY)["documents"]
    service.close()


def test_a_service_that_is_away_or_none_is_told() -> None:
    away = create_server(RemoteBackend("http://127.0.0.1:1"))
    assert "the service at http://127.0.0.1:1 cannot be reached" in refused(away, "search", question="a")
    other = FastAPI()
    other.post("/v1/search")(lambda: {"hello": "world"})
    none = create_server(RemoteBackend("http://none", transport=httpx2.ASGITransport(other)))
    assert "http://none is not a bioqa service" in refused(none, "search", question="a")


def test_the_key_reaches_the_service() -> None:
    seen = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers.get("authorization"))
        return httpx2.Response(401, json={"detail": "an API key is needed"})

    transport = httpx2.MockTransport(answer)
    for key in (Secret("secret"), None):
        backend = RemoteBackend("http://bioqa.test", key, transport)
        said = refused(create_server(backend), "get_document", pmid="1")
        assert said.endswith("the service at http://bioqa.test refused (401): an API key is needed")
        assert "secret" not in said
    assert seen == ["Bearer secret", None]


PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    # As where the package is not installed.
    monkeypatch.setitem(sys.modules, "socksio", None)
    return monkeypatch


@pytest.mark.parametrize(
    "proxy", ["socks5://127.0.0.1:9", "http://ada:s3cret@127.0.0.1:9", "127.0.0.1:9", "what://x"]
)
@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost:1", "[::1]:1", "direct.test:1"])
def test_this_machine_and_no_proxy_are_asked_directly(
    environment: pytest.MonkeyPatch, proxy: str, host: str
) -> None:
    environment.setenv("ALL_PROXY", proxy)
    environment.setenv("NO_PROXY", "direct.test")
    said = refused(create_server(RemoteBackend(f"http://{host}")), "search", question="a")
    assert f"the service at http://{host} cannot be reached: " in said
    assert "proxy" not in said


@pytest.mark.parametrize(
    ("proxy", "words"),
    [
        (
            "socks5://127.0.0.1:9",
            "127.0.0.1:9 (NO_PROXY names hosts asked directly): install the package socksio",
        ),
        ("http://ada:s3cret@127.0.0.1:9", "through the proxy http://127.0.0.1:9 (NO_PROXY names hosts"),
        ("127.0.0.1:9", "through the proxy http://127.0.0.1:9 (NO_PROXY names hosts"),
        ("what://ada:s3cret@x", "through the proxy what://x (NO_PROXY names hosts"),
        ("http://ada:s3cret@", "is no proxy's address"),
    ],
)
def test_a_proxy_that_does_not_do_is_named(environment: pytest.MonkeyPatch, proxy: str, words: str) -> None:
    environment.setenv("HTTP_PROXY", proxy)
    said = refused(create_server(RemoteBackend("http://elsewhere.test")), "search", question="a")
    assert words in said
    assert "s3cret" not in said


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://host", "http://", "http://[", "http://host:x", "http://h/?q=1"]
)
def test_what_is_no_url_is_refused_at_once(url: str) -> None:
    with pytest.raises(BioqaError, match="http://host:8000 is expected"):
        RemoteBackend(url)


def test_a_url_with_a_password_is_refused_and_not_shown() -> None:
    with pytest.raises(BioqaError, match="user or password") as caught:
        RemoteBackend("http://ada:s3cret@host:8000")
    assert "s3cret" not in str(caught.value)


def test_a_foreign_message_that_quotes_the_key_is_scrubbed() -> None:
    def fail(request: httpx2.Request) -> Any:
        raise httpx2.LocalProtocolError(f"Illegal header value {request.headers['authorization']!r}")

    backend = RemoteBackend("http://bioqa.test", Secret("S3CRETKEY9"), httpx2.MockTransport(fail))
    said = refused(create_server(backend), "search", question="a")
    assert "Illegal header value" in said
    assert "S3CRETKEY9" not in said
