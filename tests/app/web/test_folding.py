"""What of a long abstract is shown at first."""

from collections.abc import Sequence

import pytest

from bioqa.app.web.folding import SHORT, shown_spans
from bioqa.bioasq.domain import Document, Sentence

SENTENCES = [f"{number}: {'x' * 60}." for number in range(10)]
ABSTRACT = "  ".join(SENTENCES)
ABSTRACT_SENTENCES = tuple(
    Sentence("abstract", ABSTRACT.index(each), ABSTRACT.index(each) + len(each)) for each in SENTENCES
)
TITLE = Sentence("title", 0, 5)
DOCUMENT = Document("1", 1, "Title", ABSTRACT, None, (TITLE, *ABSTRACT_SENTENCES))
NO_SCORES: Sequence[float] = ()


def shown(spans: list[tuple[int, int]]) -> list[list[int]]:
    """The numbers of the sentences in each span."""
    return [
        [n for n, s in enumerate(ABSTRACT_SENTENCES) if begin <= s.begin and s.end <= end]
        for begin, end in spans
    ]


@pytest.mark.parametrize(
    ("chosen", "numbers"),
    [
        ([5], [[4, 5, 6]]),
        ([0], [[0, 1]]),
        ([9], [[8, 9]]),
        ([1, 4], [[0, 1, 2, 3, 4, 5]]),
        ([1, 7], [[0, 1, 2], [6, 7, 8]]),
    ],
)
def test_chosen_sentences_have_their_neighbours(chosen: list[int], numbers: list[list[int]]) -> None:
    assert shown(shown_spans(DOCUMENT, {ABSTRACT_SENTENCES[n] for n in chosen}, NO_SCORES)) == numbers


def test_without_a_chosen_one_the_best_is_shown_or_the_first() -> None:
    scores = [9.0, *range(6), 5.5, 1.0, 0.0, 0.0]
    assert shown(shown_spans(DOCUMENT, {TITLE}, scores)) == [[6]]
    assert shown(shown_spans(DOCUMENT, set(), NO_SCORES)) == [[0]]


def test_short_abstracts_and_those_without_sentences_are_shown_as_a_whole() -> None:
    short = Document("1", 1, "", "x" * SHORT, None, (Sentence("abstract", 0, 3),))
    assert shown_spans(short, set(), NO_SCORES) == [(0, SHORT)]
    assert shown_spans(Document("1", 1, "", ABSTRACT), set(), NO_SCORES) == [(0, len(ABSTRACT))]
