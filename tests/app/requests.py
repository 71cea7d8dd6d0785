"""What the tests of HTTP ask, and the one shape of every error."""

from typing import Any

import httpx2

BODY = "Is metformin better than placebo?"
TESTSET = {
    "questions": [
        {"id": "a", "type": "yesno", "body": BODY},
        {"id": "b", "type": "list", "body": " Which drugs are like\u00a0statin? \n"},
        {"id": "c", "body": "Zebra?"},
    ]
}


def is_problem(response: httpx2.Response, status: int) -> dict[str, Any]:
    """An error in the one shape, which tells nothing of the inside."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert problem["status"] == status
    assert problem["type"] == "about:blank"
    assert problem["title"]
    assert problem["detail"]
    assert set(problem) <= {"type", "title", "status", "detail", "errors"}
    for inside in ("Traceback", "tantivy", ".py", "/tmp", "pydantic"):
        assert inside not in response.text
    return problem


def fields(problem: dict[str, Any]) -> list[str]:
    return [error["field"] for error in problem["errors"]]
