"""What clients do wrong: every refusal in one shape, naming the field, and never a 5xx."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.app.requests import BODY, fields, is_problem


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"",
        b"\xff\xfe{",
        b'{"body": "caf\xe9"}',
        b"[" * 100_000,
        b'{"body": "x", "max_documents": ' + b"9" * 10_000 + b"}",
        b'{"body": "x"} trailing',
    ],
    ids=["unfinished", "empty", "no UTF-16", "Latin-1", "deep", "huge number", "trailing"],
)
def test_what_is_no_json_is_refused(client: TestClient, content: bytes) -> None:
    response = client.post("/v1/search", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code in (400, 422)
    is_problem(response, response.status_code)


def test_json_must_be_called_json(client: TestClient) -> None:
    content = json.dumps({"body": BODY}).encode()
    for kind in ("application/x-www-form-urlencoded", "text/plain", ""):
        is_problem(client.post("/v1/search", content=content, headers={"Content-Type": kind}), 415)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nothing", 404),
        ("GET", "/%00", 404),
        ("GET", "/v1/rerank", 405),
        ("DELETE", "/v1/documents/90000001", 405),
        ("GET", "/v1/documents/12345", 404),
        ("GET", "/v1/documents/0", 422),
        ("GET", "/v1/documents/9" + "9" * 30, 422),
        ("GET", "/v1/documents/%00", 422),
        ("GET", "/v1/documents/%ff", 422),
        ("GET", "/v1/documents/90000001%0a", 422),
        ("GET", "/v1/documents/\u0669", 422),
    ],
)
def test_wrong_addresses_and_methods(client: TestClient, method: str, path: str, status: int) -> None:
    response = client.request(method, path)
    problem = is_problem(response, status)
    if status == 405:
        assert response.headers["allow"]
    if status == 422:
        assert fields(problem) == ["pmid"]


def test_after_refusals_a_plain_question_gets_its_first_answer(client: TestClient) -> None:
    def answer() -> dict[str, Any]:
        shown: dict[str, Any] = client.post("/v1/search", json={"body": BODY}).json()
        return {name: value for name, value in shown.items() if name != "timings_ms"}

    first = answer()
    for content in (b"{", b'{"body": "\\ud800"}', b'{"body": 1}'):
        client.post("/v1/search", content=content, headers={"Content-Type": "application/json"})
    assert answer() == first
