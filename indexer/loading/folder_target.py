"""Loading files into the embedded index, with the ledger in its folder."""

from collections.abc import Sequence
from pathlib import Path

from bioqa.indexer.loading.ledger import Ledger, LoadedFile
from bioqa.indexer.search.base import Applied
from bioqa.indexer.search.records import EncodedEvent
from bioqa.indexer.search.tantivy import TantivyIndex


class FolderTarget:
    """``LoadTarget`` over a folder, which is made if need be and kept from other writers until ``close``.

    Raises ``BioqaError`` as ``TantivyIndex.create`` does, and if another process is writing there.
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

    def write(self, changes: Sequence[EncodedEvent], order: int) -> None:
        """``order`` has no meaning here: what is written later counts."""
        self._applied += self.index.write(changes)

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
        """Nothing is left to do: every commit is a state to be searched in."""

    def close(self) -> None:
        self.index.close()
