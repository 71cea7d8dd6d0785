"""Punkt's parameters, and what it decides with them."""

import pytest

from bioqa.indexer.medline.punkt import ABBREVIATIONS, STARTERS, breaks, tokenizer


def test_the_lists_are_as_punkt_wants_them() -> None:
    assert all(word == word.lower() and not word.endswith(".") for word in ABBREVIATIONS | STARTERS)


@pytest.mark.parametrize(
    ("context", "ends"),
    [
        ("mice. The", True),
        ("al. reported", False),
        ("i.v. injection", False),
        ("i.v. In", True),  # a sentence starter ends a sentence even after an abbreviation
        ("vs. Placebo", False),
        ("5. Patients", True),
        ("5. patients", False),
        ("cells? We", True),
    ],
)
def test_what_ends_a_sentence(context: str, ends: bool) -> None:
    assert breaks(context) is ends


def test_the_tokenizer_is_made_once() -> None:
    assert tokenizer() is tokenizer()
