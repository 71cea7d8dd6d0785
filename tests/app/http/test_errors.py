"""What clients do wrong: every refusal in one shape, naming the field, and never a 5xx."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

from bioqa.app.http.schemas import TestSet
from bioqa.bioasq.domain import Question
from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.files import parse_testset
from tests.app.requests import BODY, fields, is_problem


@pytest.mark.parametrize(
    ("asked", "field", "word"),
    [
        ({}, "body", "missing"),
        ({"body": None}, "body", "string"),
        ({"body": ""}, "body", "1"),
        ({"body": " \u2003\n"}, "body", "white space"),
        ({"body": "\u001c\u0085\ufeff"}, "body", "white space"),
        ({"body": 7}, "body", "string"),
        ({"body": ["x"]}, "body", "string"),
        ({"body": "a\ud800"}, "body", "surrogate"),
        ({"body": "x" * 301}, "body", "300"),
        ({"body": "x", "id": ""}, "id", "1"),
        ({"body": "x", "id": 5}, "id", "string"),
        ({"body": "x", "type": "YesNo"}, "type", "yesno"),
        ({"body": "x", "max_documents": 0}, "max_documents", "1"),
        ({"body": "x", "max_documents": 101}, "max_documents", "100"),
        ({"body": "x", "max_documents": "5"}, "max_documents", "integer"),
        ({"body": "x", "max_documents": True}, "max_documents", "integer"),
        ({"body": "x", "max_documents": None}, "max_documents", "integer"),
        ({"body": "x", "max_snippets": -1}, "max_snippets", "0"),
        ({"body": "x", "max_snippets": 1.5}, "max_snippets", "integer"),
        ({"body": "x", "candidates": 1001}, "candidates", "1000"),
        ({"body": "x", "candidates": 10**100}, "candidates", ""),
        ({"body": "x", "published_before": "2020"}, "published_before", "YYYY-MM-DD"),
        ({"body": "x", "published_before": "2020-02-30"}, "published_before", "date"),
        ({"body": "x", "published_before": 1}, "published_before", "YYYY-MM-DD"),
        ({"body": "x", "published_before": "2020-01-01T00:00:00"}, "published_before", "YYYY-MM-DD"),
        ({"body": "x", "ranker": "no-such"}, "ranker", "lexical"),
        ([], "the request's body", ""),
        ("text", "the request's body", ""),
        (None, "the request's body", ""),
    ],
)
def test_bad_fields_of_a_search_are_named(client: TestClient, asked: object, field: str, word: str) -> None:
    content = json.dumps(asked).encode()
    response = client.post("/v1/search", content=content, headers={"Content-Type": "application/json"})
    problem = is_problem(response, 422)
    assert fields(problem) == [field]
    assert word in problem["errors"][0]["message"]


def test_all_bad_fields_are_named_at_once(client: TestClient) -> None:
    problem = is_problem(client.post("/v1/search", json={"body": "", "type": "x", "max_documents": 0}), 422)
    assert fields(problem) == ["body", "type", "max_documents"]


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


VALUES: st.SearchStrategy[object] = st.sampled_from(
    ["a", "b", "", " ", None, 3, "yesno", "x\ud800", [], "What is it?"]
)
ENTRIES = st.one_of(
    st.fixed_dictionaries({}, optional={"id": VALUES, "type": VALUES, "body": VALUES}), VALUES
)


@settings(max_examples=150, deadline=None)
@given(entries=st.lists(ENTRIES, max_size=2))
def test_http_takes_the_test_sets_that_files_may_hold_and_no_others(entries: list[object]) -> None:
    data = {"questions": entries}

    def by_file() -> tuple[Question, ...] | None:
        try:
            return parse_testset(data, "file")
        except BioqaError:
            return None

    def by_http() -> tuple[Question, ...] | None:
        try:
            questions = tuple(asked.question() for asked in TestSet.model_validate(data).questions)
        except ValueError:
            return None
        return questions if len({q.id for q in questions}) == len(questions) else None

    assert by_http() == by_file()


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


def test_large_bodies_are_refused_whether_they_tell_their_length_or_not(client: TestClient) -> None:
    content = b'{"body": "' + b"x" * 2_000_000 + b'"}'

    def pieces() -> Iterator[bytes]:
        for begin in range(0, len(content), 100_000):
            yield content[begin : begin + 100_000]

    headers = {"Content-Type": "application/json"}
    for sent in (content, pieces()):
        is_problem(client.post("/v1/search", content=sent, headers=headers), 413)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nothing", 404),
        ("GET", "/%00", 404),
        ("GET", "/v1/search", 405),
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
