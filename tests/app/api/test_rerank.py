"""POST /v1/rerank: texts of the request in order, in the shape that rerank clients know."""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.engine import Engine
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.answers.ranking import Ranking
from bioqa.models.reranker import Reranker
from tests.app.engines import local
from tests.app.rankers import LexicalRanker
from tests.app.requests import fields, is_problem

QUERY = "Is metformin better than placebo?"
TEXTS = [
    "Warfarin thins the blood. It is old.",
    "The trial was short. Metformin was better than placebo in it. No harm was seen.",
    "",
    "Metformin is a drug.",
]


@pytest.fixture(scope="module")
def real(index_folder: Path) -> Iterator[TestClient]:
    """With the bundled ranker."""
    answerer = Answerer(TantivyIndex.open(index_folder), Reranker.load())
    with TestClient(create_app(Settings(), local(answerer, LexicalRanker()))) as client:
        yield client


def rerank(client: TestClient, **asked: Any) -> dict[str, Any]:
    response = client.post("/v1/rerank", json={"query": QUERY, "documents": TEXTS} | asked)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def order(answer: dict[str, Any]) -> list[int]:
    return [result["index"] for result in answer["results"]]


def scores(answer: dict[str, Any]) -> list[float]:
    return [result["relevance_score"] for result in answer["results"]]


def test_the_answer_has_the_shape_that_clients_know(client: TestClient) -> None:
    answer = rerank(client, model="lexical", documents=["metformin better", "placebo"])
    assert set(answer) == {"id", "model", "results", "meta", "usage"}
    assert (answer["model"], answer["usage"]) == ("lexical", {"total_tokens": 8})
    assert answer["meta"] == {
        "api_version": {"version": "2"},
        "tokens": {"input_tokens": 8, "output_tokens": 0},
    }
    assert answer["results"] == [
        {
            "index": 0,
            "relevance_score": pytest.approx(0.7310586),  # sigmoid of 1: both words are the question's
            "document": {"text": "metformin better"},
            "sentences": [{"field": "text", "begin": 0, "end": 16, "score": pytest.approx(0.9525741)}],
        },
        {
            "index": 1,
            "relevance_score": pytest.approx(0.7310586),
            "document": {"text": "placebo"},
            "sentences": [{"field": "text", "begin": 0, "end": 7, "score": pytest.approx(0.9525741)}],
        },
    ]


def test_the_bundled_ranker_puts_the_answer_first(real: TestClient) -> None:
    answer = rerank(real)
    assert answer["model"] == "soft"
    assert order(answer)[:2] == [1, 3]
    assert sorted(order(answer)) == [0, 1, 2, 3]
    assert all(first >= second for first, second in pairwise(scores(answer)))
    best = answer["results"][0]["sentences"][0]
    assert TEXTS[1][best["begin"] : best["end"]] == "Metformin was better than placebo in it."
    assert next(each for each in answer["results"] if each["index"] == 2)["sentences"] == []


def test_rankers_are_chosen_by_name(real: TestClient) -> None:
    assert rerank(real, model="lexical")["model"] == "lexical"
    assert scores(rerank(real, model="lexical")) != scores(rerank(real, model="soft"))
    problem = is_problem(real.post("/v1/rerank", json={"query": "a", "documents": ["b"], "model": "x"}), 404)
    assert problem["detail"] == "model must be one of those loaded: soft, lexical"


@pytest.mark.parametrize(
    "name",
    [
        "rerank-v3.5",
        "rerank-english-v3.0",
        "rerank-multilingual-v3.0",
        "rerank-v4.0-pro",
        "cohere.rerank-v3-5:0",
        "jina-reranker-v2-base-multilingual",
        "jina-colbert-v2",
    ],
)
def test_models_of_others_are_answered_by_the_default_and_it_is_said(real: TestClient, name: str) -> None:
    answer = rerank(real, model=name)
    assert answer["model"] == "soft"
    assert answer["meta"]["warnings"] == [f"there is no {name} here: ranked by soft, the default"]
    assert scores(answer) == scores(rerank(real))
    assert "warnings" not in rerank(real, model="soft")["meta"]


@pytest.mark.parametrize(
    "name", ["rerank", "rerank-", "rerank-v3.5\n", "my-rerank-v3.5", "rerank-" + "x" * 81, ""]
)
def test_other_names_are_still_unknown(client: TestClient, name: str) -> None:
    is_problem(client.post("/v1/rerank", json={"query": "a", "documents": ["b"], "model": name}), 404)


