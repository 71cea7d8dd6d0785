"""Value objects for batches and their questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from typing import Any

from bioqa.bioasq.domain import Question


class State(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def finished(self) -> bool:
        return self not in (State.QUEUED, State.RUNNING)


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks for batches: a key's name, which owns what it submits; None where there are no keys."""

    name: str | None = None
    sees_all: bool = False

    def sees(self, owner: str | None) -> bool:
        return self.sees_all or owner == self.name


EVERYBODY = Viewer(sees_all=True)
NOBODY = Viewer()


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How many batches there may be at once, and of what size in all."""

    unfinished: int = 100
    finished: int = 1000
    finished_bytes: int = 1_000_000_000
    share: float = 1.0
    """The share of each of these limits that one owner may take."""

    def of_one(self, owner: str | None) -> "BatchLimits":
        """What that owner may take; where there are no owners, all of it."""
        if owner is None:
            return self
        return BatchLimits(
            ceil(self.unfinished * self.share),
            ceil(self.finished * self.share),
            ceil(self.finished_bytes * self.share),
        )


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """The ranker and the index that answers come from: one source for all answers of a batch."""

    ranker: str
    ranker_hash: str
    index: str
    documents: int
    """Number of documents in the index."""
    state: str = ""
    """What is committed in it, by which any update is noticed; empty for batches of older versions."""

    def difference(self, other: "AnswerSource") -> str:
        """Describe what changed from this source to the other; empty if nothing has."""
        if (self.ranker, self.ranker_hash) != (other.ranker, other.ranker_hash):
            return f"the ranker changed from {_ranker(self)} to {_ranker(other)}"
        if self.index != other.index:
            return f"the index changed from {self.index} to {other.index}"
        if self.documents != other.documents:
            return f"the index changed from {self.documents} to {other.documents} documents"
        if self.state and self.state != other.state:
            return f"the index changed, with {self.documents} documents before and after"
        return ""


def _ranker(source: AnswerSource) -> str:
    return f"{source.ranker} ({source.ranker_hash[:12]})"


@dataclass(frozen=True, slots=True)
class Restart:
    at: float
    reason: str


@dataclass(frozen=True, slots=True)
class QuestionFault:
    """Why a question has no answer. ``field``: where in the test set, such as ``questions[3].body``."""

    position: int
    id: str | None
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A question of a submitted test set; with a ``fault`` if it is invalid.

    ``id`` is None if there is none that a submission could use; ``body`` is empty if there is no text.
    """

    id: str | None
    body: str
    type: str | None = None
    field: str = ""
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class WaitingQuestion:
    """A question that is not answered yet."""

    position: int
    question: Question


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer as it is stored: the submission's entry, and the scores of its documents and snippets."""

    entry: Mapping[str, Any]
    document_scores: tuple[float, ...]
    snippet_scores: tuple[float, ...]
    degraded: str | None = None
    """Reason why BM25 replaced the ranker; None normally."""


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    questions: int
    answered: int
    failed: int
    """Invalid when submitted, or failed when asked."""
    degraded: int = 0
    """Part of the answers: those by BM25 in place of a ranker that failed."""

    @property
    def remaining(self) -> int:
        return self.questions - self.answered - self.failed


@dataclass(frozen=True, slots=True)
class Tally:
    """Number of batches by state, and of their questions that wait to be answered."""

    batches: Mapping[State, int]
    waiting_questions: int


@dataclass(frozen=True, slots=True)
class BatchJob:
    """A submitted test set and its progress.

    Times are seconds since 1970. ``number`` counts batches; ``asked_ranker`` is None for the default.
    """

    number: int
    id: str
    state: State
    counts: QuestionCounts
    created: float
    started: float | None
    finished: float | None
    asked_ranker: str | None
    candidates: int
    options: Mapping[str, Any]
    """What was given of the options for all questions, as JSON has it."""
    source: AnswerSource | None
    restarts: tuple[Restart, ...]
    waits_for: str | None
    reason: str | None
    owner: str | None
    """Name of the key that submitted it."""
    file_name: str | None
    """The test set's, if it was sent as a file."""
    seconds_a_question: float | None
    """Mean over the latest answers; None before the first."""
