"""PubMed's filters by their names."""

from datetime import date

import pytest

from bioqa.indexer.search.filtering.conditions import AnyOf, HasKey, Published
from bioqa.indexer.search.filtering.keys import ABSTRACT, KeyKind
from bioqa.indexer.search.notation.named_filters import FILTER_NAMES, begin_of_last, find_filter


def test_filters_are_conditions_on_records() -> None:
    assert find_filter("Humans") == HasKey(KeyKind.HEADING, "Humans")
    assert find_filter("aged") == AnyOf(
        (HasKey(KeyKind.HEADING, "Aged"), HasKey(KeyKind.HEADING, "Aged, 80 and over"))
    )
    assert find_filter("meta-analysis") == HasKey(KeyKind.TYPE, "Meta-Analysis")
    assert find_filter("has  abstract") == HasKey(KeyKind.FILTER, ABSTRACT)
    assert find_filter("english") == HasKey(KeyKind.LANGUAGE, "english")
    assert find_filter("medline") is None


@pytest.mark.parametrize("name", FILTER_NAMES)
def test_every_name_that_is_offered_is_known(name: str) -> None:
    assert find_filter(name) is not None


def test_the_last_years_end_today() -> None:
    assert find_filter("y_5") == Published(begin_of_last(5, "year"))
    leap_day = date(2024, 2, 29)
    assert begin_of_last(1, "year", leap_day) == date(2023, 2, 28)
    assert begin_of_last(3, "month", date(2024, 1, 31)) == date(2023, 10, 31)
    assert begin_of_last(10, "day", date(2024, 1, 5)) == date(2023, 12, 26)
    assert begin_of_last(999, "year", date(900, 5, 5)) == date(1, 1, 5)