def test_a_ranker_that_has_such_a_name_ranks_itself(answerer: Answerer) -> None:
    class Named(LexicalRanker):
        name = "rerank-v3.5"

    client = TestClient(create_app(Settings(), local(answerer, Named())))
    answer = rerank(client, model="rerank-v3.5")
    assert (answer["model"], answer["meta"].get("warnings")) == ("rerank-v3.5", None)


def test_what_is_not_understood_is_said(client: TestClient) -> None:
    assert "warnings" not in rerank(client, priority=1, truncation=True, max_chunks_per_doc=3)["meta"]
    warnings = rerank(client, max_sentence=1, topn=2)["meta"]["warnings"]
    assert warnings == ["unknown fields were ignored: max_sentence, topn"]
    many = {f"{n}" * 300: n for n in range(8)}
    (warning,) = rerank(client, **many)["meta"]["warnings"]
    assert warning.endswith(" and 3 more")
    assert len(warning) < 1200


def test_a_long_query_is_ranked_by_the_words_that_carry_it(real: TestClient) -> None:
    query = "Filler words that no text has, the and of them. " * 150 + QUERY
    answer = rerank(real, query=query)
    (warning,) = answer["meta"]["warnings"]
    words = warning.split(": ", 1)[1]
    assert words.endswith("metformin better placebo?")
    assert order(answer) == order(rerank(real, query=words))
    assert scores(answer) == scores(rerank(real, query=words))
    assert order(answer)[0] == 1


def test_titles_are_read_and_have_sentences_of_their_own(client: TestClient) -> None:
    documents = [{"text": "Nothing here.", "title": "Metformin is better!", "id": 7}, {"text": "Warfarin."}]
    first = rerank(client, documents=documents)["results"][0]
    assert first["document"] == {"text": "Nothing here.", "title": "Metformin is better!"}
    assert [(s["field"], s["begin"], s["end"]) for s in first["sentences"]] == [
        ("title", 0, 20),
        ("text", 0, 13),
    ]


def test_equal_texts_keep_the_requests_order(client: TestClient, real: TestClient) -> None:
    documents = ["Nothing.", "Metformin.", "Nothing.", "Metformin.", "Metformin."]
    assert order(rerank(client, documents=documents)) == [1, 3, 4, 0, 2]
    assert order(rerank(real, documents=documents)) == [1, 3, 4, 0, 2]


def test_less_is_given_if_less_is_wanted(client: TestClient) -> None:
    whole = rerank(client)
    assert rerank(client, top_n=2)["results"] == whole["results"][:2]
    assert rerank(client, top_n=9)["results"] == whole["results"]
    bare = rerank(client, return_documents=False, max_sentences=0)["results"]
    assert [set(result) for result in bare] == [{"index", "relevance_score", "sentences"}] * 4
    assert all(result["sentences"] == [] for result in bare)


def test_long_texts_are_cut_where_asked_and_the_answer_says_so(client: TestClient) -> None:
    answer = rerank(client, max_tokens_per_doc=6, max_sentences=100)
    assert answer["meta"]["warnings"] == ["2 documents were cut after 6 words"]
    assert answer["usage"] == {"total_tokens": 5 + 6 + 6 + 4}
    result = next(each for each in answer["results"] if each["index"] == 1)
    assert result["document"] == {"text": TEXTS[1]}
    assert sorted(TEXTS[1][s["begin"] : s["end"]] for s in result["sentences"]) == [
        "Metformin was",
        "The trial was short.",
    ]


def test_the_clients_address_of_cohere_and_their_other_fields_are_taken(client: TestClient) -> None:
    asked = {"query": QUERY, "documents": TEXTS, "priority": 3, "rank_fields": ["text"], "truncation": True}
    answer = client.post("/v2/rerank", json=asked, headers={"Authorization": "Bearer none"}).json()
    assert answer["results"] == rerank(client)["results"]


