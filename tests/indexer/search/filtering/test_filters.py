"""Filters: what they ask for, and which cannot be met."""

import pickle
from datetime import date, datetime
from typing import Any

import pytest

from bioqa.indexer.search.filtering.conditions import AllOf, AnyOf, HasKey, HasWords, Published, Without
from bioqa.indexer.search.filtering.filters import MAX_VALUES, NO_FILTERS, FilterError, Filters
from bioqa.indexer.search.filtering.keys import KeyKind

DAY = date(2020, 1, 1)


def test_no_filters_ask_for_nothing() -> None:
    assert not NO_FILTERS
    assert not Filters(undated=True)
    assert NO_FILTERS.condition() == AllOf(())


def test_each_filter_is_named() -> None:
    filters = Filters(
        published_after=date(2000, 1, 1),
        published_before=date(2001, 1, 1),
        types=("Review", "Letter"),
        headings=("Humans", "Asthma"),
        exclude_retracted=True,
        restriction=AllOf((HasWords("text", "a"), HasWords("text", "b"))),
    )
    assert [name for name, _ in filters.parts()] == [
        "published_after and published_before",
        "types",
        "headings",
        "headings",
        "exclude_retracted",
        "restriction",
        "restriction",
    ]
    conditions = dict(filters.parts())
    assert conditions["types"] == AnyOf((HasKey(KeyKind.TYPE, "Review"), HasKey(KeyKind.TYPE, "Letter")))
    assert conditions["exclude_retracted"] == Without(HasKey(KeyKind.STANDING, "retracted"))
    assert filters


def test_a_date_leaves_out_the_undated_unless_they_are_asked_for() -> None:
    day = date(2000, 1, 1)
    assert Filters(day).condition() == AllOf((Published(day),))
    assert Filters(day, undated=True).condition() == AllOf((Published(day, None, True),))


def test_a_further_restriction_is_added() -> None:
    first, second = HasWords("text", "a"), HasWords("text", "b")
    filters = Filters(has_abstract=True).restrict(None).restrict(first).restrict(second)
    assert filters == Filters(has_abstract=True, restriction=AllOf((first, second)))


@pytest.mark.parametrize(
    ("given", "field", "word"),
    [
        (
            {"published_after": date(2020, 1, 1), "published_before": date(2020, 1, 1)},
            "published_after",
            "before",
        ),
        (
            {"published_after": date(2021, 1, 1), "published_before": date(2020, 1, 1)},
            "published_after",
            "before",
        ),
        ({"types": ("Retracted  publication",), "exclude_retracted": True}, "exclude_retracted", "types"),
        ({"languages": ("Klingon",)}, "languages", "Klingon"),
        ({"types": "Review"}, "types", "tuple"),
        ({"headings": ("x", " ")}, "headings", "empty"),
        ({"journals": ("x",) * (MAX_VALUES + 1)}, "journals", str(MAX_VALUES)),
        ({"authors": ("x" * 501,)}, "authors", "500"),
    ],
)
def test_filters_that_cannot_be_met_are_refused(given: dict[str, Any], field: str, word: str) -> None:
    with pytest.raises(FilterError) as caught:
        Filters(**given)
    assert caught.value.field == field
    assert word in caught.value.message
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_retracted_among_other_types_is_no_contradiction() -> None:
    assert Filters(types=("Retracted Publication", "Review"), exclude_retracted=True)


def test_dates_as_text_and_lists_are_taken() -> None:
    given: Any = {
        "published_after": "2015-01-31",
        "published_before": datetime(2016, 2, 3, 4),
        "types": ["Review"],
    }
    filters = Filters(**given)
    assert filters == Filters(date(2015, 1, 31), date(2016, 2, 3), types=("Review",))
    assert hash(filters)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"published_after": "soon"}, "published_after: must be a day as YYYY-MM-DD, a month as YYYY-MM, or"),
        ({"published_after": "2015-02-30"}, "published_after: must be a day of the calendar, not 2015-02-30"),
        ({"published_before": 2015}, "published_before: must be a day as YYYY-MM-DD"),
        ({"types": {"Review"}}, "types: must be several names, as a tuple or list, not {'Review'}"),
        ({"authors": (7,)}, "authors: must be names, not 7"),
    ],
)
def test_what_is_no_date_or_name_is_told(given: dict[str, Any], message: str) -> None:
    with pytest.raises(FilterError, match=message):
        Filters(**given)
