"""GET /v1/documents: a citation as the index holds it."""

from fastapi.testclient import TestClient

from tests.app.requests import is_problem


def test_a_document_with_its_sentences(client: TestClient) -> None:
    document = client.get("/v1/documents/90000001").json()
    assert document["title"] == "Effects of metformin in cohort 1 <b>& beyond</b>."
    assert document["published"] == "1991-02-01"
    texts = [document[s["section"]][s["begin"] : s["end"]] for s in document["sentences"]]
    assert texts[2] == "The metformin group improved more than placebo."
    assert document["parts"] == [{"label": "", "begin": 0, "end": len(document["abstract"])}]


def test_a_document_that_is_not_there(client: TestClient) -> None:
    assert "12345" in is_problem(client.get("/v1/documents/12345"), 404)["detail"]
