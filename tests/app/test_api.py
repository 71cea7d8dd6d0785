"""What the HTTP API answers, over a small index and a ranker without weights."""

import json

import pytest
from fastapi.testclient import TestClient

from bioqa.bioasq.files import parse_golden, parse_testset
from bioqa.bioasq.validation import validate
from tests.app.requests import BODY, TESTSET


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


def test_a_search_answer_reads_as_golden_entries_do(client: TestClient) -> None:
    submission = client.post("/v1/bioasq", json=TESTSET).json()
    read = parse_golden(submission, "answer")
    assert set(read.irregularities) <= {"question without one of the four types"}
