"""GET /v1/documents: a citation as the index holds it."""

import json

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answerer
from bioqa.app.api.documents import MAX_PMIDS
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.validation import validate
from tests.app.engines import local
from tests.app.requests import BODY, TESTSET, fields, is_problem
from tests.app.withdrawn import NOTICE, RETRACTED


def test_a_document_with_its_sentences(client: TestClient) -> None:
    document = client.get("/v1/documents/90000001").json()
    assert document["title"] == "Effects of metformin in cohort 1 <b>& beyond</b>."
    assert document["published"] == "1991-02-01"
    texts = [document[s["section"]][s["begin"] : s["end"]] for s in document["sentences"]]
    assert texts[2] == "The metformin group improved more than placebo."
    assert document["parts"] == [{"label": "", "begin": 0, "end": len(document["abstract"])}]


def test_a_document_that_is_not_there(client: TestClient) -> None:
    assert "12345" in is_problem(client.get("/v1/documents/12345"), 404)["detail"]


def test_similar_articles(client: TestClient) -> None:
    answer = client.get("/v1/documents/90000003/similar", params={"max_documents": 4}).json()
    assert (answer["pmid"], answer["remarks"]) == ("90000003", [])
    assert len(answer["documents"]) == 4
    assert all("warfarin" in document["title"] for document in answer["documents"])
    assert {document["found_by"] for document in answer["documents"]} == {None}
    assert len(client.get("/v1/documents/90000003/similar").json()["documents"]) == 5
    assert "12345" in is_problem(client.get("/v1/documents/12345/similar"), 404)["detail"]
    for wrong in (0, 51, "x"):
        response = client.get("/v1/documents/90000003/similar", params={"max_documents": wrong})
        assert fields(is_problem(response, 422)) == ["max_documents"]


def test_many_at_once_come_in_order_once_each_and_what_lacks_is_named(client: TestClient) -> None:
    pmids = ["90000003", "12345", "90000001", "90000003", "999999999999999999"]
    response = client.post("/v1/documents", json={"pmids": pmids})
    assert response.headers["content-type"] == "application/json"
    answer = response.json()
    assert answer["missing"] == ["12345", "999999999999999999"]
    alone = [client.get(f"/v1/documents/{pmid}").json() for pmid in ("90000003", "90000001")]
    assert answer["documents"] == alone


def test_as_many_as_are_allowed(client: TestClient) -> None:
    pmids = [str(number) for number in range(90_000_000, 90_000_000 + MAX_PMIDS)]
    answer = client.post("/v1/documents", json={"pmids": pmids}).json()
    assert [document["pmid"] for document in answer["documents"]] == pmids[:41]
    assert answer["missing"] == pmids[41:]


@pytest.mark.parametrize(
    ("asked", "field", "word"),
    [
        ({}, "pmids", "missing"),
        ({"pmids": None}, "pmids", "list"),
        ({"pmids": []}, "pmids", "1"),
        ({"pmids": ["1"] * (MAX_PMIDS + 1)}, "pmids", str(MAX_PMIDS)),
        ({"pmids": ["1"] * 20_000}, "pmids", "20000"),
        ({"pmids": ["1", 2.5]}, "pmids[1]", "string"),
        ({"pmids": ["01"]}, "pmids[0]", "must be a PMID, such as 26023080"),
        ({"pmids": ["\u0661"]}, "pmids[0]", "must be a PMID"),
        ({"pmids": ["1" * 19]}, "pmids[0]", "must be a PMID"),
        ({"pmids": ["1\n2"]}, "pmids[0]", "must be a PMID"),
        ({"pmids": ["1"], "pmid": "2"}, "pmid", "not a field"),
        (["1"], "the request's body", ""),
    ],
)
def test_bad_lists_are_refused_by_the_place(client: TestClient, asked: object, field: str, word: str) -> None:
    content = json.dumps(asked).encode()
    response = client.post("/v1/documents", content=content, headers={"Content-Type": "application/json"})
    problem = is_problem(response, 422)
    assert fields(problem) == [field]
    assert word in problem["errors"][0]["message"]


def test_a_withdrawn_document_says_so(withdrawing: Answerer) -> None:
    with TestClient(create_app(Settings(), local(withdrawing))) as client:
        document = client.get(f"/v1/documents/{RETRACTED}").json()
        answer = client.post("/v1/search", json={"body": BODY}).json()
        written = client.get(f"/v1/citations?pmid={RETRACTED}&format=nbib").text
    assert document["standing"] == "retracted"
    assert document["notices"] == [
        {
            "kind": "RetractionIn",
            "pmid": "90000002",
            "source": "Vellum Q. Invent J. 2020 Feb;4(2):11",
            "text": NOTICE,
        }
    ]
    assert {d["pmid"]: d["standing"] for d in answer["documents"]}[RETRACTED] == "retracted"
    assert "PT  - Retracted Publication\n" in written


def test_bioasqs_form_has_no_place_for_it(withdrawing: Answerer) -> None:
    with TestClient(create_app(Settings(), local(withdrawing))) as client:
        submission = client.post("/v1/bioasq", json=TESTSET).json()
    assert validate(submission) == []
    assert f"http://www.ncbi.nlm.nih.gov/pubmed/{RETRACTED}" in submission["questions"][0]["documents"]


@pytest.mark.parametrize(
    "written",
    [90000003, "PMID: 90000003", "pmid90000003", " 90000003 ", "https://pubmed.ncbi.nlm.nih.gov/90000003/"],
)
def test_a_pmid_may_be_written_as_anywhere(client: TestClient, written: str | int) -> None:
    documents = client.post("/v1/documents", json={"pmids": [written]}).json()["documents"]
    assert [document["pmid"] for document in documents] == ["90000003"]
    posted = client.post("/v1/citations", json={"pmids": [written, "90000003"], "format": "nlm"})
    in_address = client.get("/v1/citations", params={"pmid": written, "format": "nlm"})
    assert posted.text == in_address.text
    assert posted.text.count("90000003") == 1
