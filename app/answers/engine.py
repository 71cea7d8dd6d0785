"""Ranking processes: each has the rankers and the index, and turns questions into answers.

Retrieval is done there too. The candidates of a question are some 170 kB, which would cost more to hand over
than to fetch, and what a damaged index does to a process is then not done to the service.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from bioqa.app.answers.answering import (
    DEFAULT_OPTIONS,
    Answer,
    LoadedRanker,
    Ranker,
    Retrieved,
    SearchOptions,
    answer_by_bm25,
    rank_and_select,
    retrieve,
    scale_of,
)
from bioqa.app.answers.context import Origin, origin, set_origin
from bioqa.app.answers.opening import load_rankers, open_index
from bioqa.app.answers.refusals import RETRY_AFTER_S, RankingFailed
from bioqa.app.answers.reopening import ReopeningIndex
from bioqa.app.answers.reranking import GivenText, as_retrieved
from bioqa.app.answers.workers import NoWorker, TaskLimits, TooMuchWork, WorkerLost, Workers
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Question
from bioqa.models.answers.scale import Scale
from bioqa.models.answers.selection import Calibration

HANGING_S = 60.0
"""A process that works on one task for so long, beside a cascade's budget, is ended and replaced."""

log = logging.getLogger("bioqa")


@dataclass(frozen=True, slots=True)
class RankerDescription:
    """A ranker that is loaded in other processes."""

    name: str
    hash: str
    config: Mapping[str, Any]
    calibration: Calibration
    scale: Scale | None = None


def described(ranker: LoadedRanker) -> RankerDescription:
    return RankerDescription(ranker.name, ranker.hash, ranker.config, ranker.calibration, scale_of(ranker))


@dataclass(frozen=True, slots=True)
class RankingTask:
    """A question, to be answered from the index, or by ranking the texts that came with it."""

    ranker: str
    question: Question
    options: SearchOptions = DEFAULT_OPTIONS
    texts: tuple[GivenText, ...] | None = None
    asked_at: float = field(default_factory=time.perf_counter)
    """The clock is the same in all processes of one machine."""
    origin: Origin = field(default_factory=origin)


@dataclass(frozen=True, slots=True)
class _Request:
    """What a process is sent: questions for one ranker, or None to be told which rankers there are."""

    tasks: Sequence[RankingTask] | None
    without_ranker: bool = False
    """Answer by BM25: the ranker ended processes that tried."""


def candidates_of(task: RankingTask, ranker: Ranker, index: ReopeningIndex) -> Retrieved:
    """The task's own texts, or what the index finds. Raises IndexUnavailable."""
    if task.texts is not None:
        retrieved = as_retrieved(task.texts, task.question.body, ranker)
    else:
        retrieved = index.ask(lambda opened: retrieve(opened, task.question, task.options))
    return replace(retrieved, asked_at=task.asked_at)


def rank_or_degrade(
    ranker: Ranker, retrieved: Sequence[Retrieved], *, allow_degraded: bool
) -> list[Answer | Exception]:
    """Rank together, or each alone if that fails; where the ranker fails, BM25 answers if that is allowed."""
    try:
        return [*rank_and_select(ranker, retrieved)]
    except TooMuchWork:
        raise
    except Exception as error:
        if len(retrieved) > 1:
            # One question may have caused it: rank each alone, so that the others get their answers.
            log.warning("%d questions could not be ranked together: %r", len(retrieved), error)
            return [
                answer
                for each in retrieved
                for answer in rank_or_degrade(ranker, [each], allow_degraded=allow_degraded)
            ]
        log.exception("the ranker %s failed", ranker.name)
    return [_degraded(ranker, retrieved[0]) if allow_degraded else failed(ranker.name)]


def _degraded(ranker: Ranker, retrieved: Retrieved) -> Answer:
    reason = f"the ranker {ranker.name} failed: documents as BM25 found them, sentences by BM25"
    return answer_by_bm25(ranker, retrieved, reason)


def failed(ranker: str) -> RankingFailed:
    return RankingFailed(f"the ranker {ranker} failed", RETRY_AFTER_S)


