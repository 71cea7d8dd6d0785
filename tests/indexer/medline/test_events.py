"""Events are values, and each is of exactly one kind."""

from dataclasses import FrozenInstanceError

import pytest

from bioqa.indexer.medline.events import Delete, Event, Upsert
from tests.indexer.documents import document


def kind(event: Event) -> str:
    match event:
        case Upsert(document=found):
            return f"upsert {found.pmid}"
        case Delete(pmid=pmid):
            return f"delete {pmid}"


def test_events_are_told_apart_by_their_type() -> None:
    assert [kind(event) for event in (Upsert(document(7)), Delete("7"))] == ["upsert 7", "delete 7"]


def test_events_are_values() -> None:
    assert Upsert(document(1)) == Upsert(document(1)) != Upsert(document(1, version=2))
    assert len({Delete("1"), Delete("1"), Delete("2")}) == 2
    with pytest.raises(FrozenInstanceError):
        Delete("1").pmid = "2"  # type: ignore[misc]
