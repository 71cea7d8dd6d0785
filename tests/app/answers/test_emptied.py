"""Which filters leave nothing."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from bioqa.app.answers.emptied import MAX_COUNTED, LeftOut, Suggestion, without_each
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.filtering.filters import Filters
from bioqa.indexer.search.notation.interpretation import interpret
from bioqa.indexer.search.tantivy.index import TantivyIndex
from tests.indexer.search.cited import CITED


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SearchIndex]:
    with TantivyIndex.create(tmp_path / "index") as index:
        index.apply(map(Upsert, CITED))
        index.commit()
        yield index


def test_the_filter_that_keeps_most_comes_first(index: SearchIndex) -> None:
    filters = Filters(types=("Review",), languages=("ger",), has_abstract=True)
    assert without_each(index, "asthma", Filters(types=("Review",), languages=("ger",))) == (
        LeftOut("types", "Review[pt]", 1),
        LeftOut("languages", "ger[la]", 1),
    )
    assert [each.documents for each in without_each(index, "asthma", filters)] == [1, 0, 0]


def test_none_may_do_it_alone(index: SearchIndex) -> None:
    filters = Filters(date(2030, 1, 1), types=("Letter",), languages=("jpn",))
    assert [each.documents for each in without_each(index, "asthma", filters)] == [0, 0, 0]


def test_a_question_without_a_hit_blames_no_filter(index: SearchIndex) -> None:
    assert without_each(index, "zebra", Filters(types=("Letter",))) == ()


def test_the_parts_of_a_query_are_named_one_by_one(index: SearchIndex) -> None:
    found = interpret("asthma[ti] AND tamsin[au] AND letter[pt]")
    assert found is not None
    left = without_each(index, None, Filters(restriction=found.restriction))
    assert left[0] == LeftOut("restriction", "letter[pt]", 2)


def test_the_searches_are_limited(index: SearchIndex) -> None:
    many = Filters(headings=tuple(f"h{n}" for n in range(50)))
    assert len(without_each(index, "asthma", many)) == MAX_COUNTED


def test_names_that_no_document_has_come_with_what_to_type(index: SearchIndex) -> None:
    (left,) = without_each(index, "asthma", Filters(types=("Reviews",)))
    assert left.suggestions == (Suggestion("Reviews", ("Review",)),)
    # A name that other documents have is spelt right.
    (left,) = without_each(index, "asthma", Filters(types=("Letter",)))
    assert left.suggestions == ()
    found = interpret("asthma[ti] AND reviews[pt]")
    assert found is not None
    left = without_each(index, None, Filters(restriction=found.restriction))[0]
    assert left.suggestions == (Suggestion("reviews", ("Review",)),)
