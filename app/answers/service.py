"""The running service: one index, its rankers, the line of questions, and the threads that answer them."""

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
    Found,
    IndexUnavailable,
    Ranks,
    Wanted,
    choose,
    choose_without,
    find,
)
from bioqa.app.answers.batching import Batcher, Full, Limits, Place, Priority, whole_seconds
from bioqa.app.answers.refusals import Draining, QueueFull, RankingFailed, TimedOut
from bioqa.app.answers.reopening import ReopenedIndex
from bioqa.app.answers.reranking import GivenText, found_in
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Document, Question
from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.search.base import IndexStats, SearchIndex

log = logging.getLogger("bioqa")

Result = TypeVar("Result")
Finding = Callable[[], Found]

RETRY_AFTER_S = 5
"""Where nothing tells when it will be better."""


class UnknownRanker(BioqaError):
    """No ranker of that name is loaded."""


@dataclass(slots=True)
class Counts:
    """Questions since the service was made, by what became of them."""

    answers: int = 0
    degraded: int = 0
    """Of the answers."""
    refused: int = 0
    """The line was full, or the service draining."""
    timed_out: int = 0
    dropped: int = 0
    """Whoever asked went away."""
    failed: int = 0
    """There was no answer, because the index, the ranker or this program failed."""

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
    """What a client sent at once: one question, or all of a test set."""

    priority: Priority
    timeout_s: float | None
    admitted: bool = False
    """Its questions enter the queue however full that is: the request as a whole was let in."""
    failure: Exception | None = None
    """Why it gets no answer: its questions that are cancelled for this reason count as failed by it."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A task of the line: a question with its candidates, and the ranker it is for."""

    ranker: Ranks
    found: Found
    context: Context = field(default_factory=copy_context)
    """Of whoever asked: what is logged of this question alone is logged as of that request."""