@settings(max_examples=10, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=60), min_size=1, max_size=6))
def test_whatever_the_texts_are(real: TestClient, texts: list[str]) -> None:
    """Every text once, scores in [0, 1] and descending, sentences inside their text, and the same twice."""
    answer = rerank(real, documents=texts, max_sentences=100)
    assert sorted(order(answer)) == list(range(len(texts)))
    assert all(1 >= first >= second >= 0 for first, second in pairwise([1.0, *scores(answer)]))
    for result in answer["results"]:
        text = texts[result["index"]]
        rated = [sentence["score"] for sentence in result["sentences"]]
        assert rated == sorted(rated, reverse=True)
        spans = sorted((sentence["begin"], sentence["end"]) for sentence in result["sentences"])
        assert all(text[begin:end] == text[begin:end].strip() != "" for begin, end in spans)
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
        assert sum(len(text[b:e].split()) for b, e in spans) >= len(text.split())
    assert rerank(real, documents=texts, max_sentences=100)["results"] == answer["results"]


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"query": " "}, "query"),
        ({"query": "a" * 301}, "query"),
        ({"query": None}, "query"),
        ({"documents": []}, "documents"),
        ({"documents": "text"}, "documents"),
        ({"documents": ["a"] * 1001}, "documents"),
        ({"documents": ["a", 3]}, "documents[1]"),
        ({"documents": ["a", {"title": "b"}]}, "documents[1].text"),
        ({"documents": ["a", {"text": None}]}, "documents[1].text"),
        ({"documents": ["a", None]}, "documents[1]"),
        ({"top_n": 0}, "top_n"),
        ({"top_n": "3"}, "top_n"),
        ({"max_tokens_per_doc": 0}, "max_tokens_per_doc"),
        ({"max_sentences": -1}, "max_sentences"),
        ({"return_documents": "yes"}, "return_documents"),
    ],
)
def test_what_is_wrong_is_named(client: TestClient, asked: dict[str, Any], field: str) -> None:
    response = client.post("/v1/rerank", json={"query": QUERY, "documents": TEXTS} | asked)
    assert fields(is_problem(response, 422)) == [field]


def test_too_much_text_is_refused(engine: Engine) -> None:
    with TestClient(create_app(Settings(max_rerank_characters=10), engine)) as client:
        asked = {"query": "a", "documents": ["12345", {"text": "1234", "title": "1"}]}
        assert client.post("/v1/rerank", json=asked).status_code == 200
        asked["documents"][1] = {"text": "1234", "title": "12"}  # type: ignore[index]
        problem = is_problem(client.post("/v1/rerank", json=asked), 422)
    assert problem["errors"] == [
        {"field": "documents", "message": "must have at most 10 characters in total, not 11"}
    ]


class BrokenRanker(LexicalRanker):
    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        raise RuntimeError("no")


def test_where_the_ranker_fails_bm25_ranks_and_the_answer_says_so(answerer: Answerer) -> None:
    with TestClient(create_app(Settings(), local(Answerer(answerer.index, BrokenRanker())))) as client:
        answer = rerank(client)
        (warning,) = answer["meta"]["warnings"]
        assert "the ranker lexical failed" in warning
        assert order(answer) == [3, 1, 0, 2]  # by the share of their words that the question has
        assert all(1 >= first >= second >= 0 for first, second in pairwise(scores(answer)))
        best = answer["results"][1]["sentences"][0]
        assert TEXTS[1][best["begin"] : best["end"]] == "Metformin was better than placebo in it."


def test_no_index_is_needed(tmp_path: Path) -> None:
    with TestClient(create_app(Settings(index=str(tmp_path / "none")))) as client:
        assert client.get("/readyz").status_code == 503
        assert order(rerank(client))[0] == 1


def test_fields_to_rank_by_are_text_and_title_and_others_are_refused(client: TestClient) -> None:
    body = {"query": "metformin", "documents": [{"text": "metformin", "title": "t"}, "statin"]}
    plain = client.post("/v1/rerank", json=body).json()["results"]
    for fine in ([], ["text"], ["title", "text"], None):
        assert client.post("/v1/rerank", json={**body, "rank_fields": fine}).json()["results"] == plain
    others = {"query": "metformin", "documents": [{"Title": "x", "Content": "y", "text": "z"}]}
    refused = client.post("/v1/rerank", json={**others, "rank_fields": ["Title", "Content"]})
    problem = is_problem(refused, 422)
    assert fields(problem) == ["rank_fields[0]", "rank_fields[1]"]
    assert "text or title" in problem["detail"]


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize(
    ("documents", "more", "field"),
    [
        (["a", "\ud83d"], {}, "documents[1]"),
        ([{"text": "a", "title": "b\udc00"}], {}, "documents[0].title"),
        (["a"], {"nobody\ud83d": 1}, "nobody?"),
        (["a"], {"model": "\ud83dlexical"}, "model"),
    ],
)
def test_half_a_character_is_named_wherever_it_is(
    client: TestClient, documents: list[object], more: dict[str, object], field: str, long: bool
) -> None:
    documents = [*documents, "x" * 10_000] if long else documents
    content = json.dumps({"query": "Better?", "documents": documents, **more}).encode()
    response = client.post("/v1/rerank", content=content, headers={"Content-Type": "application/json"})
    problem = is_problem(response, 422)
    assert fields(problem) == [field]
    assert "half a character" in problem["detail"]


def test_an_emoji_is_no_half(client: TestClient) -> None:
    content = json.dumps({"query": "Better?", "documents": ["\U0001f9ec", "\\\\ud83d"]}).encode()
    response = client.post("/v1/rerank", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 200
