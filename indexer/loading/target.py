"""What files are loaded into: an index that is written file by file, with the ledger of what it holds."""

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
        """True if what was written cannot be taken back: a file must then have been parsed to its end before
        the first of its changes is written."""
        ...

    @property
    def orders_itself(self) -> bool:
        """True if the index itself sees to it that a file applied late changes nothing that its successors
        said, by the order number given to ``write``."""
        ...

    @property
    def loaded(self) -> tuple[LoadedFile, ...]:
        """The ledger, in the order of loading."""
        ...

    def write(self, changes: Sequence[EncodedEvent], order: int) -> None:
        """Upsert records and delete PMIDs. ``order`` is the first one's place among all events ever, the next
        ones follow it: see ``bioqa.indexer.loading.ledger.order``. May return before the index has them."""
        ...

    def commit(self) -> Applied:
        """Make what was written visible and durable; what became of it since the last commit."""
        ...

    def rollback(self) -> None:
        """Forget what was written since the last commit (where ``whole_files`` is False)."""
        ...

    def note(self, entry: LoadedFile) -> None:
        """Add to the ledger."""
        ...

    def finish(self) -> None:
        """All files of the run are in: put the index into the state to be searched in."""
        ...

    def close(self) -> None: ...
