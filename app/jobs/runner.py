"""Answers the batches: in one process at a time, the oldest batch first, storing each answer at once.

After any interruption it resumes behind the last stored answer. While the index, the ranker or the service's
queue is unavailable it waits; no question counts as failed for that.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any, ParamSpec, TypeVar

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.answering import IndexUnavailable, LoadedRanker
from bioqa.app.answers.question import Options
from bioqa.app.answers.refusals import BatchesUnavailable, Draining, QueueFull, RankingFailed, TimedOut
from bioqa.app.answers.service import Service, UnknownRanker
from bioqa.app.answers.supervision import Supervised
from bioqa.app.jobs.database import LOCK_NAME, Database
from bioqa.app.jobs.records import AnswerSource, BatchJob, State, StoredAnswer, WaitingQuestion
from bioqa.app.jobs.store import Store
from bioqa.app.jobs.submission import InvalidResult, faults_of, submission
from bioqa.bioasq.files import submission_dict
from bioqa.system.locks import FileLock, LockTaken
from bioqa.system.pauses import pause_after

POLL_S = 1.0
"""Polling interval for batches submitted through another process."""

CHUNK = 64
"""Questions read from the database at once; after each chunk the index is checked for changes."""

PAUSE_S = 0.2
"""Pause before a batch is resumed whose index became unavailable or changed."""

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 15.0
MAX_ATTEMPTS = 3
"""Unexpected exceptions allowed before a batch is marked failed."""

CLEAN_EVERY_S = 3600.0

log = logging.getLogger("bioqa")

Given = ParamSpec("Given")
Result = TypeVar("Result")


def concurrency(service: Service) -> int:
    """Number of a batch's questions in progress: those being ranked, and as many that wait."""
    return min(2 * service.at_once, service.settings.queue_capacity)


