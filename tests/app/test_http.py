"""The whole HTTP surface, over a small index and a ranker without weights."""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

from app.answering import Answerer
from app.main import create_app
from app.schemas import TestSet
from app.service import Service
from app.settings import Settings
from bioasq.domain import Candidate, Question
from bioasq.errors import BioqaError
from bioasq.files import parse_golden, parse_testset
from bioasq.validation import validate
from indexer.search.base import SearchIndex
from indexer.search.tantivy import TantivyIndex
from models.ranking import Ranking
from tests.app.conftest import LexicalRanker

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


# Answers


def test_search_answers_with_everything_that_the_contract_names(client: TestClient) -> None:
    asked = {"body": BODY, "id": "7", "type": "yesno", "ideal_answer": ["ignored"], "concepts": None}
    response = client.post("/v1/search", json=asked)
    assert response.status_code == 200
    answer = response.json()
    assert (answer["id"], answer["type"], answer["body"]) == ("7", "yesno", BODY)
    assert (answer["index"], answer["ranker"], answer["ranker_hash"]) == ("sample", "lexical", "00" * 32)
    assert set(answer["timings_ms"]) == {"retrieve", "rerank", "select", "total"}
    assert answer["truncated_sentences"] == 0
    assert len(answer["documents"]) == len(answer["snippets"]) == 10
    first = answer["documents"][0]
    assert first["document"] == f"http://www.ncbi.nlm.nih.gov/pubmed/{first['pmid']}"
    assert set(first) == {"document", "pmid", "title", "published", "score"}
    assert set(answer["snippets"][0]) == {
        "document",
        "text",
        "beginSection",
        "endSection",
        "offsetInBeginSection",
        "offsetInEndSection",
        "score",
    }


def test_search_defaults(client: TestClient) -> None:
    answer = client.post("/v1/search", json={"body": BODY}).json()
    assert (answer["id"], answer["type"]) == (None, None)


def test_search_gives_as_much_as_is_asked_for(client: TestClient) -> None:
    asked = {"body": "adults", "max_documents": 3, "max_snippets": 0, "ranker": "lexical", "candidates": 5}
    answer = client.post("/v1/search", json=asked).json()
    assert (len(answer["documents"]), answer["snippets"]) == (3, [])


def test_search_by_date(client: TestClient) -> None:
    asked = {"body": "statin", "published_before": "1997-01-01", "max_documents": 100}
    days = [d["published"] for d in client.post("/v1/search", json=asked).json()["documents"]]
    assert None in days
    assert any(day is not None for day in days)
    assert all(day is None or day < "1997-01-01" for day in days)


def test_answers_are_the_same_to_the_byte_and_around_white_space(client: TestClient) -> None:
    def answer(body: str) -> bytes:
        response = client.post("/v1/search", json={"body": body})
        shown = response.json()
        assert json.loads(json.dumps(shown, allow_nan=False)) == shown
        return response.content.split(b'"documents"')[1].split(b'"timings_ms"')[0]

    assert answer(BODY) == answer(BODY) == answer(f"\t {BODY}\u2003\n")


@pytest.mark.parametrize("body", ["zebra \0 crossing", "\U0001f9ec?", "title:statin AND (", "<script>"])
def test_any_text_is_a_question(client: TestClient, body: str) -> None:
    response = client.post("/v1/search", json={"body": body})
    assert response.status_code == 200
    assert response.json()["body"] == body


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
        assert [{k: v for k, v in s.items() if k != "score"} for s in alone["snippets"]] == entry["snippets"]


def test_a_document_with_its_sentences(client: TestClient) -> None:
    document = client.get("/v1/documents/90000001").json()
    assert document["title"] == "Effects of metformin in cohort 1 <b>& beyond</b>."
    assert document["published"] == "1991-02-01"
    texts = [document[s["section"]][s["begin"] : s["end"]] for s in document["sentences"]]
    assert texts[2] == "The metformin group improved more than placebo."
    assert document["parts"] == [{"label": "", "begin": 0, "end": len(document["abstract"])}]


