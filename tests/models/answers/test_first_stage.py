"""BM25 of given texts: the formula at toy size, and that a ranker treats them as an index's documents."""

import math

import pytest

from bioqa.bioasq.domain import Candidate, Document, Sentence
from bioqa.models.answers.first_stage import bm25_candidates
from bioqa.models.reranker import Reranker
from bioqa.models.text.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def ranker() -> Reranker:
    return Reranker.load()


def text(abstract: str, pmid: str = "", title: str = "") -> Document:
    sentences = [Sentence("title", 0, len(title))] if title else []
    if abstract:
        sentences.append(Sentence("abstract", 0, len(abstract)))
    return Document(pmid, 1, title, abstract, None, tuple(sentences))


def bm25(vocabulary: Vocabulary, term: str, count: int, length: int) -> float:
    """Robertson and Zaragoza 2009 with k1 1.2 and b .75, in plain numbers."""
    idf = float(vocabulary.stem_idf[vocabulary.term_ids[term]])
    norm = 1.2 * (0.25 + 0.75 * length / vocabulary.means.document_stems)
    return idf * count * 2.2 / (count + norm)


def test_the_scores_are_those_of_the_formula(ranker: Reranker) -> None:
    vocabulary = ranker.checkpoint.vocabulary
    documents = [
        text("Insulin, insulin and glucose."),
        text(""),
        text("Warfarin alone."),
        text("An effect.", title="Insulin"),
    ]
    found = bm25_candidates("Is the insulin there?", documents, vocabulary)
    assert [candidate.document for candidate in found] == documents
    expected = [bm25(vocabulary, "insulin", 2, 3), 0.0, 0.0, bm25(vocabulary, "insulin", 1, 2)]
    assert [candidate.score for candidate in found] == pytest.approx(expected, rel=1e-5)


def test_a_question_of_stop_words_finds_nothing(ranker: Reranker) -> None:
    (found,) = bm25_candidates("Is it the?", [text("Insulin is here.")], ranker.checkpoint.vocabulary)
    assert found.score == 0.0
    assert bm25_candidates("Insulin?", [], ranker.checkpoint.vocabulary) == []


def test_given_texts_are_ranked_as_an_indexs_documents_with_those_scores(ranker: Reranker) -> None:
    texts = ["Metformin is first.", "Aspirin is given for pain.", "", "Metformin and insulin for diabetes."]
    given = ranker.candidates("Is metformin used in diabetes?", [text(each) for each in texts])
    indexed = [
        Candidate(text(each.document.abstract, str(n + 1)), each.score) for n, each in enumerate(given)
    ]
    question = "Is metformin used in diabetes?"
    ranked = ranker.rank(question, given).documents
    as_indexed = ranker.rank(question, indexed).documents
    assert [(each.document.abstract, each.score) for each in ranked] == [
        (each.document.abstract, each.score) for each in as_indexed
    ]
    assert {ranked[0].document.abstract, ranked[1].document.abstract} == {texts[0], texts[3]}
    assert all(math.isfinite(each.score) for each in ranked)


def test_texts_of_no_index_are_not_kept(ranker: Reranker) -> None:
    tokens = ranker._tokens
    (first,) = tokens([text("A sentence on heparin.")])
    (second,) = tokens([text("A sentence on heparin.")])
    assert first is not second
    (kept,) = tokens([text("A sentence on heparin.", "12")])
    assert tokens([text("A sentence on heparin.", "12")])[0] is kept
