"""Streamable HTTP: no sessions, and the edges of the service."""

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.service import Service
from bioqa.app.mcp.backends import LocalBackend
from bioqa.app.mcp.server import create_server, http_app
from bioqa.app.security import keyfile
from bioqa.app.security.keys import ApiKey, digest
from bioqa.app.settings import Settings
from tests.app.engines import local

HEADERS = {"Accept": "application/json, text/event-stream"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a", "version": "1"},
    },
}
LISTING = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def serving(answerer: Answerer, **given: Any) -> TestClient:
    settings = Settings(**given)
    app = http_app(create_server(LocalBackend(Service(settings, local(answerer)))), settings, {"testserver"})
    return TestClient(app, headers=HEADERS)


def test_there_are_no_sessions_to_use_up(answerer: Answerer) -> None:
    with serving(answerer) as client:
        hello = client.post("/mcp", json=HELLO)
        assert hello.status_code == 200
        assert "mcp-session-id" not in hello.headers
        assert "get_documents" in client.post("/mcp", json=LISTING).text


def test_large_bodies_are_refused(answerer: Answerer) -> None:
    with serving(answerer, max_body_bytes=1000) as client:
        assert client.post("/mcp", json={**HELLO, "more": "x" * 1000}).status_code == 413


def test_keys_hold_if_there_are_any(answerer: Answerer, tmp_path: Path) -> None:
    path = tmp_path / "keys"
    keyfile.add(path, ApiKey("ada", digest("secret")))
    with serving(answerer, api_keys_file=path) as client:
        assert client.post("/mcp", json=HELLO).status_code == 401
        assert client.post("/mcp", json=HELLO, headers={"X-API-Key": "secret"}).status_code == 200


@pytest.mark.parametrize("given", [{"rate_per_minute": 1, "rate_burst": 1}])
def test_rates_hold(answerer: Answerer, given: dict[str, int]) -> None:
    with serving(answerer, **given) as client:
        assert [client.post("/mcp", json=HELLO).status_code for _ in range(2)] == [200, 429]
