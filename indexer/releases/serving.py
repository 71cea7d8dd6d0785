"""Searching the release that serves in a folder, and its successor after a switch."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bioqa.bioasq.domain import Candidate, Document
from bioqa.indexer.medline.events import Event
from bioqa.indexer.releases.folder_shelf import CurrentFolder
from bioqa.indexer.search.base import Applied, IndexStats
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.questions.reading import Reading
from bioqa.indexer.search.records import Described
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.indexer.search.wording import Wording
from bioqa.system.errors import BioqaError


class ServingIndex:
    """Read-only ``SearchIndex`` for a folder maintained by ``bioqa update``. Threads may share it.

    A search that is running while the release is switched is completed by the old release, whose files stay
    readable as long as they are open.
    """

    def __init__(self, path: Path) -> None:
        self.beside = path
        """The folder with the files that releases share."""
        self._path = path
        self._lock = threading.Lock()
        self._current = CurrentFolder(path)
        self._opened = TantivyIndex.open(self._current.folder, path)

    @property
    def name(self) -> str:
        return self._opened.name

    def read(self, question: str) -> Reading:
        return self._index().read(question)

    def search(
        self, question: str | Wording, size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[Candidate]:
        return self._index().search(question, size, filters)

    def search_many(
        self, questions: Sequence[str | Wording], size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[list[Candidate]]:
        return self._index().search_many(questions, size, filters)

    def newest(self, filters: Filters = NO_FILTERS, size: int = 100) -> list[Document]:
        return self._index().newest(filters, size)

    def describe(
        self, question: str | Wording | None, size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[Described]:
        return self._index().describe(question, size, filters)

    def count(self, question: str | Wording | None, filters: Filters = NO_FILTERS) -> int:
        return self._index().count(question, filters)

    def condense(self, question: str) -> str:
        return self._index().condense(question)

    def get(self, pmids: Sequence[str]) -> Mapping[str, Document]:
        return self._index().get(pmids)

    def state(self) -> str:
        return self._index().state()

    def stats(self) -> IndexStats:
        return self._index().stats()

    def apply(self, events: Iterable[Event]) -> Applied:
        raise BioqaError(f"{self._path} has releases, which only `bioqa update` writes")

    def commit(self) -> None:
        raise BioqaError(f"{self._path} has releases, which only `bioqa update` writes")

    def close(self) -> None:
        self._opened.close()

    def _index(self) -> TantivyIndex:
        with self._lock:
            if self._current.has_moved():
                current = CurrentFolder(self._path)
                if current.folder != self._current.folder:
                    self._opened = TantivyIndex.open(current.folder, self._path)
                self._current = current
            return self._opened
