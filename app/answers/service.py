"""The running service: one index, its rankers, a queue of questions, and the threads that answer them."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from bioqa.app.answers.answering import (
    Answer,
    IndexUnavailable,
    Ranker,
    Retrieved,
    SearchOptions,
    answer_by_bm25,
    rank_and_select,
    retrieve,
)
from bioqa.app.answers.batching import AtCapacity, Batcher, Priority, QueueLimits, Ticket, whole_seconds
from bioqa.app.answers.refusals import Draining, QueueFull, RankingFailed, TimedOut
from bioqa.app.answers.reopening import ReopeningIndex
from bioqa.app.answers.reranking import GivenText, as_retrieved
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Document, Question
from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.search.base import IndexStats, SearchIndex

log = logging.getLogger("bioqa")

Result = TypeVar("Result")
Retrieval = Callable[[], Retrieved]

RETRY_AFTER_S = 5
"""Where nothing can be estimated."""


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
        elif isinstance(reason, Draining):
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


@dataclass(frozen=True, slots=True)
class _RankingTask:
    """A question with its candidates, and the ranker it is for."""

    ranker: Ranker
    retrieved: Retrieved
    context: Context = field(default_factory=copy_context)
    """Context of the originating request, so that log lines carry its request id."""


class Service:
    """Answers questions that wait in one ``queue``; ``counts`` and ``observers`` are for monitoring."""

    def __init__(
        self, settings: Settings, rankers: Sequence[Ranker], open_index: Callable[[], SearchIndex]
    ) -> None:
        """The first ranker is the default. Raises BioqaError if two have one name."""
        self.settings = settings
        self.rankers = {ranker.name: ranker for ranker in rankers}
        if len(self.rankers) < len(rankers):
            names = ", ".join(ranker.name for ranker in rankers)
            raise BioqaError(f"rankers are served by name, but two have the same: {names}")
        self.ranker = rankers[0]
        self.counts = OutcomeCounts()
        self.observers: list[Callable[[Answer], None]] = []
        """Called with every answer, in the event loop: they must neither block nor raise."""
        self.draining = False
        limits = QueueLimits(
            threads=settings.ranking_threads,
            capacity=settings.queue_capacity,
            batch=settings.batch_questions,
            batch_size=settings.batch_sentences,
        )
        self.queue: Batcher[_RankingTask, Answer] = Batcher(self._rank, limits)
        self._index = ReopeningIndex(open_index)
        self._requests = 0
        self._retrievers = self._new_retrievers()

    async def answer(
        self,
        question: Question,
        options: SearchOptions,
        *,
        ranker: str | None = None,
        priority: Priority = "interactive",
        timeout_s: float | None = None,
    ) -> Answer:
        """Answer one question. Those of priority "batch" let interactive ones go first.

        ``timeout_s``: seconds within which ranking must begin. The settings' limit is an upper bound, and the
        default of interactive questions; batch questions have no limit unless one is given. Cancelling the
        call cancels work that has not begun. Raises UnknownRanker, QueueFull, TimedOut, Draining,
        RankingFailed and IndexUnavailable.
        """
        chosen = self.ranker_named(ranker)
        most = self.settings.request_timeout_s
        if timeout_s is not None or priority == "interactive":
            timeout_s = min(most, most if timeout_s is None else timeout_s)
        with self._request(_Request(priority, timeout_s)) as request:
            return await self._counted(request, self._retrieval(question, options), chosen)

    async def rank(self, question: str, texts: Sequence[GivenText], *, ranker: str | None = None) -> Answer:
        """Rank given texts: an answer with all of them as documents, best first, and without sentences.

        Raises what ``answer`` raises, except IndexUnavailable.
        """
        chosen = self.ranker_named(ranker)
        with self._request(_Request("interactive", self.settings.request_timeout_s)) as request:
            return await self._counted(request, partial(as_retrieved, texts, question, chosen), chosen)

    async def answer_all(
        self, questions: Sequence[Question], options: SearchOptions, *, ranker: str | None = None
    ) -> list[Answer]:
        """Answer all questions, at batch priority. If the first is admitted, the others are too.

        Raises what ``answer`` raises, except TimedOut; the other questions are then cancelled.
        """
        chosen = self.ranker_named(ranker)
        # Twice the number ranked together, so that candidates are retrieved while others are ranked.
        ahead = 2 * self.settings.batch_questions
        answers, tasks = [], deque[asyncio.Task[Answer]]()
        with self._request(_Request("batch", None, admitted=True)) as request:
            try:
                for question in questions:
                    if len(tasks) >= ahead:
                        answers.append(await tasks.popleft())
                    asking = self._counted(request, self._retrieval(question, options), chosen)
                    tasks.append(asyncio.create_task(asking))
                while tasks:
                    answers.append(await tasks.popleft())
            finally:
                for task in tasks:
                    task.cancel()
        return answers

    def ranker_named(self, name: str | None) -> Ranker:
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
        return self._index.ask(lambda index: index.get(pmids))

    def stats(self) -> IndexStats:
        """Raises IndexUnavailable."""
        return self._index.ask(lambda index: index.stats())

    def reasons_not_ready(self) -> list[str]:
        if self.draining:
            return ["the service is draining: it ends when the accepted requests are answered"]
        try:
            documents = self.stats().documents
        except IndexUnavailable as error:
            log.warning("not ready: %s", error)
            return ["the search index is missing or cannot be used; see the service's log"]
        return [] if documents else ["the search index holds no documents"]

    def drain(self) -> None:
        """Refuse new requests from now on."""
        self.draining = True

    @property
    def drained(self) -> bool:
        """Whether all accepted requests are answered."""
        return self.draining and not self._requests

    def refuse_waiting(self) -> None:
        """Fail the questions whose ranking has not begun."""
        self.queue.refuse(_draining())

    def close(self) -> None:
        """Wait for questions being ranked and fail those that wait. Later questions open everything anew."""
        self.queue.close(_draining())
        retrievers, self._retrievers = self._retrievers, self._new_retrievers()
        retrievers.shutdown(cancel_futures=True)
        self._index.close()
        self.draining = False

    @contextmanager
    def _request(self, request: _Request) -> Iterator[_Request]:
        if self.draining or self.queue.full(request.priority):
            self.counts.refused += 1
            raise _draining() if self.draining else self._full()
        self._requests += 1
        try:
            yield request
        except Exception as error:
            # Set before its cancelled questions run again, and are counted.
            request.failure = error
            raise
        finally:
            self._requests -= 1

    async def _counted(self, request: _Request, retrieval: Retrieval, ranker: Ranker) -> Answer:
        try:
            with self.queue.enter(request.priority, even_if_full=request.admitted) as ticket:
                answer = await self._answer(ticket, retrieval, ranker, request.timeout_s)
        except AtCapacity as error:
            self.counts.refused += 1
            raise self._full() from error
        except asyncio.CancelledError as cancelled:
            self.counts.add_unanswered(request.failure or cancelled)
            raise
        except Exception as error:
            self.counts.add_unanswered(error)
            raise
        self.counts.answers += 1
        self.counts.degraded += answer.degraded is not None
        for observer in self.observers:
            observer(answer)
        return answer

    def _retrieval(self, question: Question, options: SearchOptions) -> Retrieval:
        return partial(self._index.ask, lambda index: retrieve(index, question, options))

    async def _answer(
        self, ticket: Ticket, retrieval: Retrieval, ranker: Ranker, timeout_s: float | None
    ) -> Answer:
        asked_at = time.perf_counter()
        deadline = None if timeout_s is None else asyncio.get_running_loop().time() + timeout_s
        retrieved = await self._result(self._retrievers.submit(copy_context().run, retrieval), deadline)
        sentences = sum(len(candidate.document.sentences) for candidate in retrieved.candidates)
        task = _RankingTask(ranker, replace(retrieved, asked_at=asked_at))
        ranking = self.queue.submit(ticket, ranker.name, sentences, task)
        return await self._result(ranking, deadline, finish=True)

    async def _result(
        self, future: "Future[Result]", deadline: float | None, *, finish: bool = False
    ) -> Result:
        """Wait for a result until the deadline; with ``finish``, work that has begun may take longer.

        Raises TimedOut.
        """
        waiting = asyncio.wrap_future(future)
        left = None if deadline is None else deadline - asyncio.get_running_loop().time()
        try:
            await asyncio.wait({waiting}, timeout=left)
            if not waiting.done() and (future.cancel() or not finish):
                raise TimedOut(
                    "the time for this question was over before it could be ranked", self._retry_after_s()
                )
            return await waiting
        finally:
            waiting.cancel()

    def _rank(self, tasks: Sequence[_RankingTask]) -> Sequence[Answer | Exception]:
        """Rank questions for one ranker, in a thread of the queue."""
        if len(tasks) == 1:
            return tasks[0].context.run(self._rank_together, tasks)
        return self._rank_together(tasks)

    def _rank_together(self, tasks: Sequence[_RankingTask]) -> Sequence[Answer | Exception]:
        ranker, retrieved = tasks[0].ranker, [task.retrieved for task in tasks]
        try:
            return rank_and_select(ranker, retrieved)
        except Exception as error:
            if len(tasks) > 1:
                # One question may have caused it: rank each alone, so that the others get their answers.
                log.warning("%d questions could not be ranked together: %r", len(tasks), error)
                return [answer for task in tasks for answer in self._rank([task])]
            log.exception("the ranker %s failed", ranker.name)
        if not self.settings.allow_degraded:
            return [RankingFailed(f"the ranker {ranker.name} failed", RETRY_AFTER_S)]
        reason = f"the ranker {ranker.name} failed: documents as BM25 found them, sentences by BM25"
        return [answer_by_bm25(ranker, retrieved[0], reason)]

    def _retry_after_s(self) -> int:
        return whole_seconds(self.queue.wait_s)

    def _full(self) -> QueueFull:
        return QueueFull(f"{self.queue.waiting} questions are waiting already", self._retry_after_s())

    def _new_retrievers(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.settings.retrieval_threads, thread_name_prefix="retrieving")


def _draining() -> Draining:
    return Draining("the service is about to end and accepts no new questions", RETRY_AFTER_S)


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


CurrentService = Annotated[Service, Depends(_service)]
