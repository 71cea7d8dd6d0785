"""An index that may be unavailable: opened on first use, and again after an error."""

import threading
from collections.abc import Callable
from typing import TypeVar

from bioqa.app.answers.answering import IndexUnavailable
from bioqa.indexer.medline.packed import DamagedMetadata
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.filtering.filters import FilterError
from bioqa.indexer.search.notation.syntax import SyntaxFault
from bioqa.system.errors import BioqaError

Result = TypeVar("Result")


class ReopeningIndex:
    """Thread-safe if the index is."""

    def __init__(self, open_index: Callable[[], SearchIndex]) -> None:
        self._open_index = open_index
        self._index: SearchIndex | None = None
        self._lock = threading.Lock()

    def ask(self, what: Callable[[SearchIndex], Result]) -> Result:
        """Call ``what`` with the index; after an error it is opened again. Raises IndexUnavailable."""
        index = self._reopen()
        try:
            return what(index)
        except (FilterError, SyntaxFault):  # a fault of the question
            raise
        except (IndexUnavailable, DamagedMetadata):
            self._forget(index)
            raise
        except (BioqaError, OSError) as error:
            self._forget(index)
            raise IndexUnavailable(f"the search index cannot be used: {error}") from error

    def close(self) -> None:
        with self._lock:
            index, self._index = self._index, None
        if index is not None:
            index.close()

    def _reopen(self) -> SearchIndex:
        with self._lock:
            if self._index is None:
                try:
                    self._index = self._open_index()
                except (BioqaError, OSError) as error:
                    raise IndexUnavailable(str(error)) from error
            return self._index

    def _forget(self, index: SearchIndex) -> None:
        with self._lock:
            if self._index is index:
                self._index = None
