"""Where questions are answered: in processes of their own, or in this one.

Each place has the rankers and the index. Retrieval is done there too: the candidates of a question are some
170 kB, which would cost more to hand over than to fetch, and what a damaged index does to a process is then
not done to the service.
"""

import logging
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.answering import (
    LoadedRanker,
    Ranker,
    Retrieved,
    answer_by_bm25,
    rank_and_select,
    retrieve,
)
from bioqa.app.answers.context import Origin, origin, set_origin
from bioqa.app.answers.embedding import Embeddings, EmbeddingTask, embed
from bioqa.app.answers.opening import load_rankers, open_index
from bioqa.app.answers.question import DEFAULT_OPTIONS, ExplainOptions, Options
from bioqa.app.answers.refusals import RETRY_AFTER_S, RankingFailed
from bioqa.app.answers.reopening import ReopeningIndex
from bioqa.app.answers.reranking import GivenText, as_retrieved
from bioqa.app.answers.workers import (
    NoWorker,
    TaskLimits,
    TooMuchWork,
    WorkerLost,
    Workers,
    limit,
    limit_memory,
)
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Question
from bioqa.indexer.search.elastic.address import is_url
from bioqa.models.answers.scale import Scale
from bioqa.models.answers.selection import Calibration

HANGING_S = 20.0
"""A process that works on one task for so long, beside a cascade's budget and what Elasticsearch may take, is
ended and replaced: it hangs, as a task's processor time is bounded.
"""

LOADING_S = 60.0
"""So much longer may texts take to encode, as the encoder may have to be loaded first."""

MEMORY_BYTES = 1_000_000_000
"""Data that a ranking process may hold above what it has loaded; a thousand candidates take a third of it."""

ENCODER_MEMORY_BYTES = 4_000_000_000

log = logging.getLogger("bioqa")


MOST_OF_PLAIN_QUESTIONS = 5_000
"""Words times candidates: a plain question has some ten words and 100 candidates."""

MOST_OF_PLAIN_TEXTS = 200_000
"""Characters: 100 abstracts have as many."""


@dataclass(frozen=True, slots=True)
class RankingTask:
    """A question, to be answered from the index, or by ranking the texts that came with it."""

    ranker: str
    question: Question
    options: Options = DEFAULT_OPTIONS
    texts: tuple[GivenText, ...] | None = None
    asked_at: float = field(default_factory=time.perf_counter)
    """The clock is the same in all processes of one machine."""
    origin: Origin = field(default_factory=origin)
    plainly: str | None = None
    """Why it is answered literally, and by BM25 in place of the ranker."""

    @property
    def is_dear(self) -> bool:
        """Whether it is as much work as several plain questions."""
        if self.texts is not None:
            return sum(len(text.title) + len(text.text) for text in self.texts) > MOST_OF_PLAIN_TEXTS
        words = len(self.question.body.split())
        return isinstance(self.options, ExplainOptions) or words * self.options.run > MOST_OF_PLAIN_QUESTIONS


class Engine(Protocol):
    """Answers questions. Thread-safe: each call of ``answer`` blocks its thread."""

    index: ReopeningIndex
    """For what is looked up in this process."""
    count: int
    """Calls of ``answer`` that are worked on at the same time; more of them wait."""
    together: int
    """Questions that one call should have at most: a GPU ranks several in the time of one."""

    @property
    def running(self) -> int:
        """Processes that rank, beside this one."""
        ...

    @property
    def replaced(self) -> int:
        """Processes that died or hung, since the start."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why no question can be answered at the moment; None if questions can."""
        ...

    def open(self) -> Sequence[LoadedRanker]:
        """Start, and return the rankers that were loaded, the default one first. Raises BioqaError."""
        ...

    def answer(self, tasks: Sequence[RankingTask]) -> Sequence[Answer | Exception]:
        """Return an answer or exception for each question, in order."""
        ...

    def embed(self, task: EmbeddingTask) -> Embeddings:
        """Encode texts. Raises IndexUnavailable, and Refused if that is not possible now."""
        ...

    def close(self) -> None:
        """End what was started; ``open`` starts anew."""
        ...


def open_engine(settings: Settings, configure_logs: Callable[[], None]) -> Engine:
    """The engine that the settings ask for. Raises BioqaError as ``load_rankers`` does."""
    if settings.ranking_processes:
        return RankingProcesses(settings, configure_logs)
    return start_engine(settings, configure_logs)


