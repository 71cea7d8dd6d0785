"""What every target does: ``LoadTarget`` as ``load`` relies on it, and as the tests' double keeps it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from bioqa.indexer.loading.ledger import LoadedFile
from bioqa.indexer.loading.target import LoadTarget
from bioqa.indexer.opening import open_target
from bioqa.indexer.search.base import Applied
from bioqa.indexer.search.records import Record, encode
from tests.indexer.documents import document
from tests.indexer.targets import MemoryTarget

OpenTarget = Callable[[], LoadTarget]

ENTRIES = (
    LoadedFile("a.xml", "0" * 32, 100, 2, 1, 1, 0, {"PubmedBookArticle": 1}, {"no PMID": 2}, "2026-01-01", 1),
    LoadedFile("b.xml", "1" * 32, 200, 1, 1, 0, 0, number=2),
)


def record(pmid: int, title: str) -> Record:
    return encode(document(pmid, title))


@pytest.fixture(params=["folder", "elastic", "memory"])
def open_again(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenTarget]:
    """Opens the same target at every call."""
    memory = MemoryTarget()
    where = str(tmp_path / "index")
    if request.param == "elastic":
        # Asked for by name: the others need no server.
        where = f"{request.getfixturevalue('elastic_url')}/{request.getfixturevalue('elastic_name')}"
    with ExitStack() as stack:

        def make() -> LoadTarget:
            if request.param == "memory":
                return memory
            return stack.enter_context(closing(open_target(where, joiner=" ")))

        yield make


def test_outcomes_are_counted_from_commit_to_commit(open_again: OpenTarget) -> None:
    target = open_again()
    target.write([record(1, "One."), record(2, "Two.")], 10)
    target.write([2], 12)
    assert target.commit() == Applied(upserted=2, deleted=1)
    assert target.commit() == Applied()
    target.write([record(3, "Three.")], 20)
    assert target.commit() == Applied(upserted=1)
    target.finish()


def test_the_ledger_is_read_again_in_the_order_of_loading(open_again: OpenTarget) -> None:
    target = open_again()
    assert not target.loaded
    for entry in ENTRIES:
        target.note(entry)
    assert target.loaded == ENTRIES
    target.close()
    assert open_again().loaded == ENTRIES


def test_uncommitted_writes_can_be_undone_unless_files_must_be_whole(open_again: OpenTarget) -> None:
    target = open_again()
    target.write([record(1, "One.")], 10)
    if target.whole_files:
        assert target.orders_itself
        return
    target.rollback()
    assert target.commit() == Applied()
    target.write([record(2, "Two.")], 20)
    assert target.commit() == Applied(upserted=1)
