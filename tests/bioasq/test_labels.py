import pytest

from bioqa.bioasq.domain import Document, Part, Sentence
from bioqa.bioasq.labels import is_label


def _is_label(text: str, *, label: str = "", after: str = " Nobody came.") -> bool:
    abstract = text + after
    part = Part(label, 0, len(abstract))
    document = Document("1", 1, "", abstract, parts=(part,))
    return is_label(document, Sentence("abstract", 0, len(text)))


@pytest.mark.parametrize(
    "text", ["METHODS:", "Results and discussion:", "UNLABELLED:", "CONCLUSIONS/SIGNIFICANCE:", "Aim:"]
)
def test_labels_are_known_by_their_text(text: str) -> None:
    assert _is_label(text)
    assert not _is_label(f"{text} Sixty people took velorin.")
    assert not _is_label(text[:-1])


@pytest.mark.parametrize("text", ["It works:", "Velorin:", "methods:", "p53:", "TNF:", ":", "The results:"])
def test_a_colon_alone_makes_no_label(text: str) -> None:
    assert _is_label(text) == (text == "TNF:")


def test_the_label_that_the_record_names_is_one_whatever_its_words() -> None:
    assert not _is_label("What this adds:")
    assert _is_label("What this adds:", label="What this adds")
    assert not _is_label("What this adds:", label="What this")
    later = Document("1", 1, "", "Odd: one. Odd: two.", parts=(Part("Odd", 0, 9), Part("", 10, 19)))
    assert is_label(later, Sentence("abstract", 0, 4))
    assert not is_label(later, Sentence("abstract", 10, 14))


def test_a_title_is_no_label() -> None:
    document = Document("1", 1, "METHODS:", "")
    assert not is_label(document, Sentence("title", 0, 8))
