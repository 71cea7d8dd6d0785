"""Streamable HTTP: the names by which it may be called, and the pages that may call it."""

from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from bioqa.app.mcp.hosts import guard


@pytest.fixture
def client() -> TestClient:
    app = FastAPI()
    app.post("/mcp")(lambda: "reached")
    return TestClient(guard(app, {"med.example.org"}))


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "med.example.org"},
        {"Host": "med.example.org:8000", "Origin": "https://med.example.org"},
        {"Host": "localhost"},
        {"Host": "10.0.0.7:8000", "Origin": "http://10.0.0.7:8000"},
        {"Host": "127.0.0.1:8000", "Origin": "http://localhost:6274"},
    ],
)
def test_known_names_and_pages_of_this_machine_reach_it(client: TestClient, headers: Any) -> None:
    assert client.post("/mcp", headers=headers).json() == "reached"


@pytest.mark.parametrize(
    ("headers", "status", "words"),
    [
        ({"Host": "evil.test"}, 421, "no known name"),
        ({"Host": ""}, 421, "no known name"),
        ({"Host": "container"}, 421, "no known name"),
        ({"Host": "localhost", "Origin": "https://evil.test"}, 403, "pages from 'https://evil.test'"),
        ({"Host": "localhost", "Origin": "null"}, 403, "pages from 'null'"),
        ({"Host": "127.0.0.1:8000", "Origin": "http://10.0.0.7"}, 403, "pages from"),
    ],
)
def test_the_refusal_says_what_allows_it(client: TestClient, headers: Any, status: int, words: str) -> None:
    response = client.post("/mcp", headers=headers)
    assert response.status_code == status
    assert words in response.text
    assert "--allowed-host NAME, or the setting BIOQA_ALLOWED_HOSTS" in response.text
