"""Words for what is withdrawn, doubted, or a notice."""

import pytest

from bioqa.app.exports import standing
from bioqa.bioasq.metadata import NOTICE_KINDS, Correction, Metadata, Standing
from tests.app.exports.articles import RETRACTION, RICH


def of(kind: str, *types: str) -> Metadata:
    return Metadata(types=types, corrections=(Correction(kind, "5", "Invent J. 2020;1:2"),) if kind else ())


@pytest.mark.parametrize(
    ("metadata", "word", "statement"),
    [
        (of(""), "", ""),
        (of("", "Retracted Publication"), "Retracted", "Retracted."),
        (of("RetractionIn"), "Retracted", "Retracted. Retraction in: Invent J. 2020;1:2. PMID: 5."),
        (
            of("ExpressionOfConcernIn"),
            "Expression of concern",
            "Expression of concern. Expression of concern in: Invent J. 2020;1:2. PMID: 5.",
        ),
        (
            of("RetractionOf"),
            "Retraction notice",
            "Retraction notice. Retraction of: Invent J. 2020;1:2. PMID: 5.",
        ),
        (of("", "Expression of Concern"), "Notice of concern", "Notice of concern."),
        (of("ErratumFor"), "Erratum", "Erratum. Erratum for: Invent J. 2020;1:2. PMID: 5."),
        (of("ErratumIn"), "", "Erratum in: Invent J. 2020;1:2. PMID: 5."),
        (of("CommentIn"), "", ""),
        (of("Cites"), "", ""),
    ],
)
def test_words(metadata: Metadata, word: str, statement: str) -> None:
    assert standing.word(metadata) == word
    assert standing.statement(metadata) == statement


def test_every_standing_but_sound_has_a_word_and_a_warning_and_every_notice_a_label() -> None:
    assert {each for each in Standing if not standing.WORDS[each]} == {Standing.SOUND}
    assert set(standing.LABELS) >= NOTICE_KINDS
    for kind in (
        "RetractionIn",
        "ExpressionOfConcernIn",
        "RetractionOf",
        "ExpressionOfConcernFor",
        "ErratumFor",
    ):
        assert standing.WARNINGS[of(kind).standing].partition(":")[0].isupper()


def test_the_gravest_notice_comes_first() -> None:
    assert [each.kind for each in standing.shown_notices(RICH.metadata)] == ["RetractionIn", "ErratumIn"]


@pytest.mark.parametrize(
    ("pmid", "source", "text"),
    [
        ("", "", "Retraction in."),
        ("5", "", "Retraction in: PMID: 5."),
        ("", "Invent J. 2020;1:2.", "Retraction in: Invent J. 2020;1:2."),
        ("5", "Invent J. 2020;1:2.", "Retraction in: Invent J. 2020;1:2. PMID: 5."),
    ],
)
def test_notices_say_what_is_known(pmid: str, source: str, text: str) -> None:
    assert standing.notice_text(Correction("RetractionIn", pmid, source)) == text


def test_a_notices_place() -> None:
    assert standing.place(RETRACTION) == "Vellum Q. Invent J. 2020 Feb;4(2):11. PMID: 90000002"
