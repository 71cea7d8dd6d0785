import pytest

from bioqa.bioasq.domain import Document, Sentence, Snippet
from bioqa.models.answers.labels import sentence_labels
from tests.models.toys import document

SOURCE = document(1, "Ten chars.", "Twenty characters x.", "Again twenty chars y.")
"""Title [0, 10), abstract [0, 20) and [21, 42)."""


def _gold(begin: int, end: int, section: str = "abstract", url: str = SOURCE.url) -> Snippet:
    return Snippet(url, "", section, section, begin, end)


def _labels(*snippets: Snippet, source: Document = SOURCE) -> list[bool]:
    found: list[bool] = sentence_labels(source, snippets).tolist()
    return found


def test_the_spans_of_the_toy() -> None:
    assert SOURCE.sentences == (
        Sentence("title", 0, 10),
        Sentence("abstract", 0, 20),
        Sentence("abstract", 21, 42),
    )


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        (0, 20, [False, True, False]),
        (0, 42, [False, True, True]),
        (21, 42, [False, False, True]),
        (0, 10, [False, True, False]),
        (15, 18, [False, True, False]),
        (20, 21, [False, False, False]),
        (11, 42, [False, False, True]),
        (10, 42, [False, True, True]),
        (18, 24, [False, False, True]),
        (500, 600, [False, False, False]),
    ],
)
def test_half_of_the_sentence_or_of_the_snippet(begin: int, end: int, expected: list[bool]) -> None:
    assert _labels(_gold(begin, end)) == expected


def test_sections_are_apart() -> None:
    assert _labels(_gold(0, 10, "title")) == [True, False, False]
    assert _labels(_gold(0, 10, "sections.0")) == [False, False, False]
    assert _labels(Snippet(SOURCE.url, "", "title", "abstract", 0, 10)) == [False, False, False]


def test_other_documents_and_empty_spans_count_for_nothing() -> None:
    assert _labels(_gold(0, 20, url="http://www.ncbi.nlm.nih.gov/pubmed/2")) == [False] * 3
    assert _labels(_gold(5, 5), _gold(20, 0), _gold(-3, -1)) == [False] * 3
    assert _labels() == [False] * 3


def test_any_of_several_snippets() -> None:
    assert _labels(_gold(500, 600), _gold(0, 20), _gold(0, 10, "title")) == [True, True, False]


def test_of_two_equal_sentences_the_one_at_the_offsets() -> None:
    twice = document(2, "", "The same words.", "The same words.")
    assert _labels(_gold(16, 31, url=twice.url), source=twice) == [False, True]


def test_a_document_without_sentences() -> None:
    found = sentence_labels(document(3), [_gold(0, 5)])
    assert found.shape == (0,)
    assert found.dtype == bool