class Runner:
    def __init__(self, service: Service, store: Store, database: Database) -> None:
        self._service = service
        self._store = store
        self._database = database
        self.task = Supervised(self._run, "batches")
        self._woken = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock: FileLock | None = None
        self._failures: Counter[int] = Counter()
        self._cleaned = -CLEAN_EVERY_S
        self._threads: ThreadPoolExecutor | None = None

    def start(self) -> None:
        """Start in the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="batches")
        self.task.start()

    async def stop(self) -> None:
        """Stop; questions in progress are answered after the next start."""
        await self.task.stop()
        if self._threads is not None:
            # Wait until an answer that is being stored is stored.
            await asyncio.to_thread(self._threads.shutdown)
            self._threads = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        self._loop = None

    def wake(self) -> None:
        """Look for a new batch now. May be called from any thread."""
        if (loop := self._loop) is not None:
            with suppress(RuntimeError):  # the loop has just ended
                loop.call_soon_threadsafe(self._woken.set)

    async def _run(self) -> None:
        waits = _waits()
        while True:
            try:
                idle = not await self._turn()
            except Exception as error:
                # Top level of a background task: exceptions would be lost. Expected ones are logged without a
                # traceback.
                log.error("batches wait: %s", error, exc_info=not isinstance(error, BatchesUnavailable))
                await asyncio.sleep(next(waits))
                continue
            waits = _waits()
            if idle:
                self._woken.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._woken.wait(), POLL_S)

    async def _turn(self) -> bool:
        """Work on the oldest batch that can be worked on. Returns False if there is none."""
        if self._service.draining or not self._database.opened:
            return False
        if not await self._in_thread(self._take_lock):
            return False
        if time.monotonic() - self._cleaned > CLEAN_EVERY_S:
            self._cleaned = time.monotonic()
            days = self._service.settings.batch_days
            if removed := await self._in_thread(self._store.remove_old, days):
                log.info("removed batches that finished more than %s days ago: %s", days, removed)
        for batch in await self._in_thread(self._store.list_unfinished):
            try:
                ranker = self._service.ranker_named(batch.asked_ranker)
            except UnknownRanker:
                await self._wait_for(batch, f"the ranker {batch.asked_ranker}, which is not being served")
                continue
            await self._try(batch, ranker)
            return True
        return False

    async def _try(self, batch: BatchJob, ranker: LoadedRanker) -> None:
        """Work on a batch; after repeated unexpected errors it fails, so that it does not block others."""
        try:
            await self._work(batch, ranker)
        except BatchesUnavailable:
            raise
        except Exception:
            self._failures[batch.number] += 1
            if self._failures[batch.number] < MAX_ATTEMPTS:
                raise
            log.exception("batch %s: given up", batch.id)
            reason = "an unexpected error; see the service's log"
            await self._in_thread(self._store.finish, batch.number, State.FAILED, reason)

    def _take_lock(self) -> bool:
        """Return whether this process holds, or has just taken, the lock of the one that answers batches."""
        if self._lock is None:
            try:
                self._lock = FileLock(self._database.folder() / LOCK_NAME)
            except LockTaken:
                return False
            except OSError as error:
                raise BatchesUnavailable(f"batches.lock cannot be used: {error}") from error
        return True

    async def _work(self, batch: BatchJob, ranker: LoadedRanker) -> None:
        """Answer until the batch is finished or cancelled, or its index is unavailable or has changed."""
        waits = _waits()
        while (source := await self._source(ranker)) is None:
            batch = await self._wait_for(batch, "the search index, which is unavailable")
            await asyncio.sleep(next(waits))
            if not await self._still_wanted(batch):
                return
        if not await self._in_thread(self._store.begin, batch, source):
            return
        log.info("batch %s: answering", batch.id)
        while waiting := await self._in_thread(self._store.waiting, batch.number, CHUNK):
            answered = await self._answer_all(batch, source, waiting)
            # After the answers: an index that changed before or while they were found has changed by now.
            if not answered or await self._source(ranker) != source:
                await asyncio.sleep(PAUSE_S)
                return
        await self._finish(batch)

    async def _source(self, ranker: LoadedRanker) -> AnswerSource | None:
        """Return the source of answers given now; None while the index is unavailable."""
        try:
            stats, state = await asyncio.to_thread(self._service.stats_and_state)
        except IndexUnavailable:
            return None
        return AnswerSource(ranker.name, ranker.hash, stats.name, stats.documents, state)

    async def _answer_all(
        self, batch: BatchJob, source: AnswerSource, waiting: list[WaitingQuestion]
    ) -> bool:
        """Answer several questions at a time. Returns False if the batch must be started or resumed anew."""
        left = iter(waiting)

        async def work() -> bool:
            for unfinished in left:
                if not await self._answer_one(batch, source, unfinished):
                    return False
            return True

        workers = [work() for _ in range(min(len(waiting), concurrency(self._service)))]
        done = await asyncio.gather(*workers, return_exceptions=True)
        for result in done:
            if isinstance(result, BaseException):
                raise result
        return all(done)

    async def _answer_one(self, batch: BatchJob, source: AnswerSource, waiting: WaitingQuestion) -> bool:
        begun = time.monotonic()
        try:
            answer = await self._service.answer(
                waiting.question,
                options_of(batch, weak_snippets=self._service.settings.weak_snippets),
                ranker=source.ranker,
                priority="batch",
            )
        except (QueueFull, TimedOut) as error:
            await asyncio.sleep(min(error.retry_after_s, LONGEST_WAIT_S))
            return True  # still in the database as waiting, so it will be read again
        except (IndexUnavailable, Draining):
            return False
        except Exception as error:
            # The ranker failed on this question only: the batch continues with the others.
            log.exception("batch %s: question %s has no answer", batch.id, waiting.position)
            why = error if isinstance(error, RankingFailed) else "an unexpected error"
            message = f"could not be answered: {why}; see the service's log"
            return await self._in_thread(self._store.fail_question, batch.number, waiting.position, message)
        if (answer.ranker_hash, answer.index) != (source.ranker_hash, source.index):
            return False
        answered = _stored_answer(answer)
        if faults := faults_of({"questions": [answered.entry]}, [waiting.question]):
            log.error(
                "batch %s: the answer to question %s is invalid: %s", batch.id, waiting.position, faults
            )
            message = f"its answer would be invalid: {faults}"
            return await self._in_thread(self._store.fail_question, batch.number, waiting.position, message)
        seconds = time.monotonic() - begun
        return await self._in_thread(self._store.answer, batch.number, waiting.position, answered, seconds)

    async def _finish(self, batch: BatchJob) -> None:
        state, reason = State.DONE, None
        current = await self._in_thread(self._store.get, batch.id)
        if current is not None and not current.counts.answered:
            state, reason = State.FAILED, "no question could be answered"
        try:
            await self._in_thread(submission, self._store, batch.number)
        except InvalidResult as error:
            state, reason = State.FAILED, f"the submission would be invalid: {error}"
        if await self._in_thread(self._store.finish, batch.number, state, reason):
            log.info("batch %s: %s", batch.id, reason or "done")

    async def _still_wanted(self, batch: BatchJob) -> bool:
        current = await self._in_thread(self._store.get, batch.id)
        return current is not None and not current.state.finished

    async def _wait_for(self, batch: BatchJob, what: str) -> BatchJob:
        if batch.waits_for != what:
            log.warning("batch %s waits for %s", batch.id, what)
            await self._in_thread(self._store.wait_for, batch.number, what)
        return replace(batch, waits_for=what)

    async def _in_thread(
        self, what: Callable[Given, Result], *arguments: Given.args, **named: Given.kwargs
    ) -> Result:
        # Its own thread, so that stopping can wait for writes in progress.
        assert self._threads is not None
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: what(*arguments, **named))


def options_of(batch: BatchJob, *, weak_snippets: bool) -> Options:
    """``weak_snippets``: the setting, unless the batch asks for them."""
    defaults = {"candidates": batch.candidates, "weak_snippets": weak_snippets}
    return Options.model_validate({**defaults, **batch.options, "syntax": "never"})


def _stored_answer(answer: Answer) -> StoredAnswer:
    submission: Any = submission_dict([answer.response()])
    return StoredAnswer(
        submission["questions"][0],
        # Not probabilities, which can round to one: these give the order in a run.
        tuple(document.raw_score for document in answer.documents),
        tuple(snippet.raw_score for snippet in answer.snippets),
        answer.degraded,
    )


def _waits() -> Iterator[float]:
    """Yield waiting times in seconds, doubling up to a limit."""
    return (pause_after(failures, FIRST_WAIT_S, LONGEST_WAIT_S) for failures in count(1))
