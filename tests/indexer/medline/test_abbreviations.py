"""Abbreviations that a text defines."""

import time

import pytest

from bioqa.indexer.medline.abbreviations import definitions


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("Patients with non-small cell lung cancer (NSCLC) were", "NSCLC", "non-small cell lung cancer"),
        ("The heart rate (HR) rose.", "HR", "heart rate"),
        ("Interleukin-6 (IL-6) is", "IL-6", "interleukin-6"),
        ("tumour necrosis factor alpha (TNFa; a cytokine)", "TNFa", "tumour necrosis factor alpha"),
        ("nonsteroidal anti-inflammatory drugs (NSAIDs)", "NSAIDs", "nonsteroidal anti-inflammatory drugs"),
        ("by polymerase\u00ad chain reaction (PCR)", "PCR", "polymerase chain reaction"),
        ("Aspirin helps. The mitral valve area (MVA) fell", "MVA", "mitral valve area"),
    ],
)
def test_a_definition_is_found(text: str, short: str, long: str) -> None:
    assert [*definitions(text)] == [(short, long)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no parenthesis",
        "as shown (see)",
        "a ratio of three (OR 3.1)",
        "(HR)",
        "the rate (XQZ)",
        "were studied (n=30) and (P)",
        "One thing. (OT)",
    ],
)
def test_other_parentheses_define_nothing(text: str) -> None:
    assert [*definitions(text)] == []


def test_several_are_yielded_in_order() -> None:
    text = "heart rate (HR), mean blood pressure (MBP) and heart rate (HR)"
    assert [short for short, _ in definitions(text)] == ["HR", "MBP", "HR"]


def test_hostile_text_takes_no_longer() -> None:
    begun = time.perf_counter()
    list(definitions("a " * 100_000 + "(AAAAAAAAAA) " * 5000))
    assert time.perf_counter() - begun < 5
