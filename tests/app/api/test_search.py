"""POST /v1/search over a small index and a ranker without weights."""

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bioqa.app.http.schemas import OF_BIOASQ
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.jsonfile import shortened
from tests.app.requests import BODY, fields, is_problem


def test_search_answers_with_everything_that_the_contract_names(client: TestClient) -> None:
    asked = {"body": BODY, "id": "7", "type": "yesno", "ideal_answer": ["ignored"], "concepts": None}
    response = client.post("/v1/search", json=asked)
    assert response.status_code == 200
    answer = response.json()
    assert (answer["id"], answer["type"], answer["body"]) == ("7", "yesno", BODY)
    assert (answer["index"], answer["ranker"], answer["ranker_hash"]) == ("sample", "lexical", "00" * 32)
    assert set(answer["timings_ms"]) == {"wait", "retrieve", "rerank", "select", "total"}
    assert answer["truncated_sentences"] == 0
    assert len(answer["documents"]) == len(answer["snippets"]) == 10
    first = answer["documents"][0]
    assert first["document"] == f"http://www.ncbi.nlm.nih.gov/pubmed/{first['pmid']}"
    assert set(first) == {
        "document",
        "pmid",
        "title",
        "published",
        "score",
        "standing",
        "notices",
        "citation",
        "abstract",
        "parts",
        "metadata",
    }
    assert first["abstract"] is first["parts"] is None
    assert set(answer["snippets"][0]) == {
        "document",
        "text",
        "beginSection",
        "endSection",
        "offsetInBeginSection",
        "offsetInEndSection",
        "standing",
        "score",
    }


def test_one_call_is_enough_for_the_text(client: TestClient) -> None:
    answer = client.post("/v1/search", json={"body": BODY, "include": ["abstract", "abstract"]}).json()
    texts = {}
    for found in answer["documents"]:
        stored = client.get(f"/v1/documents/{found['pmid']}").json()
        assert (found["abstract"], found["parts"]) == (stored["abstract"], stored["parts"])
        texts[found["document"]] = found
    assert answer["snippets"]
    for snippet in answer["snippets"]:
        section = texts[snippet["document"]][snippet["beginSection"]]
        assert section[snippet["offsetInBeginSection"] : snippet["offsetInEndSection"]] == snippet["text"]


def test_a_question_can_be_sent_as_bioasq_has_it(client: TestClient) -> None:
    asked = {"body": BODY, **{key: [{"a": None}] for key in OF_BIOASQ}}
    assert client.post("/v1/search", json=asked).status_code == 200


def test_a_pasted_abstract_is_a_question(index_folder: Path) -> None:
    abstract = "We gave metformin to adults. " + "Nobody had heard of this before, nor since. " * 220
    with TestClient(create_app(Settings(index=str(index_folder)))) as client:
        answer = client.post("/v1/search", json={"body": abstract}).json()
        too_long = client.post("/v1/search", json={"body": "x" * 10_001})
    assert answer["body"] == abstract
    assert answer["condensed"].split()[:3] == ["gave", "metformin", "adults."]
    assert len(answer["condensed"]) < 300
    assert "metformin" in answer["documents"][0]["title"]
    assert fields(is_problem(too_long, 422)) == ["body"]


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
    assert days
    assert all(day < "1997-01-01" for day in days)
    undated = client.post("/v1/search", json={**asked, "undated": True}).json()["documents"]
    assert None in (d["published"] for d in undated)


def test_answers_are_the_same_to_the_byte_and_around_white_space(client: TestClient) -> None:
    def answer(body: str) -> bytes:
        response = client.post("/v1/search", json={"body": body})
        shown = response.json()
        assert json.loads(json.dumps(shown, allow_nan=False)) == shown
        return response.content.split(b'"documents"')[1].split(b'"timings_ms"')[0]

    assert answer(BODY) == answer(BODY) == answer(f"\t {BODY}\u2003\n")


@pytest.mark.parametrize("body", ["zebra \0 crossing", "\U0001f9ec?", "title:statin (*", "<script>"])
def test_any_text_is_a_question(client: TestClient, body: str) -> None:
    response = client.post("/v1/search", json={"body": body})
    assert response.status_code == 200
    assert response.json()["body"] == body


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
        ({"body": "x", "max_snippets": -1}, "max_snippets", "0"),
        ({"body": "x", "max_snippets": 1.5}, "max_snippets", "integer"),
        ({"body": "x", "candidates": 1001}, "candidates", "1000"),
        ({"body": "x", "candidates": 10**100}, "candidates", ""),
        ({"body": "x", "published_before": "2020"}, "published_before", "YYYY-MM-DD"),
        ({"body": "x", "published_before": "2020-02-30"}, "published_before", "date"),
        ({"body": "x", "published_before": 1}, "published_before", "YYYY-MM-DD"),
        ({"body": "x", "published_before": "2020-01-01T00:00:00"}, "published_before", "YYYY-MM-DD"),
        ({"body": "x", "ranker": "no-such"}, "ranker", "lexical"),
        ({"body": "x", "max_document": 5}, "max_document", "not a field"),
        ({"body": "x", "query": "x"}, "query", "not a field"),
        ({"body": "x", "k" * 300: "x"}, shortened("k" * 300), "not a field"),
        ({"body": "x", "include": "abstract"}, "include", "list"),
        ({"body": "x", "include": ["text"]}, "include[0]", "abstract"),
        ({"body": "x", "include": ["abstract"] * 11}, "include", "10"),
        ({"body": "x", "a\ud800": 1}, "the request's body", "surrogate"),
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


def test_a_time_limit_that_is_none_is_refused(client: TestClient) -> None:
    for asked in (99, 0, -1, 3_600_001, "500", 1.5):
        problem = is_problem(client.post("/v1/search", json={"body": BODY, "timeout_ms": asked}), 422)
        assert fields(problem) == ["timeout_ms"]


def test_what_was_searched_for_instead_is_told(client: TestClient) -> None:
    answer = client.post("/v1/search", json={"body": "Is metforminn better?"}).json()
    assert answer["body"] == "Is metforminn better?"
    assert answer["interpretation"] == {
        "words": "Is metformin better?",
        "restriction": None,
        "identifiers": [],
        "corrections": [{"word": "metforminn", "correction": "metformin"}],
        "expansions": [],
    }
    assert answer["documents"]
    assert answer == answer | client.post(
        "/v1/search", json={"body": "Is metforminn better?", "literal": None}
    ).json() | {"timings_ms": answer["timings_ms"]}


def test_a_question_may_be_taken_literally(client: TestClient) -> None:
    for answer in (
        client.post("/v1/search", json={"body": "metforminn", "literal": True}).json(),
        client.get("/v1/search", params={"body": "metforminn", "literal": "true"}).json(),
    ):
        assert (answer["interpretation"], answer["documents"]) == (None, [])


def test_words_of_a_query_are_read_too(client: TestClient) -> None:
    answer = client.post("/v1/search", json={"body": "metforminn AND better[ti]", "syntax": "always"}).json()
    assert [each["correction"] for each in answer["interpretation"]["corrections"]] == ["metformin"]


@pytest.mark.parametrize("body", ["\u200b\u00ad\ufeff", "x" * 10_000, "a-" * 400, "α" * 900, "(" * 900])
def test_odd_questions_are_answered(client: TestClient, body: str) -> None:
    assert client.post("/v1/search", json={"body": body}).status_code in (200, 422)