class LocalEngine:
    """Answers in the threads that call it: in a ranking process one question at a time, and in the service's
    own process where a GPU ranks several together.
    """

    running = 0
    replaced = 0
    trouble: str | None = None

    def __init__(
        self,
        rankers: Sequence[Ranker],
        index: ReopeningIndex,
        *,
        allow_degraded: bool = True,
        threads: int = 1,
        together: int = 1,
        sentences: int = 10_000,
    ) -> None:
        """``sentences``: limit of those of questions that are ranked together; one question may have more."""
        self.index = index
        self.count = threads
        self.together = together
        self._loaded = rankers
        self._rankers = {ranker.name: ranker for ranker in rankers}
        self._allow_degraded = allow_degraded
        self._sentences = sentences

    def open(self) -> Sequence[Ranker]:
        return self._loaded

    def close(self) -> None:
        self.index.close()

    def answer(self, tasks: Sequence[RankingTask]) -> Sequence[Answer | Exception]:
        set_origin(tasks[0].origin if len(tasks) == 1 else (None, None))
        outcomes: dict[int, Answer | Exception] = {}
        waiting: defaultdict[tuple[str, str | None], dict[int, Retrieved]] = defaultdict(dict)
        for position, task in enumerate(tasks):
            retrieved = self._retrieve(task)
            if isinstance(retrieved, Retrieved):
                waiting[task.ranker, task.plainly][position] = retrieved
            else:
                outcomes[position] = retrieved
        for (name, plainly), questions in waiting.items():
            for positions in self._groups(questions):
                group = [questions[position] for position in positions]
                answers = self._rank(self._rankers[name], group, plainly)
                outcomes.update(zip(positions, answers, strict=True))
        return [outcomes[position] for position in range(len(tasks))]

    def embed(self, task: EmbeddingTask) -> Embeddings:
        set_origin(task.origin)
        return embed(task, self.index)

    def _retrieve(self, task: RankingTask) -> Retrieved | Exception:
        try:
            return candidates_of(task, self._rankers[task.ranker], self.index)
        except (TooMuchWork, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001  # whoever asked gets it
            return error

    def _groups(self, questions: Mapping[int, Retrieved]) -> Iterator[list[int]]:
        """Positions of questions whose sentences together are within the limit."""
        group: list[int] = []
        size = 0
        for position, retrieved in questions.items():
            sentences = sum(candidate.document.sentence_count for candidate in retrieved.candidates)
            if group and size + sentences > self._sentences:
                yield group
                group, size = [], 0
            group.append(position)
            size += sentences
        yield group

    def _rank(
        self, ranker: Ranker, retrieved: Sequence[Retrieved], plainly: str | None
    ) -> Sequence[Answer | Exception]:
        if plainly is not None:
            return [answer_by_bm25(ranker, question, plainly) for question in retrieved]
        return rank_or_degrade(ranker, retrieved, allow_degraded=self._allow_degraded)


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
                for question in retrieved
                for answer in rank_or_degrade(ranker, [question], allow_degraded=allow_degraded)
            ]
        log.exception("the ranker %s failed", ranker.name)
    failure = f"the ranker {ranker.name} failed"
    if not allow_degraded:
        return [RankingFailed(failure, RETRY_AFTER_S)]
    return [answer_by_bm25(ranker, retrieved[0], f"{failure}: {BY_BM25}")]


BY_BM25 = "documents as BM25 found them, sentences by BM25"


def plainly(task: RankingTask, why: str) -> RankingTask | None:
    """The task as what takes least; None for an explanation, which would explain nothing then."""
    if isinstance(task.options, ExplainOptions):
        return None
    return replace(
        task, options=task.options.with_changes(literal=True), plainly=f"{why}; answered literally: {BY_BM25}"
    )


def start_engine(settings: Settings, configure_logs: Callable[[], None]) -> LocalEngine:
    """What a ranking process starts with. Raises BioqaError as ``load_rankers`` does."""
    configure_logs()
    # The processes share the cores. Threads of two that wait for each other's cost more than they save.
    rankers = load_rankers(settings, settings.ranking_processes)
    return LocalEngine(
        rankers,
        ReopeningIndex(partial(open_index, settings)),
        allow_degraded=settings.allow_degraded,
        threads=settings.ranking_threads,
        together=settings.batch_questions,
        sentences=settings.batch_sentences,
    )


@dataclass(frozen=True, slots=True)
class RankerDescription:
    """A ranker that is loaded in other processes."""

    name: str
    hash: str
    config: Mapping[str, Any]
    calibration: Calibration
    scale: Scale | None = None


def describe(ranker: LoadedRanker) -> RankerDescription:
    return RankerDescription(ranker.name, ranker.hash, ranker.config, ranker.calibration, ranker.scale)


Start = Callable[[Settings, Callable[[], None]], LocalEngine]


ProcessTask = RankingTask | EmbeddingTask | None
"""What a process is asked; None for the rankers that there are."""


