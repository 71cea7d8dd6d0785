"""The interface between loading and a back end: an index that is written file by file, with its ledger."""

from collections.abc import Sequence
from typing import Protocol

from bioqa.indexer.loading.ledger import LoadedFile
from bioqa.indexer.search.base import Applied
from bioqa.indexer.search.records import EncodedEvent


class LoadTarget(Protocol):
    @property
    def joiner(self) -> str: ...

    @property
    def whole_files(self) -> bool:
        """True if writes cannot be rolled back: then a file must be parsed to its end before its first event
        is written."""
        ...

    @property
    def orders_itself(self) -> bool:
        """True if the index compares the order numbers given to ``write``, so that a file applied late does
        not override files of higher numbers."""
        ...

    @property
    def loaded(self) -> tuple[LoadedFile, ...]:
        """The ledger's entries, in the order of loading."""
        ...

    def write(self, events: Sequence[EncodedEvent], order: int) -> None:
        """Upsert records and delete PMIDs; may return before the index has received them.

        ``order`` is the first event's position among all events of the index, and the others follow it: see
        ``bioqa.indexer.loading.ledger.order``."""
        ...

    def commit(self) -> Applied:
        """Make all writes visible and durable. Returns the outcome of the writes since the last commit."""
        ...

    def rollback(self) -> None:
        """Undo all writes since the last commit (only if ``whole_files`` is False)."""
        ...

    def note(self, entry: LoadedFile) -> None:
        """Append to the ledger."""
        ...

    def finish(self) -> None:
        """Prepare the index for searching, after all files of a run are loaded."""
        ...

    def close(self) -> None: ...