def test_what_runs_here(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"ready": True, "reasons": []}
    config = {"settings": {"ranker": "lexical"}}
    model = {"name": "lexical", "hash": "00" * 32, "default": True, "config": config}
    assert client.get("/v1/models").json() == {"models": [model]}
    info = client.get("/info").json()
    assert (info["name"], info["index"]["name"], info["index"]["documents"]) == ("bioqa", "sample", 41)
    assert info["limits"]["max_question_characters"] == 300


# What clients do wrong


@pytest.mark.parametrize(
    ("asked", "field", "word"),
    [
        ({}, "body", "missing"),
        ({"body": None}, "body", "string"),
        ({"body": ""}, "body", "1"),
        ({"body": " \u2003\n"}, "body", "white space"),
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


# What goes wrong here


def test_without_an_index_questions_get_503_until_there_is_one(tmp_path: Path, index_folder: Path) -> None:
    folder = tmp_path / "later"

    def open_index() -> SearchIndex:
        return TantivyIndex.open(folder)

    app = create_app(Settings(), Answerer(TantivyIndex.open(index_folder), LexicalRanker()))
    app.state.service = Service(Settings(), LexicalRanker(), open_index)
    with TestClient(app, raise_server_exceptions=False) as client:
        for response in (
            client.post("/v1/search", json={"body": BODY}),
            client.post("/v1/bioasq", json=TESTSET),
            client.get("/v1/documents/90000001"),
        ):
            is_problem(response, 503)
            assert int(response.headers["retry-after"]) > 0
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["ready"]) == (503, False)
        assert "missing" in ready.json()["reasons"][0]
        assert str(tmp_path) not in ready.text
        assert client.get("/info").json()["index"] is None
        assert client.get("/healthz").status_code == 200
        with TantivyIndex.create(folder) as index:
            index.commit()
        assert client.get("/readyz").json()["reasons"] == ["the search index holds no documents"]
        folder.rename(tmp_path / "empty")
        is_problem(client.post("/v1/search", json={"body": BODY}), 503)
        folder.symlink_to(index_folder)
        assert client.get("/readyz").json() == {"ready": True, "reasons": []}
        assert client.post("/v1/search", json={"body": BODY}).json()["documents"]


class BrokenRanker(LexicalRanker):
    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        raise RuntimeError(f"secret of {__file__}")


def test_a_fault_of_ours_is_a_problem_that_tells_no_secret(answerer: Answerer) -> None:
    app = create_app(Settings(), Answerer(answerer.index, BrokenRanker()))
    with TestClient(app, raise_server_exceptions=False) as client:
        response = client.post("/v1/search", json={"body": BODY})
        assert "secret" not in is_problem(response, 500)["detail"]


class SlowRanker(LexicalRanker):
    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        self.begun.set()
        assert self.go_on.wait(30)
        return super().rank(question, candidates)


def test_health_and_documents_answer_at_once_while_a_model_works(answerer: Answerer) -> None:
    ranker = SlowRanker()
    app = create_app(Settings(), Answerer(answerer.index, ranker))
    with TestClient(app) as client:
        asking = threading.Thread(target=client.post, args=("/v1/search",), kwargs={"json": {"body": BODY}})
        asking.start()
        try:
            assert ranker.begun.wait(30)
            begun = time.monotonic()
            assert client.get("/healthz").status_code == 200
            assert client.get("/readyz").status_code == 200
            assert client.get("/v1/documents/90000001").status_code == 200
            assert time.monotonic() - begun < 1
            assert asking.is_alive()
        finally:
            ranker.go_on.set()
            asking.join(30)


# The description


def test_openapi_shows_examples_that_work_and_problems_everywhere(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    assert "HTTPValidationError" not in schema["components"]["schemas"]
    assert "Problem" in schema["components"]["schemas"]
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            errors = {s: r for s, r in operation["responses"].items() if s >= "400" and path != "/readyz"}
            assert all(list(r["content"]) == ["application/problem+json"] for r in errors.values())
            if method == "post":
                examples = operation["requestBody"]["content"]["application/json"]["examples"]
                for example in examples.values():
                    assert client.post(path, json=example["value"]).status_code == 200


def test_a_search_answer_reads_as_golden_entries_do(client: TestClient) -> None:
    submission = client.post("/v1/bioasq", json=TESTSET).json()
    read = parse_golden(submission, "answer")
    assert set(read.irregularities) <= {"question without one of the four types"}
