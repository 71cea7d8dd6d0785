"""Abbreviations as terms of an index."""

import pytest

from bioqa.indexer.search.defined import (
    MAX_CHARACTERS,
    long_key,
    long_prefix,
    read,
    short_key,
    short_prefix,
    terms,
)
from bioqa.indexer.search.evidence import Definition


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("post-translational modification", "posttranslational modifications"),
        ("Parkinson's disease", "parkinson disease"),
        ("tumour necrosis factor-α", "tumor necrosis factor alpha"),
        ("coronavirus disease 2019", "Coronavirus Disease-2019"),
    ],
)
def test_long_forms_that_mean_the_same_have_one_key(one: str, other: str) -> None:
    assert long_key(one) == long_key(other) != ""


@pytest.mark.parametrize(("one", "other"), [("IL-6", "IL6"), ("TNF-α", "TNFalpha"), ("NSAIDs", "NSAID")])
def test_abbreviations_that_are_the_same_have_one_key(one: str, other: str) -> None:
    assert short_key(one) == short_key(other)


def test_a_definition_is_read_back() -> None:
    found = [*terms("", "Mean heart rate (HR) was")]
    assert short_prefix("hr") in found
    assert long_prefix("heartrate") in found
    definitions = [read(term, 3) for term in found]
    assert definitions.count(Definition("HR", "heart rate", 3)) == 2
    assert definitions.count(None) == 2


def test_terms_are_short_enough_for_an_engine() -> None:
    assert all(len(term) <= MAX_CHARACTERS for term in terms("", ("supercalifragilistic " * 6 + "(SC) ") * 9))


@pytest.mark.parametrize("text", ["", "-", "…", "\u200b"])
def test_what_has_no_letter_has_no_key(text: str) -> None:
    assert long_key(text) == short_key(text) == ""