class Engine:
    """What runs in a ranking process."""

    def __init__(
        self,
        rankers: Sequence[Ranker],
        index: ReopeningIndex,
        *,
        allow_degraded: bool,
    ) -> None:
        self._rankers = {ranker.name: ranker for ranker in rankers}
        self._index = index
        self._allow_degraded = allow_degraded

    def __call__(self, request: _Request) -> list[RankerDescription] | list[Answer | Exception]:
        if request.tasks is None:
            return [*map(described, self._rankers.values())]
        set_origin(request.tasks[0].origin if len(request.tasks) == 1 else (None, None))
        ranker = self._rankers[request.tasks[0].ranker]
        retrieved = [self._retrieved(ranker, task) for task in request.tasks]
        found = [each for each in retrieved if isinstance(each, Retrieved)]
        ranked = iter(self._ranked(ranker, found, request.without_ranker))
        return [next(ranked) if isinstance(each, Retrieved) else each for each in retrieved]

    def _retrieved(self, ranker: Ranker, task: RankingTask) -> Retrieved | Exception:
        try:
            return candidates_of(task, ranker, self._index)
        except TooMuchWork:
            raise
        except Exception as error:  # noqa: BLE001  # whoever asked gets it
            return error

    def _ranked(
        self, ranker: Ranker, retrieved: Sequence[Retrieved], without_ranker: bool
    ) -> Sequence[Answer | Exception]:
        if without_ranker:
            return [_degraded(ranker, each) for each in retrieved]
        if not retrieved:
            return []
        return rank_or_degrade(ranker, retrieved, allow_degraded=self._allow_degraded)


def start_engine(settings: Settings, configure_logs: Callable[[], None]) -> Engine:
    """What a ranking process starts with. Raises BioqaError as ``load_rankers`` does."""
    configure_logs()
    index = ReopeningIndex(partial(open_index, settings))
    # The processes share the cores. Threads of two that wait for each other's cost more than they save.
    rankers = load_rankers(settings, settings.ranking_processes)
    return Engine(rankers, index, allow_degraded=settings.allow_degraded)


class RankingProcesses:
    """Answers questions in processes of their own. Thread-safe: each call blocks its thread."""

    def __init__(
        self,
        settings: Settings,
        configure_logs: Callable[[], None],
        start: Callable[[Settings, Callable[[], None]], Callable[[Any], Any]] = start_engine,
    ) -> None:
        self.count = settings.ranking_processes
        self._limits = TaskLimits(wall_s=HANGING_S + 10 * settings.ranker_budget_ms / 1000)
        self._text_limits = replace(self._limits, cpu_s=settings.max_request_cpu_s)
        self._allow_degraded = settings.allow_degraded
        starting = partial(start, settings, configure_logs)
        self._workers: Workers[_Request, Any] = Workers(starting, self.count, name="ranking")

    @property
    def ready(self) -> int:
        return self._workers.ready

    @property
    def replaced(self) -> int:
        return self._workers.replaced

    @property
    def trouble(self) -> str | None:
        return self._workers.trouble

    def open(self) -> list[RankerDescription]:
        """Start the processes, and return the rankers that they loaded. Raises what loading raised."""
        self._workers.open()
        described: list[RankerDescription] = self._workers.call(_Request(None))
        return described

    def close(self) -> None:
        self._workers.close()

    def answer(self, tasks: Sequence[RankingTask], *, wait_s: float | None) -> Sequence[Answer | Exception]:
        """An answer or exception for each question; all are for one ranker."""
        request = _Request(tasks)
        limits = self._limits if tasks[0].texts is None else self._text_limits
        try:
            return self._call(request, limits, wait_s)
        except TooMuchWork as error:
            return [error] * len(tasks)
        except NoWorker as error:
            log.warning("%s", error)
            return [failed(tasks[0].ranker)] * len(tasks)
        except WorkerLost:
            if len(tasks) > 1:
                return [self.answer([task], wait_s=wait_s)[0] for task in tasks]
            return [self._answer_carefully(request, limits, wait_s)]

    def _answer_carefully(
        self, request: _Request, limits: TaskLimits, wait_s: float | None
    ) -> Answer | Exception:
        """One that a process was lost over may have been innocent: once more, then without the ranker."""
        assert request.tasks is not None
        ranker = request.tasks[0].ranker
        for attempt in (request, replace(request, without_ranker=True))[: 1 + self._allow_degraded]:
            try:
                return self._call(attempt, limits, wait_s)[0]
            except (WorkerLost, NoWorker) as error:
                log.warning("a question for the ranker %s: %s", ranker, error)
            except TooMuchWork as error:
                return error
        return failed(ranker)

    def _call(self, request: _Request, limits: TaskLimits, wait_s: float | None) -> list[Answer | Exception]:
        answers: list[Answer | Exception] = self._workers.call(request, limits=limits, wait_s=wait_s)
        return answers
