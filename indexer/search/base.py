"""The interface that every search back end offers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from bioqa.bioasq.domain import Candidate, Document
from bioqa.indexer.medline.events import Event


@dataclass(frozen=True, slots=True)
class Rejection:
    """An event that the search engine did not take, and why."""

    pmid: str
    reason: str


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a run of events; the four add up to the number of events."""

    upserted: int = 0
    deleted: int = 0
    stale: int = 0
    """Upserts of an older PMID version than the one indexed, and deletions of what is not there."""
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
    """What stands between the parts of a structured abstract (BIOASQ: nothing)."""


class SearchIndex(Protocol):
    """BM25 over titles and abstracts.

    Idempotent: the same event twice changes nothing, and an older version never replaces a newer one.
    ``search``, ``get`` and ``stats`` see what was committed.
    """

    @property
    def name(self) -> str:
        """The index that answers come from; changes when an alias is moved to another."""
        ...

    def apply(self, events: Iterable[Event]) -> Applied: ...

    def commit(self) -> None: ...

    def search(self, question: str, size: int = 100, published_before: date | None = None) -> list[Candidate]:
        """The ``size`` best documents, best first; equal scores in ascending PMID order (as numbers).

        ``published_before`` keeps documents published strictly before that day, and those without a date.
        """
        ...

    def search_many(
        self, questions: Sequence[str], size: int = 100, published_before: date | None = None
    ) -> list[list[Candidate]]:
        """``search`` for each question, in as few round trips as the back end can."""
        ...

    def get(self, pmids: Sequence[str]) -> Mapping[str, Document]:
        """The documents found, by PMID; those not in the index are absent."""
        ...

    def stats(self) -> IndexStats: ...

    def close(self) -> None: ...
