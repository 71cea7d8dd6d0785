"""How much processor time reading one question may take.

Every step of reading is bounded by itself, but the engine's searches grow with the index, and a question may
need a hundred. Without a limit for the sum, one question of many abbreviations would hold a ranking process
until it is killed.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeVar

from bioqa.bioasq.domain import Document
from bioqa.indexer.search.evidence import Definition, Evidence

READING_S = 1.0
"""Seconds of processor time; all of MEDLINE's questions at the 99th percentile take half of it."""

T = TypeVar("T")


class BudgetSpent(Exception):
    """Reading the question has taken the time that it may take."""


class Budget:
    """Processor time of this thread, from now on."""

    def __init__(self, seconds: float = READING_S, clock: Callable[[], float] = time.thread_time) -> None:
        """``clock``: seconds that were spent; the default does not count waiting, nor other threads."""
        self._clock = clock
        self._end = clock() + seconds

    def check(self) -> None:
        """Raise BudgetSpent if the time is over."""
        if self._clock() > self._end:
            raise BudgetSpent

    def spend(self, steps: Iterable[T]) -> Iterator[T]:
        """Yield what the steps give, as long as there is time."""
        self.check()
        for result in steps:
            yield result
            self.check()


class BudgetedEvidence:
    """``Evidence`` that raises BudgetSpent when the time is over, also between the searches of one call."""

    def __init__(self, evidence: Evidence, budget: Budget) -> None:
        self._evidence = evidence
        self._budget = budget

    def size(self) -> int:
        return self._evidence.size()

    def counts(self, texts: Sequence[str]) -> list[int]:
        return [*self._budget.spend(self._evidence.counts(texts))]

    def definitions(self, shorts: Collection[str], longs: Collection[str]) -> list[Definition]:
        return [*self._budget.spend(self._evidence.definitions(shorts, longs))]

    def fit(self, texts: Sequence[str], context: str) -> list[float]:
        return [*self._budget.spend(self._evidence.fit(texts, context))]

    def near(self, word: str, context: str, size: int) -> list[Document]:
        return [*self._budget.spend(self._evidence.near(word, context, size))]

    def farther(self, word: str, context: str, size: int) -> list[Document]:
        return [*self._budget.spend(self._evidence.farther(word, context, size))]
