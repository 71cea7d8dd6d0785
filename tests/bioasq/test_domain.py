"""Documents and their sentences: offsets, texts, snippets."""

from dataclasses import FrozenInstanceError

import pytest

from bioqa.bioasq.domain import PUBMED_URL, Document, Section, Sentence, Snippet

DOCUMENT = Document("31", 1, "α-Synuclein folds.", "It misfolds. 🧠 is hit.")


def test_a_documents_url_has_the_only_form_that_is_counted() -> None:
    assert DOCUMENT.url == PUBMED_URL + "31" == "http://www.ncbi.nlm.nih.gov/pubmed/31"


@pytest.mark.parametrize(
    ("section", "begin", "end", "text"),
    [
        ("title", 0, 11, "α-Synuclein"),
        ("abstract", 0, 12, "It misfolds."),
        ("abstract", 13, 22, "🧠 is hit."),
        ("abstract", 5, 5, ""),
    ],
)
def test_offsets_count_code_points_in_each_section_anew(
    section: Section, begin: int, end: int, text: str
) -> None:
    sentence = Sentence(section, begin, end)
    assert DOCUMENT.sentence_text(sentence) == text == DOCUMENT.text(section)[begin:end]


def test_a_sentence_becomes_a_snippet_within_one_section() -> None:
    assert DOCUMENT.snippet(Sentence("abstract", 13, 22)) == Snippet(
        document=PUBMED_URL + "31",
        text="🧠 is hit.",
        begin_section="abstract",
        end_section="abstract",
        begin=13,
        end=22,
    )


def test_documents_are_values() -> None:
    same = Document("31", 1, DOCUMENT.title, DOCUMENT.abstract)
    assert same == DOCUMENT
    assert len({same, DOCUMENT}) == 1
    with pytest.raises(FrozenInstanceError):
        same.pmid = "32"  # type: ignore[misc]
