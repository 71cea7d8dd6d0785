"""POST /v1/bioasq: a small test set in, its submission out."""

import json

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answerer
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.files import parse_golden, parse_testset
from bioqa.bioasq.validation import validate
from tests.app.answers.rankers import Broken, Choosy
from tests.app.engines import local
from tests.app.requests import TESTSET, fields, is_problem


def test_a_test_set_becomes_a_valid_submission_with_its_questions_unchanged(client: TestClient) -> None:
    response = client.post("/v1/bioasq", json=TESTSET)
    assert response.status_code == 200
    submission = response.json()
    assert validate(submission, parse_testset(TESTSET, "test set")) == []
    echoed = [{k: v for k, v in q.items() if k in ("id", "type", "body")} for q in submission["questions"]]
    assert echoed == TESTSET["questions"]
    assert submission["questions"][2]["documents"] == []


def test_a_question_of_a_test_set_is_answered_as_it_is_alone_and_in_any_order(client: TestClient) -> None:
    backwards = {"questions": TESTSET["questions"][::-1]}
    submission = client.post("/v1/bioasq", json=TESTSET).json()["questions"]
    assert client.post("/v1/bioasq", json=backwards).json()["questions"] == submission[::-1]
    for entry in submission:
        alone = client.post("/v1/search", json={"body": entry["body"]}).json()
        assert [d["document"] for d in alone["documents"]] == entry["documents"]
        more = {"score", "standing", "role"}
        snippets = [{k: v for k, v in s.items() if k not in more} for s in alone["snippets"]]
        assert snippets == entry["snippets"]


def test_a_search_answer_reads_as_golden_entries_do(client: TestClient) -> None:
    submission = client.post("/v1/bioasq", json=TESTSET).json()
    read = parse_golden(submission, "answer")
    assert set(read.irregularities) <= {"question without one of the four types"}


@pytest.mark.parametrize(
    ("testset", "field"),
    [
        ({}, "questions"),
        ({"questions": []}, "questions"),
        ({"questions": None}, "questions"),
        ({"questions": [None]}, "questions[0]"),
        ({"questions": [{"id": "a", "body": "x"}, {"body": "x"}]}, "questions[1].id"),
        ({"questions": [{"id": "a", "body": "x"}, {"id": "a", "body": "y"}]}, "questions[1].id"),
        ({"questions": [{"id": "a", "body": "x"}, {"id": "b", "body": "y" * 301}]}, "questions[1].body"),
        ({"questions": [{"id": "a", "body": "x", "type": "?"}]}, "questions[0].type"),
        ({"questions": [{"id": "\udfff", "body": "x"}]}, "questions[0].id"),
        ({"questions": [{"id": str(n), "body": "x"} for n in range(6)]}, "questions"),
    ],
)
def test_bad_fields_of_a_test_set_are_named(client: TestClient, testset: object, field: str) -> None:
    content = json.dumps(testset).encode()
    response = client.post("/v1/bioasq", content=content, headers={"Content-Type": "application/json"})
    assert fields(is_problem(response, 422)) == [field]


def test_weak_snippets_are_for_those_who_want_them(answerer: Answerer) -> None:
    body = "Is metformin better than placebo in adults?"
    testset = {"questions": [{"id": "a", "body": body}]}
    numbers = []
    for settings in (Settings(), Settings(weak_snippets=True)):
        with TestClient(create_app(settings, local(Answerer(answerer.index, Choosy())))) as client:
            (entry,) = client.post("/v1/bioasq", json=testset).json()["questions"]
            asked: dict[str, str | bool] = {"body": body, "weak_snippets": settings.weak_snippets}
            for alone in (
                client.post("/v1/search", json=asked).json(),
                client.get("/v1/search", params=asked).json(),
            ):
                assert len(alone["snippets"]) == len(entry["snippets"])
            numbers.append(len(entry["snippets"]))
    assert 0 < numbers[0] < numbers[1]


def test_degraded_answers_of_a_test_set_are_counted_in_a_header(answerer: Answerer) -> None:
    with TestClient(create_app(Settings(), local(Answerer(answerer.index, Broken())))) as client:
        response = client.post("/v1/bioasq", json=TESTSET)
        assert response.status_code == 200
        assert response.headers["bioqa-degraded-answers"] == "3"
