"""Filters of a large index are applied after searching, and that finds the same."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from bioqa.bioasq.domain import Candidate, Document
from bioqa.bioasq.metadata import Heading, Metadata
from bioqa.indexer.medline.events import Delete, Upsert
from bioqa.indexer.search.filtering.conditions import (
    AnyOf,
    HasBeginning,
    HasKey,
    HasPhrase,
    HasPmid,
    HasWords,
)
from bioqa.indexer.search.filtering.filters import Filters
from bioqa.indexer.search.filtering.keys import KeyKind
from bioqa.indexer.search.tantivy import hits as tantivy_hits
from bioqa.indexer.search.tantivy import index as tantivy
from bioqa.indexer.search.tantivy.index import TantivyIndex
from tests.indexer.documents import document

WORDS = ("asthma", "gout", "rickets", "scurvy", "anthrax", "mumps", "rabies", "measles", "sepsis")
FILTERS = (
    Filters(headings=("Most",)),
    Filters(headings=("Half",)),
    Filters(headings=("Few",)),
    Filters(headings=("None",)),
    Filters(published_after=date(2003, 1, 1)),
    Filters(published_after=date(2003, 1, 1), headings=("Most", "Half")),
    Filters(published_before=date(2001, 1, 1), undated=True),
    Filters(types=("Review",), has_abstract=True),
)
SHARES = {"Most": 0.8, "Half": 0.5, "Few": 0.02}


def drawn(draw: random.Random, pmid: int) -> Document:
    text = " ".join(draw.choices(WORDS, range(1, 10), k=draw.randint(1, 6)))
    published = None if draw.random() < 0.1 else date(draw.randint(1999, 2006), 1, 1)
    headings = [Heading(name) for name, share in SHARES.items() if draw.random() < share]
    types = ("Review",) if draw.random() < 0.2 else ()
    made = document(pmid, f"Of {text}.", "" if draw.random() < 0.4 else "Seen.", published=published)
    return replace(made, metadata=Metadata(headings=tuple(headings), types=types))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TantivyIndex]:
    """Six hundred documents in several segments, some of them deleted, with many equal scores."""
    draw = random.Random(5)
    with TantivyIndex.create(tmp_path_factory.mktemp("hits") / "index") as made:
        for first in range(1, 601, 150):
            made.apply(Upsert(drawn(draw, pmid)) for pmid in range(first, first + 150))
            made.commit()
        made.apply(Delete(str(pmid)) for pmid in range(3, 600, 20))
        made.commit()
        yield made


@pytest.mark.parametrize("filters", FILTERS, ids=str)
@pytest.mark.parametrize("size", [1, 7, 40])
def test_picking_from_the_best_finds_what_filtering_all_finds(
    index: TantivyIndex, filters: Filters, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = ("gout", "sepsis rabies", "asthma gout mumps", "measles sepsis scurvy rickets")
    whole = [index.search(question, size, filters) for question in questions]
    assert any(whole) or filters.headings == ("None",)
    picked: list[bool] = []
    always_picked(monkeypatch, picked)
    for times in (1, 2, 4):
        monkeypatch.setattr(tantivy_hits, "PICKED_FROM", times)
        for question, expected in zip(questions, whole, strict=True):
            again = index.search(question, size, filters)
            assert [(each.document, each.score) for each in again] == found(expected)
    if filters.headings == ("Most",):
        assert any(picked)


def always_picked(monkeypatch: pytest.MonkeyPatch, noted: list[bool]) -> None:
    """Have it tried whatever passes, and note whether enough of the best passed."""
    pick = tantivy_hits.pick

    def noting(*arguments: Any) -> list[tantivy_hits.Hit] | None:
        hits = pick(*arguments)
        noted.append(hits is not None)
        return hits

    monkeypatch.setattr(tantivy, "worth_picking", lambda size, passing, documents: True)
    monkeypatch.setattr(tantivy, "pick", noting)


def found(candidates: list[Candidate]) -> list[tuple[Document, Any]]:
    """What is found, with scores that may differ in the last digits."""
    return [(each.document, pytest.approx(each.score, rel=1e-5)) for each in candidates]


@pytest.mark.parametrize(
    ("filters", "worth"),
    [
        (Filters(headings=("Most",)), True),
        (Filters(headings=("Half",)), True),
        (Filters(headings=("Few",)), False),
        (Filters(headings=("Most", "Few")), False),
        (Filters(headings=("None",)), False),
        (Filters(published_after=date(2003, 1, 1)), True),
        (Filters(published_after=date(2003, 1, 1), headings=("Few",)), False),
        (Filters(exclude_retracted=True), True),
        (Filters(types=("Review", "Letter")), False),
        (Filters(restriction=AnyOf((HasKey(KeyKind.HEADING, "Half"), HasPmid(5)))), True),
        (Filters(restriction=HasPmid(5)), False),
        (Filters(restriction=HasWords("text", "sepsis")), True),
        (Filters(restriction=HasPhrase("text", "sepsis asthma")), False),
        (Filters(restriction=HasBeginning("text", "gou")), True),
    ],
    ids=str,
)
def test_it_is_tried_where_many_may_pass(
    index: TantivyIndex, filters: Filters, worth: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[bool] = []
    try_it = tantivy_hits.worth_picking

    def noting(size: int, passing: Callable[[], int], documents: int) -> bool:
        noted.append(try_it(size, passing, documents))
        return noted[-1]

    monkeypatch.setattr(tantivy, "worth_picking", noting)
    index.search("sepsis", 10, filters)
    assert noted == [False]  # in a small index never
    monkeypatch.setattr(tantivy_hits, "LARGE", 500)
    index.search("sepsis", 10, filters)
    assert noted == [False, worth]
    index.search("sepsis", 600, filters)
    assert noted == [False, worth, False]
