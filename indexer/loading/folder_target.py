"""Loading files into the embedded index. The ledger is a file in the index's folder."""

from collections.abc import Sequence
from pathlib import Path

from bioqa.indexer.loading.ledger import Ledger, LoadedFile
from bioqa.indexer.search.base import Applied
from bioqa.indexer.search.records import EncodedEvent
from bioqa.indexer.search.tantivy.index import TantivyIndex


class FolderTarget:
    """``LoadTarget`` for a folder, which is created if it does not exist, and locked until ``close``.

    Raises ``BioqaError`` as ``TantivyIndex.create`` does, and if another process holds the lock.
    """

    whole_files = False
    orders_itself = False

    def __init__(self, folder: Path, joiner: str = "") -> None:
        self.joiner = joiner
        self.index = TantivyIndex.create(folder, joiner)
        self._applied = Applied()
        try:
            self.index.lock()
            self._ledger = Ledger.open(folder)
        except BaseException:
            self.index.close()
            raise

    @property
    def loaded(self) -> tuple[LoadedFile, ...]:
        return self._ledger.entries

    def write(self, events: Sequence[EncodedEvent], order: int) -> None:
        """``order`` is not used: later writes replace earlier ones."""
        self._applied += self.index.write(events)

    def commit(self) -> Applied:
        self.index.commit()
        applied, self._applied = self._applied, Applied()
        return applied

    def rollback(self) -> None:
        self.index.rollback()
        self._applied = Applied()

    def note(self, entry: LoadedFile) -> None:
        self._ledger.append(entry)

    def finish(self) -> None:
        """Nothing to do: the index can be searched after every commit."""

    def close(self) -> None:
        self.index.close()
