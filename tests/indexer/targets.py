"""A target in memory, which keeps the promises of ``LoadTarget`` in the plainest way."""

from collections.abc import Sequence

from bioqa.indexer.loading.ledger import LoadedFile
from bioqa.indexer.search.base import Applied, Rejection
from bioqa.indexer.search.records import EncodedEvent, Record


class MemoryTarget:
    """What counts last counts: by ``order`` if it orders itself, else by when it was written."""

    joiner = ""

    def __init__(
        self, *, whole_files: bool = False, orders_itself: bool = False, refuses: Sequence[int] = ()
    ) -> None:
        self.whole_files = whole_files
        self.orders_itself = orders_itself
        self.refuses = frozenset(refuses)
        self.loaded: tuple[LoadedFile, ...] = ()
        self.calls: list[str] = []
        """Everything but writing."""
        self.orders: list[int] = []
        self._events: list[tuple[int, int, Record | None]] = []
        """Order, PMID, and the record or None for a deletion."""
        self._uncommitted: list[tuple[int, int, Record | None]] = []
        self._rejected: list[Rejection] = []

    def titles(self) -> dict[int, str]:
        """What is visible: a later event replaces, but no lower version of the PMID."""
        events = sorted(self._events, key=lambda event: event[0]) if self.orders_itself else self._events
        held: dict[int, Record] = {}
        for _, pmid, record in events:
            if record is None:
                held.pop(pmid, None)
            elif pmid not in held or record.version >= held[pmid].version:
                held[pmid] = record
        return {pmid: record.title for pmid, record in held.items()}

    def write(self, changes: Sequence[EncodedEvent], order: int) -> None:
        for place, change in enumerate(changes, order):
            pmid = change.pmid if isinstance(change, Record) else change
            if pmid in self.refuses:
                self._rejected.append(Rejection(str(pmid), f"mapping: no field for {pmid}"))
            else:
                self.orders.append(place)
                self._uncommitted.append((place, pmid, change if isinstance(change, Record) else None))

    def commit(self) -> Applied:
        self.calls.append("commit")
        self._events += self._uncommitted
        deleted = sum(record is None for _, _, record in self._uncommitted)
        applied = Applied(len(self._uncommitted) - deleted, deleted, 0, tuple(self._rejected))
        self._forget()
        return applied

    def rollback(self) -> None:
        self.calls.append("rollback")
        self._forget()

    def note(self, entry: LoadedFile) -> None:
        self.calls.append(f"note {entry.name}")
        self.loaded = (*self.loaded, entry)

    def finish(self) -> None:
        self.calls.append("finish")

    def restart(self) -> None:
        """What another process would find after this one was killed."""
        if self.whole_files:
            self._events += self._uncommitted
        self._forget()

    def close(self) -> None:
        self.calls.append("close")
        self._forget()

    def _forget(self) -> None:
        self._uncommitted = []
        self._rejected = []
