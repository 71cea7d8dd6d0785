"""Every refusal says when a retry is likely to help, and is told as one."""

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from bioqa.app.answers.refusals import Draining, QueueFull, RankingFailed, Refused, TimedOut
from bioqa.app.http import errors
from tests.app.requests import is_problem


@pytest.mark.parametrize(
    ("refusal", "status"), [(QueueFull, 429), (TimedOut, 503), (Draining, 503), (RankingFailed, 503)]
)
def test_a_client_is_told_why_and_when_to_come_back(refusal: type[Refused], status: int) -> None:
    app = FastAPI()
    errors.install(app)

    @app.get("/")
    def refuse() -> None:
        raise refusal("because", 7)

    response = TestClient(app).get("/")
    assert is_problem(response, status)["detail"] == "because"
    assert response.headers["retry-after"] == "7"
