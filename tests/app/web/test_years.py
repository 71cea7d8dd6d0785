"""The bars of articles by year."""

from itertools import pairwise

import pytest

from bioqa.app.answers.facets import CountedYear
from bioqa.app.web.years import MOST_BARS, Bar
from bioqa.app.web.years import bars as bars_of


def bars(years: list[tuple[int, int]]) -> list[Bar]:
    return bars_of([CountedYear(*year) for year in years])


def test_each_year_has_its_bar_and_empty_years_have_one_without_height() -> None:
    assert bars([(1999, 2), (2001, 5)]) == [
        Bar(1999, 1999, 2, 40), Bar(2000, 2000, 0, 0), Bar(2001, 2001, 5, 100)
    ]  # fmt: skip
    assert bars([]) == []
    assert bars([(1, 1), (3, 1000)])[0].height == 1


@pytest.mark.parametrize("first", [1, 1809, 1946, 1999])
def test_many_years_are_grouped_and_none_is_lost(first: int) -> None:
    years = [(year, year % 7 + 1) for year in range(first, 2027)]
    found = bars(years)
    assert len(found) <= MOST_BARS
    assert sum(bar.documents for bar in found) == sum(documents for _, documents in years)
    assert found[0].first <= first <= found[0].last
    assert found[-1].first <= 2026 <= found[-1].last
    assert all(after.first == before.last + 1 for before, after in pairwise(found))


def test_the_farthest_years_are_no_trouble() -> None:
    found = bars([(1, 1), (9999, 1)])
    assert found[0].first == 1
    assert found[0].years == "1–999"
    assert bars([(2015, 1)])[0].years == "2015"
