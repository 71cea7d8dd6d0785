"""Texts as candidates, and their scores."""

import pytest

from bioqa.app.answers.answering import rank_and_select
from bioqa.app.answers.reranking import GivenText, as_retrieved, scored_texts, truncate_words
from tests.app.rankers import LexicalRanker


@pytest.mark.parametrize(
    ("text", "words", "cut"),
    [("a b c", 2, "a b"), ("  a\u2003b c ", 2, "  a\u2003b"), ("a b", 2, "a b"), ("a", 5, "a"), ("", 1, "")],
)
def test_cutting_a_text(text: str, words: int, cut: str) -> None:
    assert truncate_words(text, words) == cut
    assert truncate_words(text, None) == truncate_words(text, 10**30) == text


QUESTION = "Is metformin better?"
TEXTS = [
    GivenText("Warfarin was given. No harm was seen."),
    GivenText("METHODS: We gave it. Metformin is better.", "A title."),
    GivenText("Warfarin was given. No harm was seen."),
]


def test_equal_texts_are_one_candidate_of_no_index() -> None:
    retrieved = as_retrieved(TEXTS, QUESTION, LexicalRanker())
    documents = [candidate.document for candidate in retrieved.candidates]
    assert [document.pmid for document in documents] == ["", ""]
    assert [getattr(document, "positions", None) for document in documents] == [(1,), (0, 2)]
    scores = [candidate.score for candidate in retrieved.candidates]
    assert scores == sorted(scores, reverse=True)
    assert (retrieved.options.max_documents, retrieved.options.max_snippets) == (2, 0)


def test_all_texts_come_back_best_first_with_their_sentences_except_labels() -> None:
    ranker = LexicalRanker()
    (answer,) = rank_and_select(ranker, [as_retrieved(TEXTS, QUESTION, ranker)])
    best, *others = scored_texts(answer, ranker)
    assert [best.position, *(other.position for other in others)] == [1, 0, 2]
    assert 1 > best.score > others[0].score == others[1].score > 0
    text = {"title": TEXTS[1].title, "abstract": TEXTS[1].text}
    spans = [scored.sentence for scored in best.sentences]
    sentences = [text[span.section][span.begin : span.end] for span in spans]
    assert sentences[0] == "Metformin is better."
    assert "METHODS:" not in sentences
    scores = [scored.score for scored in best.sentences]
    assert scores == sorted(scores, reverse=True)
