"""Explanations over HTTP."""

import pytest
from fastapi.testclient import TestClient

from tests.app.requests import BODY, is_problem

EXPLAIN = "/v1/explain"


def test_it_says_what_the_page_says(client: TestClient) -> None:
    pmid = "https://pubmed.ncbi.nlm.nih.gov/90000001/"
    asked = {"body": BODY, "pmid": pmid, "max_documents": 5, "max_snippets": 5}
    found = client.post(EXPLAIN, json=asked)
    assert found.status_code == 200
    page = client.get("/explain.json", params={"q": BODY, "pmid": "90000001", "n": 5})
    assert found.json() == page.json()


def test_an_article_that_is_not_there_and_a_question_without_words(client: TestClient) -> None:
    absent = client.post(EXPLAIN, json={"body": BODY, "pmid": "123"}).json()
    assert absent["retrieval"]["title"] is None
    assert (absent["ranking"], absent["selection"]) == (None, None)
    assert absent["needed"] == ["The index does not have the article: load a file of MEDLINE that does."]
    listed = client.post(EXPLAIN, json={"body": "90000001[pmid]", "pmid": "90000001"}).json()
    assert (listed["retrieval"], listed["needed"]) == (None, [])


@pytest.mark.parametrize(
    "wrong",
    [
        {"pmid": "x"},
        {"pmid": None},
        {},
        {"pmid": "1", "offset": 10},
        {"pmid": "1", "order": "date"},
        {"pmid": "1", "facets": True},
        {"pmid": "1", "include": ["abstract"]},
        {"pmid": "1", "unknown": 1},
        {"pmid": "1", "ranker": "none of them"},
    ],
)
def test_what_is_refused(client: TestClient, wrong: dict[str, object]) -> None:
    is_problem(client.post(EXPLAIN, json={"body": BODY, **wrong}), 422)
