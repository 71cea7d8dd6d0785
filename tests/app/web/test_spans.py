"""Texts set in spans: question words, and markup that overlaps."""

import pytest

from bioqa.app.web.spans import ASKED, AskedWords, TextPart, TextSpan, spans


def test_overlapping_parts_are_cut_where_anything_changes() -> None:
    found = spans(
        "abcdef",
        1,
        6,
        [TextPart(0, 3, "i"), TextPart(2, 4, ASKED), TextPart(2, 99, "sup"), TextPart(5, 5, "b")],
    )
    assert found == (
        TextSpan("b", False, ("i",)), TextSpan("c", True, ("i", "sup")), TextSpan("d", True, ("sup",)),
        TextSpan("ef", False, ("sup",)),
    )  # fmt: skip


def test_nothing_to_set_is_one_span_and_no_text_none() -> None:
    assert spans("abc", 0, 3, []) == (TextSpan("abc"),)
    assert spans("abc", 2, 2, [TextPart(0, 3, "i")]) == ()


@pytest.mark.parametrize(
    ("question", "text", "words"),
    [
        ("Which genes influence it?", "A gene's influences, which are IT.", ["gene", "influences"]),
        ("What is the role of TNF-α?", "tnf-α and TNF", ["tnf", "TNF"]),
        ("type 2 diabetes", "Diabetes, type 2", ["Diabetes", "type"]),
        ("Sjogren's syndrome", "Sjögren’s syndrome", ["Sjögren", "syndrome"]),
        ("Where?", "Nowhere, where?", []),
        ("糖尿病", "糖尿病", ["糖尿病"]),
        ("", "anything", []),
    ],
)
def test_words_are_found_in_whatever_form(question: str, text: str, words: list[str]) -> None:
    found = AskedWords(question).in_text(text)
    assert [text[part.begin : part.end] for part in found] == words
