"""What is known of a batch and of its questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
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
class AnswerSource:
    """What answers come from: all of a batch come from one and the same."""

    ranker: str
    ranker_hash: str
    index: str
    documents: int
    """In the index: it tells an index from itself after an update."""

    def difference(self, other: "AnswerSource") -> str:
        """What has changed from this to the other, in words; empty if nothing has."""
        if (self.ranker, self.ranker_hash) != (other.ranker, other.ranker_hash):
            return f"the ranker changed from {_ranker(self)} to {_ranker(other)}"
        if self.index != other.index:
            return f"the index changed from {self.index} to {other.index}"
        if self.documents != other.documents:
            return f"the index changed from {self.documents} to {other.documents} documents"
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
    """A question of a test set as it was handed in: ``fault`` if it cannot be answered.

    ``id`` is None if it has none that a submission could name; ``body`` is then, and where there is no text,
    empty.
    """

    id: str | None
    body: str
    type: str | None = None
    field: str = ""
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class WaitingQuestion:
    """A question still to be answered."""

    position: int
    question: Question


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer as it is kept: the submission's entry, and the scores of its documents and snippets."""

    entry: Mapping[str, Any]
    document_scores: tuple[float, ...]
    snippet_scores: tuple[float, ...]
    degraded: str | None = None
    """Why the ranker had no part in it, if so."""


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    questions: int
    answered: int
    failed: int
    """Refused when handed in, or failed when asked."""
    degraded: int = 0
    """Of the answers: those that the ranker had no part in."""

    @property
    def remaining(self) -> int:
        return self.questions - self.answered - self.failed


@dataclass(frozen=True, slots=True)
class Tally:
    """How many batches there are in each state, and how many questions of theirs still wait."""

    batches: Mapping[State, int]
    waiting_questions: int


@dataclass(frozen=True, slots=True)
class BatchJob:
    """Times are seconds since 1970. ``number`` counts batches; ``asked_ranker`` is None for the default."""

    number: int
    id: str
    state: State
    counts: QuestionCounts
    created: float
    started: float | None
    finished: float | None
    asked_ranker: str | None
    candidates: int
    source: AnswerSource | None
    restarts: tuple[Restart, ...]
    waits_for: str | None
    reason: str | None
    seconds_a_question: float | None
    """Mean over those answered last; None while none is."""
