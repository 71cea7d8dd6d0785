"""How conditions are written."""

from datetime import date

import pytest

from bioqa.indexer.search.filtering.conditions import (
    AllOf,
    AnyOf,
    Condition,
    HasBeginning,
    HasKey,
    HasPhrase,
    HasPmid,
    HasWords,
    Published,
    Without,
)
from bioqa.indexer.search.filtering.keys import KeyKind
from bioqa.indexer.search.notation.interpretation import interpret

SMITH, WORD = HasKey(KeyKind.AUTHOR, "Smith J"), HasWords("title", "asthma")


@pytest.mark.parametrize(
    ("condition", "written"),
    [
        (SMITH, '"Smith J"[au]'),
        (HasPmid(7), "7[pmid]"),
        (HasPhrase("text", "heart failure"), '"heart failure"[tiab]'),
        (HasBeginning("title", "cardi"), "cardi*[ti]"),
        (AllOf((SMITH, AnyOf((WORD, HasPmid(7))))), '"Smith J"[au] AND (asthma[ti] OR 7[pmid])'),
        (Without(AnyOf((WORD, SMITH))), 'NOT (asthma[ti] OR "Smith J"[au])'),
        (HasKey(KeyKind.DOI, "10.1000/x"), "10.1000/x[doi]"),
    ],
)
def test_a_condition_is_written_in_pubmeds_notation_and_read_again(
    condition: Condition, written: str
) -> None:
    assert str(condition) == written
    found = interpret(written, "always")
    assert found is not None
    if not found.identifiers:
        assert found.restriction == condition


def test_dates_are_written_in_words() -> None:
    day = date(2020, 1, 1)
    assert str(Published(day)) == "published 2020-01-01 or later"
    assert str(Published(None, day, True)) == "published before 2020-01-01 or without a date"
    assert str(Published(day, date(2021, 1, 1))) == "published from 2020-01-01 until before 2021-01-01"


def test_half_a_character_is_no_part_of_a_key() -> None:
    assert HasKey(KeyKind.TYPE, "re\ud800view").keys() == ("type:review",)
