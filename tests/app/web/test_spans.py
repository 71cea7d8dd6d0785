"""Texts set in spans: question words, and markup that overlaps."""

import pytest

from bioqa.app.web.spans import ASKED, AskedWords, Part, Span, spans


def test_overlapping_parts_are_cut_where_anything_changes() -> None:
    found = spans("abcdef", 1, 6, [Part(0, 3, "i"), Part(2, 4, ASKED), Part(2, 99, "sup"), Part(5, 5, "b")])
    assert found == (
        Span("b", False, ("i",)), Span("c", True, ("i", "sup")), Span("d", True, ("sup",)),
        Span("ef", False, ("sup",)),
    )  # fmt: skip


def test_nothing_to_set_is_one_span_and_no_text_none() -> None:
    assert spans("abc", 0, 3, []) == (Span("abc"),)
    assert spans("abc", 2, 2, [Part(0, 3, "i")]) == ()


@pytest.mark.parametrize(
    ("question", "text", "words"),
    [
        ("Which genes influence it?", "A gene's influences, which are IT.", ["gene", "influences"]),
        ("What is the role of TNF-α?", "tnf-α and TNF", ["tnf", "TNF"]),
        ("type 2 diabetes", "Diabetes, type 2", ["Diabetes", "type"]),
        ("Where?", "Nowhere, where?", []),
        ("糖尿病", "糖尿病", ["糖尿病"]),
        ("", "anything", []),
    ],
)
def test_words_are_found_in_whatever_form(question: str, text: str, words: list[str]) -> None:
    found = AskedWords(question).in_text(text)
    assert [text[part.begin : part.end] for part in found] == words