def _start_process(
    start: Start, settings: Settings, configure_logs: Callable[[], None]
) -> Callable[[ProcessTask], Any]:
    engine = start(settings, configure_logs)
    rankers = engine.open()
    with_encoder = {ranker.name for ranker in rankers if ranker.reads_pieces}
    if not _uses_gpu():
        limit_memory(ENCODER_MEMORY_BYTES if with_encoder else MEMORY_BYTES)
    return partial(_respond, engine, settings, with_encoder)


def _uses_gpu() -> bool:
    """Whether memory of a GPU is mapped, which would count as this process's data."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.cuda.is_initialized())


def _respond(
    engine: LocalEngine, settings: Settings, with_encoder: Container[str], task: ProcessTask
) -> list[RankerDescription] | Embeddings | Answer | Exception:
    """Raises TooMuchWork."""
    if task is None:
        return [*map(describe, engine.open())]
    if isinstance(task, EmbeddingTask):
        # Bounded by the number of texts, and by what an encoder reads of each.
        return engine.embed(task)
    if task.texts is not None:
        with limit(settings.max_request_cpu_s):
            return engine.answer([task])[0]
    most_s = None if task.ranker in with_encoder else settings.max_question_cpu_s
    try:
        with limit(most_s):
            return engine.answer([task])[0]
    except TooMuchWork as error:
        log.warning("a question for the ranker %s: %s", task.ranker, error)
        plain = plainly(task, f"the question cannot be answered in full: {error}")
        if plain is None or task.plainly is not None or not settings.allow_degraded:
            raise
    with limit(most_s):
        return engine.answer([plain])[0]


class RankingProcesses:
    """Answers questions in processes of their own, each one question at a time."""

    together = 1

    def __init__(
        self, settings: Settings, configure_logs: Callable[[], None], start: Start = start_engine
    ) -> None:
        self.index = ReopeningIndex(partial(open_index, settings))
        self.count = settings.ranking_processes
        self._wait_s = settings.request_timeout_s
        elastic_s = settings.elastic_timeout_s if is_url(settings.index or "") else 0.0
        self._limits = TaskLimits(wall_s=HANGING_S + elastic_s + 10 * settings.ranker_budget_ms / 1000)
        self._allow_degraded = settings.allow_degraded
        starting = partial(_start_process, start, settings, configure_logs)
        self._workers: Workers[ProcessTask, Any] = Workers(starting, self.count, name="ranking")

    @property
    def running(self) -> int:
        return self._workers.ready

    @property
    def replaced(self) -> int:
        return self._workers.replaced

    @property
    def trouble(self) -> str | None:
        return self._workers.trouble

    def open(self) -> Sequence[RankerDescription]:
        self._workers.open()
        rankers: list[RankerDescription] = self._workers.call(None)
        return rankers

    def close(self) -> None:
        self._workers.close()
        self.index.close()

    def answer(self, tasks: Sequence[RankingTask]) -> Sequence[Answer | Exception]:
        return [self._answer(task) for task in tasks]

    def _answer(self, task: RankingTask) -> Answer | Exception:
        """A question that a process was lost over is not asked again as it is: it may be the cause."""
        try:
            return self._ask(task)
        except WorkerLost as error:
            log.warning("a question for the ranker %s: %s", task.ranker, error)
        why = f"the process that answered it with the ranker {task.ranker} ended"
        plain = plainly(task, why) if self._allow_degraded else None
        if plain is not None:
            try:
                return self._ask(plain)
            except WorkerLost as error:
                log.warning("the same question, literally and by BM25: %s", error)
        return RankingFailed(f"the question cannot be answered: {why}", RETRY_AFTER_S)

    def embed(self, task: EmbeddingTask) -> Embeddings:
        try:
            loading = replace(self._limits, wall_s=(self._limits.wall_s or 0) + LOADING_S)
            embeddings: Embeddings = self._call(task, loading)
        except WorkerLost as error:
            log.warning("texts to encode: %s", error)
            ended = "the process that encoded the texts ended"
            raise RankingFailed(f"the texts cannot be encoded: {ended}", RETRY_AFTER_S) from error
        return embeddings

    def _ask(self, task: RankingTask) -> Answer | Exception:
        """Raises WorkerLost."""
        try:
            answer: Answer | Exception = self._call(task, self._limits)
        except (TooMuchWork, RankingFailed) as error:
            return error
        return answer

    def _call(self, task: ProcessTask, limits: TaskLimits) -> Any:
        """What a process answers. Raises WorkerLost, TooMuchWork, and RankingFailed if there is none."""
        try:
            return self._workers.call(task, limits=limits, wait_s=self._wait_s)
        except NoWorker as error:
            log.warning("%s", error)
            none = "no ranking process is free, or none is running"
            raise RankingFailed(none, RETRY_AFTER_S) from error
