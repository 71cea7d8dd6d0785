"""The interface that every search back end offers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bioqa.bioasq.domain import Candidate, Document
from bioqa.indexer.medline.events import Event
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.questions.reading import Reading
from bioqa.indexer.search.records import Described
from bioqa.indexer.search.wording import Wording


@dataclass(frozen=True, slots=True)
class Rejection:
    """An event that the search engine rejected."""

    pmid: str
    reason: str


@dataclass(frozen=True, slots=True)
class Applied:
    """Outcome of applying events. The four counts add up to the number of events."""

    upserted: int = 0
    deleted: int = 0
    stale: int = 0
    """Upserts of an older PMID version than the indexed one, and deletions of documents that do not exist."""
    rejected: tuple[Rejection, ...] = ()

    @property
    def events(self) -> int:
        return self.upserted + self.deleted + self.stale + len(self.rejected)

    def __add__(self, other: "Applied") -> "Applied":
        return Applied(
            self.upserted + other.upserted,
            self.deleted + other.deleted,
            self.stale + other.stale,
            self.rejected + other.rejected,
        )


@dataclass(frozen=True, slots=True)
class IndexStats:
    name: str
    documents: int
    size_bytes: int
    without_title: int
    without_abstract: int
    joiner: str
    """Text between the parts of a structured abstract. Empty in BioASQ's collections."""


class SearchIndex(Protocol):
    """BM25 over titles and abstracts.

    Writing is idempotent: applying an event twice changes nothing, and an older version never replaces a
    newer one. ``search``, ``get`` and ``stats`` see committed documents only.
    """

    @property
    def name(self) -> str:
        """Name of the index that answers come from. It changes when an alias is moved."""
        ...

    @property
    def beside(self) -> Path | None:
        """The folder for files beside the index, such as its vectors; None for an index on a server."""
        ...

    def apply(self, events: Iterable[Event]) -> Applied:
        """Write events; visible after ``commit``. Raises BioqaError for a malformed PMID."""
        ...

    def commit(self) -> None:
        """Make all writes visible and durable."""
        ...

    def read(self, question: str) -> Reading:
        """Read a question with what the index knows of words: see ``questions.reading``."""
        ...

    def search(
        self, question: str | Wording, size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[Candidate]:
        """Return the ``size`` best documents, best first; ties in ascending order of PMIDs (as numbers).

        Filters decide which documents are found, and change no score.
        """
        ...

    def search_many(
        self, questions: Sequence[str | Wording], size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[list[Candidate]]:
        """Search for each question, in as few round trips as the back end allows."""
        ...

    def condense(self, question: str) -> str:
        """Return the words that carry a long question (``questions.condensing``), by this index's
        statistics; any other question as it is.
        """
        ...

    def newest(self, filters: Filters = NO_FILTERS, size: int = 100) -> list[Document]:
        """Return the ``size`` newest documents that pass, those without a date last; ties in descending order
        of PMIDs."""
        ...

    def describe(
        self, question: str | Wording | None, size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[Described]:
        """Return what the records of the ``size`` best documents say, as ``search`` orders them; without a
        question, of the newest ones. Their texts are not read."""
        ...

    def count(self, question: str | Wording | None, filters: Filters = NO_FILTERS) -> int:
        """Return how many documents pass and contain a word of the question; without one, how many pass."""
        ...

    def get(self, pmids: Sequence[str]) -> Mapping[str, Document]:
        """Return documents by PMID, without those that are not in the index."""
        ...

    def state(self) -> str:
        """Return an identifier of what is committed, the same for all processes. If it is equal before and
        after a search, nothing was committed in between; equal states give equal answers. In a folder merging
        changes it, too, as scores may change in the last digits."""
        ...

    def stats(self) -> IndexStats: ...

    def close(self) -> None: ...
