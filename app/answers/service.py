"""The running service: a queue of questions, and the engine that answers them."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.answering import IndexUnavailable, LoadedRanker
from bioqa.app.answers.batching import (
    AtCapacity,
    Batcher,
    Priority,
    QueueLimits,
    Ticket,
    result_of,
    whole_seconds,
)
from bioqa.app.answers.embedding import TOGETHER, Embeddings, EmbeddingTask, InputType, join
from bioqa.app.answers.engine import Engine, RankingTask
from bioqa.app.answers.question import Options
from bioqa.app.answers.refusals import RETRY_AFTER_S, Draining, QueueFull, TimedOut
from bioqa.app.answers.reranking import GivenText
from bioqa.app.answers.similar import SimilarArticles, similar
from bioqa.app.answers.supervision import Watched
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Document, Question
from bioqa.indexer.search.base import IndexStats
from bioqa.system.errors import BioqaError

log = logging.getLogger("bioqa")


Task = RankingTask | EmbeddingTask
Outcome = Answer | Embeddings


class UnknownRanker(BioqaError):
    """No ranker of that name is loaded."""


@dataclass(slots=True)
class OutcomeCounts:
    """Questions since the start of the service, by outcome."""

    answers: int = 0
    degraded: int = 0
    """Part of the answers: those by BM25 in place of a ranker that failed."""
    refused: int = 0
    """The queue was full, or the service was shutting down."""
    timed_out: int = 0
    dropped: int = 0
    """Cancelled because the client disconnected."""
    failed: int = 0
    """The index, the ranker or this program failed."""

    def add_unanswered(self, reason: BaseException) -> None:
        if isinstance(reason, TimedOut):
            self.timed_out += 1
        elif isinstance(reason, Draining | QueueFull):
            self.refused += 1
        elif isinstance(reason, asyncio.CancelledError):
            self.dropped += 1
        else:
            self.failed += 1


@dataclass(slots=True)
class _Request:
    """What a client sent in one request: a question, or a whole test set."""

    priority: Priority
    timeout_s: float | None
    admitted: bool = False
    """Admitted as a whole: its questions enter the queue even if it is full by then."""
    failure: Exception | None = None
    """Why it gets no answer: its other questions are then cancelled, and counted under this reason."""


class Service:
    """Answers questions that wait in one ``queue``; ``counts`` and ``observers`` are for monitoring."""

    def __init__(self, settings: Settings, engine: Engine) -> None:
        """Open the engine, whose first ranker is the default. Raises BioqaError as that does, and if two
        rankers have one name.
        """
        self.settings = settings
        self.engine = engine
        loaded = engine.open()
        self.rankers = {ranker.name: ranker for ranker in loaded}
        if len(self.rankers) < len(loaded):
            names = ", ".join(ranker.name for ranker in loaded)
            raise BioqaError(f"rankers are served by name, but two have the same: {names}")
        self.ranker = loaded[0]
        self.counts = OutcomeCounts()
        self.observers: list[Callable[[Answer], None]] = []
        """Called with every answer, in the event loop: they must neither block nor raise."""
        self.watched: list[Watched] = []
        """Background tasks, and other parts, without which the service is not ready."""
        self.draining = False
        self._refuse_from = 0.0
        limits = QueueLimits(engine.count, settings.queue_capacity, batch=engine.together)
        self.queue: Batcher[Task, Outcome] = Batcher(self._work, limits)
        self._requests = 0
        self._dear = 0
        """Questions that are much work: being answered, or waiting for a place."""
        self._places_of_dear = asyncio.Semaphore(max(1, engine.count // 2))

    async def answer(
        self,
        question: Question,
        options: Options,
        *,
        ranker: str | None = None,
        priority: Priority = "interactive",
        timeout_s: float | None = None,
    ) -> Answer:
        """Answer one question. Those of priority "batch" let interactive ones go first.

        Half of the places where questions are ranked, at least one, are for what is much work, such as
        explanations: others do not wait for it.

        ``timeout_s``: seconds within which ranking must begin. The settings' limit is an upper bound, and the
        default of interactive questions; batch questions have no limit unless one is given. Cancelling the
        call cancels work that has not begun. Raises UnknownRanker, QueueFull, TimedOut, Draining,
        RankingFailed, IndexUnavailable, FilterError and SyntaxFault.
        """
        chosen = self.ranker_named(ranker)
        options = options.ready(self.settings.candidates)
        options.check(question.body)
        if timeout_s is not None or priority == "interactive":
            timeout_s = self._within(timeout_s)
        with self._request(_Request(priority, timeout_s)) as request:
            return await self._count_answer(request, RankingTask(chosen.name, question, options))

    def _within(self, timeout_s: float | None) -> float:
        """Seconds within which ranking of an interactive question must begin."""
        most = self.settings.request_timeout_s
        return most if timeout_s is None else min(most, timeout_s)

    async def rank(self, question: str, texts: Sequence[GivenText], *, ranker: str | None = None) -> Answer:
        """Rank given texts: an answer with all of them as documents, best first, and without sentences.

        Raises what ``answer`` raises, except IndexUnavailable.
        """
        chosen = self.ranker_named(ranker)
        with self._request(_Request("interactive", self.settings.request_timeout_s)) as request:
            task = RankingTask(chosen.name, Question("", question), texts=tuple(texts))
            return await self._count_answer(request, task)

    async def answer_all(
        self, questions: Sequence[Question], options: Options, *, ranker: str | None = None
    ) -> list[Answer]:
        """Answer all questions, at batch priority. If the first is admitted, the others are too.

        Raises what ``answer`` raises, except TimedOut; the other questions are then cancelled.
        """
        chosen, options = self.ranker_named(ranker), options.ready(self.settings.candidates)
        options.as_filters()
        # Twice the number answered at once, so that there is always one that waits.
        ahead = 2 * self.at_once
        answers, tasks = [], deque[asyncio.Task[Answer]]()
        with self._request(_Request("batch", None, admitted=True)) as request:
            try:
                for question in questions:
                    if len(tasks) >= ahead:
                        answers.append(await tasks.popleft())
                    asking = self._count_answer(request, RankingTask(chosen.name, question, options))
                    tasks.append(asyncio.create_task(asking))
                while tasks:
                    answers.append(await tasks.popleft())
            finally:
                for task in tasks:
                    task.cancel()
        return answers

    async def embed(
        self, texts: Sequence[str], input_type: InputType, *, model: str | None = None
    ) -> Embeddings:
        """Encode texts. Many of them go at batch priority, some at a time, and without a time limit.

        ``model``: the name that the encoder must have, if one is given. Raises UnknownEncoder,
        IndexUnavailable, QueueFull, TimedOut, Draining, RankingFailed and EncoderUnavailable.
        """
        request = _Request("interactive", self.settings.request_timeout_s)
        if len(texts) > TOGETHER:
            request = _Request("batch", None, admitted=True)
        by_index = self.settings.index is not None
        parts = []
        with self._request(request):
            for begin in range(0, len(texts), TOGETHER):
                some = tuple(texts[begin : begin + TOGETHER])
                task = EmbeddingTask(some, input_type, model, by_index)
                outcome = await self._count_unanswered(request, task)
                assert isinstance(outcome, Embeddings)
                parts.append(outcome)
        return join(parts)

    @property
    def at_once(self) -> int:
        """Questions that are answered at the same time."""
        return self.engine.count * self.engine.together

    def ranker_named(self, name: str | None) -> LoadedRanker:
        """Return the ranker of that name, the default one for None. Raises UnknownRanker."""
        if name is None:
            return self.ranker
        if name not in self.rankers:
            raise UnknownRanker(f"must be one of those loaded: {', '.join(self.rankers)}")
        return self.rankers[name]

    def document(self, pmid: str) -> Document | None:
        """Return a document, or None if it is not in the index. Raises IndexUnavailable."""
        return self.documents([pmid]).get(pmid)

    def documents(self, pmids: Sequence[str]) -> Mapping[str, Document]:
        """Return documents by PMID, without those missing from the index. Raises IndexUnavailable."""
        return self.engine.index.ask(lambda index: index.get(pmids))

    def similar(self, document: Document, size: int) -> SimilarArticles:
        """Return the articles that are most like it. Raises IndexUnavailable."""
        return self.engine.index.ask(lambda index: similar(index, document, size))

    def stats(self) -> IndexStats:
        """Raises IndexUnavailable."""
        return self.engine.index.ask(lambda index: index.stats())

    def stats_and_state(self) -> tuple[IndexStats, str]:
        """The index's statistics, and an identifier of what is committed. Raises IndexUnavailable."""
        return self.engine.index.ask(lambda index: (index.stats(), index.state()))

    def reasons_not_ready(self) -> list[str]:
        if self.draining:
            return ["the service is draining: it ends when the accepted requests are answered"]
        if trouble := self.engine.trouble:
            log.warning("not ready: %s", trouble)
            return ["no ranking process is running; see the service's log"]
        if reasons := [trouble for part in self.watched if (trouble := part.trouble)]:
            return reasons
        try:
            documents = self.stats().documents
        except IndexUnavailable as error:
            log.warning("not ready: %s", error)
            return ["the search index is missing or cannot be used; see the service's log"]
        return [] if documents else ["the search index holds no documents"]

    def drain(self) -> None:
        """Be not ready from now on, and refuse new requests after ``leave_s``: a proxy asks only every few
        seconds who is ready."""
        self.draining = True
        self._refuse_from = time.monotonic() + self.settings.leave_s

    @property
    def refusing(self) -> bool:
        """Whether new requests are refused because the service ends."""
        return self.draining and time.monotonic() >= self._refuse_from

    @property
    def drained(self) -> bool:
        """Whether all accepted requests are answered."""
        return self.refusing and not self._requests

    def refuse_waiting(self) -> None:
        """Fail the questions whose ranking has not begun."""
        self.queue.refuse(_draining())

    def close(self) -> None:
        """Wait for questions being ranked and fail those that wait. Later questions open everything anew."""
        self.queue.close(_draining())
        self.engine.close()
        self.draining = False

    @contextmanager
    def _request(self, request: _Request) -> Iterator[_Request]:
        if self.refusing or self.queue.full(request.priority):
            self.counts.refused += 1
            raise _draining() if self.refusing else self._full()
        self._requests += 1
        try:
            yield request
        except Exception as error:
            # Set before its cancelled questions run again, and are counted.
            request.failure = error
            raise
        finally:
            self._requests -= 1

    async def _count_answer(self, request: _Request, task: RankingTask) -> Answer:
        answer = await self._count_unanswered(request, task)
        assert isinstance(answer, Answer)
        self.counts.answers += 1
        self.counts.degraded += answer.degraded is not None
        for observer in self.observers:
            observer(answer)
        return answer

    async def _count_unanswered(self, request: _Request, task: Task) -> Outcome:
        try:
            async with self._place(request, task):
                with self.queue.enter(request.priority, even_if_full=request.admitted) as ticket:
                    return await self._answer(ticket, task, request.timeout_s)
        except AtCapacity as error:
            self.counts.refused += 1
            raise self._full() from error
        except asyncio.CancelledError as cancelled:
            self.counts.add_unanswered(request.failure or cancelled)
            raise
        except Exception as error:
            self.counts.add_unanswered(error)
            raise

    @asynccontextmanager
    async def _place(self, request: _Request, task: Task) -> AsyncIterator[None]:
        """Wait for a place, if the task needs one, within the request's time limit. Raises QueueFull."""
        if request.priority == "batch" or not task.is_dear:
            yield
            return
        if 2 * self._dear >= self.queue.capacity:
            raise QueueFull(f"{self._dear} that are as much work wait already", self._retry_after_s())
        clock = asyncio.get_running_loop().time
        ends = None if request.timeout_s is None else clock() + request.timeout_s
        self._dear += 1
        try:
            await self._take_place(ends)
            try:
                if ends is not None:
                    request.timeout_s = max(0.0, ends - clock())
                yield
            finally:
                self._places_of_dear.release()
        finally:
            self._dear -= 1

    async def _take_place(self, ends: float | None) -> None:
        try:
            async with asyncio.timeout_at(ends):
                await self._places_of_dear.acquire()
        except TimeoutError as error:
            late = "the time for this question was over before there was a place for so much work"
            raise TimedOut(late, RETRY_AFTER_S) from error

    async def _answer(self, ticket: Ticket, task: Task, timeout_s: float | None) -> Outcome:
        """Wait for an answer; work that has begun may take longer than the time limit. Raises TimedOut."""
        try:
            return await result_of(self.queue.submit(ticket, task), timeout_s)
        except TimeoutError as error:
            late = "the time for this question was over before it could be ranked"
            raise TimedOut(late, self._retry_after_s()) from error

    def _work(self, tasks: Sequence[Task]) -> Sequence[Outcome | Exception]:
        """An answer, vectors or an exception for each task, in order; questions go together."""
        questions = [task for task in tasks if isinstance(task, RankingTask)]
        answers = iter(self.engine.answer(questions) if questions else ())
        return [next(answers) if isinstance(task, RankingTask) else self._embed_texts(task) for task in tasks]

    def _embed_texts(self, task: EmbeddingTask) -> Embeddings | Exception:
        try:
            return self.engine.embed(task)
        except Exception as error:  # noqa: BLE001  # whoever asked gets it
            return error

    def _retry_after_s(self) -> int:
        return whole_seconds(self.queue.wait_s)

    def _full(self) -> QueueFull:
        return QueueFull(f"{self.queue.waiting} questions are waiting already", self._retry_after_s())


def _draining() -> Draining:
    return Draining("the service is about to end and accepts no new questions", RETRY_AFTER_S)


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


CurrentService = Annotated[Service, Depends(_service)]
