"""HEAD, wherever there is GET."""

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from bioqa.app.api import documents
from tests.app.requests import BODY
from tests.app.web.html import BROWSER

VOLATILE = {"x-request-id", "content-length"}
"""Of those that differ from one answer to the next; /metrics and answers have another length each time."""

PAGES = (
    "/",
    f"/?q={BODY}",
    "/batches",
    "/evaluate",
    "/docs",
    "/answer.json?q=metformin",
    "/static/style.css",
)


def addresses(application: FastAPI) -> list[str]:
    """Every documented address that GET reads."""
    paths = application.openapi()["paths"]
    found = [path for path, operations in paths.items() if "get" in operations]
    return [path.replace("{pmid}", "90000001").replace("{id}", "0" * 32) for path in found]


def test_head_tells_what_get_would(application: FastAPI, client: TestClient) -> None:
    found = addresses(application)
    assert {"/healthz", "/readyz", "/metrics", "/info", "/v1/documents/90000001"} < set(found)
    for path in (*found, *PAGES, "/openapi.json", "/citations.ris?pmid=90000001", "/nowhere"):
        for headers in ({}, BROWSER):
            got, head = client.get(path, headers=headers), client.head(path, headers=headers)
            assert (head.status_code, head.content) == (got.status_code, b""), path
            assert head.headers.keys() == got.headers.keys(), path
            for name in got.headers.keys() - VOLATILE:
                assert head.headers[name] == got.headers[name], (path, name)


@pytest.mark.parametrize("path", ["/healthz", "/v1/models", "/v1/documents/90000001"])
def test_the_length_is_that_of_the_body(client: TestClient, path: str) -> None:
    plain = {"Accept-Encoding": "identity"}
    length = client.head(path, headers=plain).headers["content-length"]
    assert length == str(len(client.get(path, headers=plain).content))


def test_where_there_is_no_get_there_is_no_head(client: TestClient) -> None:
    head = client.head("/v1/rerank")
    assert (head.status_code, head.headers["allow"], head.content) == (405, "POST", b"")


def test_head_is_among_the_methods_that_are_allowed(client: TestClient) -> None:
    assert client.post("/healthz").headers["allow"] == "GET, HEAD"
    assert client.post("/openapi.json").headers["allow"].count("HEAD") == 1


def test_a_fault_has_its_status_too(application: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "stored_document", None)
    client = TestClient(application, raise_server_exceptions=False)
    assert client.head("/v1/documents/90000001").status_code == 500
