"""POST /v1/search over a small index and a ranker without weights."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from bioqa.app.http.schemas import OF_BIOASQ
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.system.jsonfile import shorten
from tests.app.requests import BODY, fields, is_problem


def test_search_answers_with_everything_that_the_contract_names(client: TestClient) -> None:
    asked = {"body": BODY, "id": "7", "type": "yesno", "ideal_answer": ["ignored"], "concepts": None}
    response = client.post("/v1/search", json=asked)
    assert response.status_code == 200
    answer = response.json()
    assert (answer["id"], answer["type"], answer["body"]) == ("7", "yesno", BODY)
    assert (answer["index"], answer["ranker"], answer["ranker_hash"]) == ("sample", "lexical", "00" * 32)
    assert set(answer["timings_ms"]) == {"wait", "retrieve", "vectors", "rerank", "select", "total"}
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
        "found_by",
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
        "role",
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
        ({"body": "x", "published_before": "20"}, "published_before", "YYYY-MM-DD"),
        ({"body": "x", "published_before": "2020-02-30"}, "published_before", "calendar"),
        ({"body": "x", "published_before": 1}, "published_before", "YYYY-MM-DD"),
        ({"body": "x", "published_before": "2020-01-01T00:00:00"}, "published_before", "YYYY-MM-DD"),
        ({"body": "x", "published_after": "2020-02-30"}, "published_after", "calendar"),
        ({"body": "x", "types": "Review"}, "types", 'must be a list, such as ["Review"]'),
        ({"body": "x", "types": [""]}, "types[0]", "1"),
        ({"body": "x", "headings": [" "]}, "headings[0]", "white space"),
        ({"body": "x", "journals": ["x"] * 51}, "journals", "50"),
        ({"body": "x", "authors": ["x" * 501]}, "authors[0]", "500"),
        ({"body": "x", "languages": ["Klingon"]}, "languages", "Klingon"),
        ({"body": "x", "has_abstract": "yes"}, "has_abstract", "boolean"),
        ({"body": "x", "exclude_retracted": 1}, "exclude_retracted", "boolean"),
        ({"body": "x", "order": "author"}, "order", "relevance"),
        ({"body": "x", "offset": 1000}, "offset", "1000"),
        ({"body": "x", "offset": -1}, "offset", "0"),
        ({"body": "x", "offset": "5"}, "offset", "integer"),
        ({"body": "x", "syntax": "on"}, "syntax", "auto"),
        (
            {"body": "x", "published_after": "2020-01-02", "published_before": "2020-01-01"},
            "published_after",
            "published_before",
        ),
        (
            {"body": "x", "types": ["Retracted Publication"], "exclude_retracted": True},
            "exclude_retracted",
            "types",
        ),
        ({"body": "statin AND (dose"}, "body", "never closed"),
        ({"body": "x", "ranker": "no-such"}, "ranker", "lexical"),
        ({"body": "x", "max_document": 5}, "max_document", "not a field"),
        ({"body": "x", "query": "x"}, "query", "not a field"),
        ({"body": "x", "k" * 300: "x"}, shorten("k" * 300), "not a field"),
        ({"body": "x", "include": "abstract"}, "include", "list"),
        ({"body": "x", "include": ["text"]}, "include[0]", "abstract"),
        ({"body": "x", "include": ["abstract"] * 11}, "include", "10"),
        ({"body": "x", "a\ud800": 1}, "a?", "surrogate"),
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


FILTERS = ("published_after", "published_before", "undated", "types", "languages", "headings", "journals")
FURTHER = ("authors", "has_abstract", "free_full_text", "exclude_retracted", "order", "offset", "facets")
NULL = dict.fromkeys((*FILTERS, *FURTHER, "syntax"))


def untimed(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "timings_ms"}


def test_null_is_the_default_of_every_filter(client: TestClient) -> None:
    given = client.post("/v1/search", json={"body": BODY, **NULL}).json()
    assert untimed(given) == untimed(client.post("/v1/search", json={"body": BODY}).json())


def test_a_fault_in_a_query_is_pointed_at(client: TestClient) -> None:
    problem = is_problem(client.post("/v1/search", json={"body": "statin AND (dose"}), 422)
    assert problem["errors"] == [{"field": "body", "message": "this bracket is never closed", "position": 11}]
    assert problem["detail"].splitlines()[1:] == ["statin AND (dose", " " * 11 + "^"]
    for syntax in ("never", None):
        response = client.post("/v1/search", json={"body": "statin AND (dose)", "syntax": syntax})
        assert response.status_code == 200


def test_what_was_searched_for_is_said(client: TestClient) -> None:
    answer = client.post("/v1/search", json={"body": "metformin AND improved NOT 2010[dp]"}).json()
    assert answer["interpretation"] == {
        "words": "metformin improved",
        "restriction": "metformin[tiab] AND improved[tiab] "
        "AND NOT published from 2010-01-01 until before 2011-01-01",
        "identifiers": [],
        "corrections": [],
        "expansions": [],
    }
    assert answer["documents"]
    article = client.post("/v1/search", json={"body": "https://pubmed.ncbi.nlm.nih.gov/90000003/"}).json()
    assert [each["pmid"] for each in article["documents"]] == ["90000003"]
    assert article["interpretation"]["identifiers"] == [{"kind": "pmid", "value": "90000003"}]
    assert client.post("/v1/search", json={"body": BODY}).json()["interpretation"] is None
    never = client.post("/v1/search", json={"body": "metformin AND improved", "syntax": "never"}).json()
    assert never["interpretation"] is None


def test_filters_that_leave_nothing_are_named(client: TestClient) -> None:
    asked = {"body": "metformin", "types": ["Letter"], "max_documents": 100}
    answer = client.post("/v1/search", json=asked).json()
    found = client.post("/v1/search", json={**asked, "types": []}).json()["documents"]
    assert answer["documents"] == []
    assert answer["emptied"] == [
        {"filter": "types", "condition": "Letter[pt]", "documents": len(found), "suggestions": []}
    ]


def test_counts_and_further_results(client: TestClient) -> None:
    asked = {"body": "adults", "max_documents": 3, "facets": True, "order": "date"}
    first = client.post("/v1/search", json=asked).json()
    assert (first["order"], first["offset"], first["next_offset"]) == ("date", 0, 3)
    assert first["facets"]["documents"] == 40
    assert {"year": 1990, "documents": 1} in first["facets"]["years"]
    second = client.post("/v1/search", json={**asked, "offset": 3}).json()
    assert second["documents"][0]["published"] <= first["documents"][-1]["published"]


ADDRESSES = [
    {"body": BODY},
    {"body": "adults", "max_documents": 3, "max_snippets": 0, "order": "date", "offset": 3, "facets": True},
    {"body": "statin", "published_before": "1997-01-01", "undated": True, "has_abstract": True},
    {"body": "statin", "types": ["Review", "Letter"], "languages": ["eng"], "include": ["abstract"]},
    {"body": "statin NOT 1990[dp]", "syntax": "always", "candidates": 20, "ranker": "lexical"},
]


@pytest.mark.parametrize("asked", ADDRESSES)
def test_an_address_gets_the_same_answer(client: TestClient, asked: dict[str, Any]) -> None:
    response = client.get("/v1/search", params=asked)
    assert response.status_code == 200
    assert untimed(response.json()) == untimed(client.post("/v1/search", json=asked).json())


def test_empty_parameters_of_an_address_count_as_absent(client: TestClient) -> None:
    address = f"/v1/search?body={BODY}&types=&published_after=&offset=&undated=&order=&max_documents="
    assert untimed(client.get(address).json()) == untimed(
        client.post("/v1/search", json={"body": BODY}).json()
    )


@pytest.mark.parametrize(
    ("address", "field"),
    [
        ("", "body"),
        ("body=x&max_documents=0", "max_documents"),
        ("body=x&max_documents=ten", "max_documents"),
        ("body=x&undated=perhaps", "undated"),
        ("body=x&published_after=20", "published_after"),
        ("body=x&nope=1", "nope"),
        ("body=x&languages=Klingon", "languages"),
        ("body=x AND (y", "body"),
    ],
)
def test_bad_parameters_of_an_address_are_named(client: TestClient, address: str, field: str) -> None:
    assert fields(is_problem(client.get(f"/v1/search?{address}"), 422)) == [field]