class Service:
    """Questions wait in one line, ``queue``; ``counts`` and ``observers`` are for those who watch."""

    def __init__(
        self, settings: Settings, rankers: Sequence[Ranks], open_index: Callable[[], SearchIndex]
    ) -> None:
        """The first ranker is the default. Raises BioqaError if two have one name."""
        self.settings = settings
        self.rankers = {ranker.name: ranker for ranker in rankers}
        if len(self.rankers) < len(rankers):
            names = ", ".join(ranker.name for ranker in rankers)
            raise BioqaError(f"rankers are served by name, but two have the same: {names}")
        self.ranker = rankers[0]
        self.counts = Counts()
        self.observers: list[Callable[[Answer], None]] = []
        """Each is called with every answer, in the event loop: it must neither block nor raise."""
        self.draining = False
        limits = Limits(
            threads=settings.ranking_threads,
            capacity=settings.queue_capacity,
            batch=settings.batch_questions,
            batch_size=settings.batch_sentences,
        )
        self.queue: Batcher[_Asked, Answer] = Batcher(self._rank, limits)
        self._index = ReopenedIndex(open_index)
        self._requests = 0
        self._finders = self._new_finders()

    async def answer(
        self,
        question: Question,
        wanted: Wanted,
        *,
        ranker: str | None = None,
        priority: Priority = "interactive",
        timeout_s: float | None = None,
    ) -> Answer:
        """Questions of priority "batch" let interactive ones go first, and have no time limit unless given.

        ``timeout_s``: seconds within which ranking must have begun, at most the settings'; theirs if None and
        interactive. Cancelled, what has not begun is not done. Raises UnknownRanker, QueueFull, TimedOut,
        Draining, RankingFailed and IndexUnavailable.
        """
        chosen = self.ranker_named(ranker)
        most = self.settings.request_timeout_s
        if timeout_s is not None or priority == "interactive":
            timeout_s = min(most, most if timeout_s is None else timeout_s)
        with self._request(_Request(priority, timeout_s)) as request:
            return await self._counted(request, self._finding(question, wanted), chosen)

    async def rank(self, question: str, texts: Sequence[GivenText], *, ranker: str | None = None) -> Answer:
        """An answer whose documents are all the texts, best first, and none of the index; without sentences.

        Raises what ``answer`` does, but for IndexUnavailable.
        """
        chosen = self.ranker_named(ranker)
        with self._request(_Request("interactive", self.settings.request_timeout_s)) as request:
            return await self._counted(request, partial(found_in, texts, question, chosen), chosen)

    async def answer_all(
        self, questions: Sequence[Question], wanted: Wanted, *, ranker: str | None = None
    ) -> list[Answer]:
        """Each question's answer, at the priority of a batch. Once taken on, none is refused on the way.

        Raises what ``answer`` does, but for TimedOut.
        """
        chosen = self.ranker_named(ranker)
        # As many as are ranked at once, and as many again whose candidates are fetched meanwhile.
        ahead = 2 * self.settings.batch_questions
        answers, tasks = [], deque[asyncio.Task[Answer]]()
        with self._request(_Request("batch", None, admitted=True)) as request:
            try:
                for question in questions:
                    if len(tasks) >= ahead:
                        answers.append(await tasks.popleft())
                    asking = self._counted(request, self._finding(question, wanted), chosen)
                    tasks.append(asyncio.create_task(asking))
                while tasks:
                    answers.append(await tasks.popleft())
            finally:
                for task in tasks:
                    task.cancel()
        return answers

    def ranker_named(self, name: str | None) -> Ranks:
        """The default if None. Raises UnknownRanker."""
        if name is None:
            return self.ranker
        if name not in self.rankers:
            raise UnknownRanker(f"must be one of those loaded: {', '.join(self.rankers)}")
        return self.rankers[name]

    def document(self, pmid: str) -> Document | None:
        """The document, or None if it is not in the index. Raises IndexUnavailable."""
        return self.documents([pmid]).get(pmid)

    def documents(self, pmids: Sequence[str]) -> Mapping[str, Document]:
        """Those of the documents that are in the index. Raises IndexUnavailable."""
        return self._index.ask(lambda index: index.get(pmids))

    def stats(self) -> IndexStats:
        """Raises IndexUnavailable."""
        return self._index.ask(lambda index: index.stats())

    def reasons_not_ready(self) -> list[str]:
        if self.draining:
            return ["the service is draining: it ends when what it was asked is answered"]
        try:
            documents = self.stats().documents
        except IndexUnavailable as error:
            log.warning("not ready: %s", error)
            return ["the search index is missing or cannot be used; the service's log tells why"]
        return [] if documents else ["the search index holds no documents"]

    def drain(self) -> None:
        """Take nothing new from now on."""
        self.draining = True

    @property
    def drained(self) -> bool:
        """Whether all that was asked before is answered."""
        return self.draining and not self._requests

    def refuse_waiting(self) -> None:
        """Give up the questions whose ranking has not begun."""
        self.queue.refuse(_draining())

    def close(self) -> None:
        """Wait for the questions at work, give up those in line; a later question starts anew."""
        self.queue.close(_draining())
        finders, self._finders = self._finders, self._new_finders()
        finders.shutdown(cancel_futures=True)
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
            # Its other questions are being cancelled, but run (and count) only after this.
            request.failure = error
            raise
        finally:
            self._requests -= 1

    async def _counted(self, request: _Request, finding: Finding, ranker: Ranks) -> Answer:
        try:
            with self.queue.place(request.priority, however_full=request.admitted) as place:
                answer = await self._answer(place, finding, ranker, request.timeout_s)
        except Full as error:
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

    def _finding(self, question: Question, wanted: Wanted) -> Finding:
        return partial(self._index.ask, lambda index: find(index, question, wanted))

    async def _answer(self, place: Place, finding: Finding, ranker: Ranks, timeout_s: float | None) -> Answer:
        asked_at = time.perf_counter()
        deadline = None if timeout_s is None else asyncio.get_running_loop().time() + timeout_s
        found = await self._result(self._finders.submit(copy_context().run, finding), deadline)
        sentences = sum(len(candidate.document.sentences) for candidate in found.candidates)
        asked = _Asked(ranker, replace(found, asked_at=asked_at))
        ranking = self.queue.submit(place, ranker.name, sentences, asked)
        return await self._result(ranking, deadline, finish=True)

    async def _result(
        self, future: "Future[Result]", deadline: float | None, *, finish: bool = False
    ) -> Result:
        """``finish``: what has begun at the deadline is waited for. Raises TimedOut."""
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

    def _rank(self, asked: Sequence[_Asked]) -> Sequence[Answer | Exception]:
        """In a thread of the queue: all questions are for one ranker."""
        if len(asked) == 1:
            return asked[0].context.run(self._rank_together, asked)
        return self._rank_together(asked)

    def _rank_together(self, asked: Sequence[_Asked]) -> Sequence[Answer | Exception]:
        ranker, found = asked[0].ranker, [each.found for each in asked]
        try:
            return choose(ranker, found)
        except Exception as error:
            if len(found) > 1:
                # One of them may be at fault: the others need not suffer.
                log.warning("%d questions could not be ranked together: %r", len(found), error)
                return [answer for each in asked for answer in self._rank([each])]
            log.exception("the ranker %s failed", ranker.name)
        if not self.settings.allow_degraded:
            return [RankingFailed(f"the ranker {ranker.name} failed", RETRY_AFTER_S)]
        reason = f"the ranker {ranker.name} failed: documents as BM25 found them, sentences by BM25"
        return [choose_without(ranker, found[0], reason)]

    def _retry_after_s(self) -> int:
        return whole_seconds(self.queue.wait_s)

    def _full(self) -> QueueFull:
        return QueueFull(f"{self.queue.waiting} questions wait already", self._retry_after_s())

    def _new_finders(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.settings.retrieval_threads, thread_name_prefix="retrieving")


def _draining() -> Draining:
    return Draining("the service is about to end, and takes no new questions", RETRY_AFTER_S)


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


CurrentService = Annotated[Service, Depends(_service)]
