"""A bounded queue with two priorities, whose waiting jobs may be done several at a time.

Plain threads and futures, which belong to no event loop. Cancelling a future before its work has begun
removes the job from the queue.
"""

import asyncio
import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

Priority = Literal["interactive", "batch"]

INTERACTIVE_IN_A_ROW = 8
"""After this many interactive jobs in a row, serve a waiting batch job, so that batches never starve."""

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class QueueLimits:
    threads: int = 1
    capacity: int = 64
    """Jobs that may wait, for each priority."""
    per_client: int | None = None
    """Waiting jobs that one client may have, for each priority; None: no limit."""
    batch: int = 1
    """Jobs done together at most."""


class AtCapacity(Exception):
    """The queue's capacity is reached."""


@dataclass(slots=True, eq=False)
class Ticket:
    """A place in the queue, held from admission until the work begins or the caller stops waiting.

    It counts against the capacity before the job itself is submitted.
    """

    priority: Priority
    client: str | None = None
    waits: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class _Job(Generic[Task, Result]):
    ticket: Ticket
    task: Task
    future: "Future[Result]" = field(default_factory=Future)


class Batcher(Generic[Task, Result]):
    """Does tasks, interactive ones first. A task never waits for others to join it."""

    def __init__(
        self, work: Callable[[Sequence[Task]], Sequence[Result | Exception]], limits: QueueLimits
    ) -> None:
        """``work`` returns one result or exception per task, in order. If it raises, all its tasks fail."""
        self._work = work
        self._limits = limits
        self._lock = threading.Lock()
        self._queues: dict[Priority, deque[_Job[Task, Result]]] = {"interactive": deque(), "batch": deque()}
        self._waiting: Counter[Priority] = Counter()
        self._of_client: Counter[tuple[Priority, str]] = Counter()
        self._running = 0
        self._passed_over = 0
        self._refusal: Exception | None = None
        self._seconds = 0.0
        self._threads = self._new_threads()
        self.batch_sizes: Counter[int] = Counter()
        """Number of batches by their number of tasks."""

    @property
    def waiting(self) -> int:
        """Tickets of both priorities whose work has not begun."""
        return self._waiting.total()

    @property
    def running(self) -> int:
        return self._running

    @property
    def capacity(self) -> int:
        return self._limits.capacity

    @property
    def wait_s(self) -> float:
        """Estimated wait of a job that enters now, from the recent time per job."""
        return self._seconds * (self.waiting + self._running) / self._limits.threads

    def full(self, priority: Priority, client: str | None = None) -> bool:
        most = self._limits.per_client
        if client is not None and most is not None and self._of_client[priority, client] >= most:
            return True
        return self._waiting[priority] >= self._limits.capacity

    @contextmanager
    def enter(
        self, priority: Priority, *, client: str | None = None, even_if_full: bool = False
    ) -> Iterator[Ticket]:
        """Hold a ticket; leaving the context cancels its jobs that have not begun. Raises AtCapacity."""
        with self._lock:
            if not even_if_full and self.full(priority, client):
                raise AtCapacity
            self._waiting[priority] += 1
            if client is not None:
                self._of_client[priority, client] += 1
        ticket = Ticket(priority, client)
        try:
            yield ticket
        finally:
            for job in self._withdraw(ticket):
                job.future.cancel()

    def submit(self, ticket: Ticket, task: Task) -> "Future[Result]":
        """Queue a task for the holder of a ticket, who may submit one."""
        job: _Job[Task, Result] = _Job(ticket, task)
        with self._lock:
            refusal = self._refusal
            if refusal is None:
                self._queues[ticket.priority].append(job)
                # One call for each job: those of jobs that went with an earlier batch find nothing to do.
                self._threads.submit(self._run_batch)
        if refusal is not None:
            job.future.set_exception(refusal)
        return job.future

    def refuse(self, error: Exception) -> None:
        """Fail all jobs that have not begun with this error, and all that are submitted before ``close``."""
        with self._lock:
            self._refusal = error
            jobs = [job for queue in self._queues.values() for job in queue]
            for queue in self._queues.values():
                queue.clear()
        for job in jobs:
            if job.future.set_running_or_notify_cancel():
                job.future.set_exception(error)

    def close(self, error: Exception) -> None:
        """Wait for running jobs and refuse the others. Jobs submitted later start new threads."""
        self.refuse(error)
        with self._lock:
            threads, self._threads = self._threads, self._new_threads()
            self._refusal = None
        threads.shutdown(cancel_futures=True)

    def _withdraw(self, ticket: Ticket) -> list[_Job[Task, Result]]:
        """Queued jobs of this ticket, removed because the caller stopped waiting."""
        with self._lock:
            queue = self._queues[ticket.priority]
            jobs = [job for job in queue if job.ticket is ticket]
            for job in jobs:
                queue.remove(job)
            self._stop_waiting(ticket)
        return jobs

    def _new_threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._limits.threads, thread_name_prefix="ranking")

    def _run_batch(self) -> None:
        with self._lock:
            batch = self._next_batch()
            for job in batch:
                self._stop_waiting(job.ticket)
            self._running += len(batch)
        if not batch:
            return
        begun = time.perf_counter()
        results = self._results(batch)
        # Before the results are set: a caller that has its result must not see this work as running.
        with self._lock:
            self._running -= len(batch)
            self._note(len(batch), time.perf_counter() - begun)
        for job, result in zip(batch, results, strict=True):
            if isinstance(result, Exception):
                job.future.set_exception(result)
            else:
                job.future.set_result(result)

    def _results(self, batch: Sequence[_Job[Task, Result]]) -> Sequence[Result | Exception]:
        try:
            results = self._work([job.task for job in batch])
            if len(results) != len(batch):
                raise ValueError(f"{len(results)} results for {len(batch)} tasks")
        except Exception as error:  # noqa: BLE001  # the callers get it from their futures
            return [error] * len(batch)
        return results

    def _note(self, jobs: int, seconds: float) -> None:
        self.batch_sizes[jobs] += 1
        each_s = seconds / jobs
        self._seconds = each_s if not self._seconds else 0.8 * self._seconds + 0.2 * each_s

    def _next_batch(self) -> list[_Job[Task, Result]]:
        """The first jobs of the queue whose turn it is, as many as the limits allow."""
        queue = self._next_queue()
        batch: list[_Job[Task, Result]] = []
        while queue and len(batch) < self._limits.batch:
            job = queue.popleft()
            if job.future.set_running_or_notify_cancel():
                batch.append(job)
        return batch

    def _next_queue(self) -> deque[_Job[Task, Result]]:
        interactive, batch = self._queues["interactive"], self._queues["batch"]
        if not interactive or (batch and self._passed_over >= INTERACTIVE_IN_A_ROW):
            self._passed_over = 0
            return batch
        self._passed_over += bool(batch)
        return interactive

    def _stop_waiting(self, ticket: Ticket) -> None:
        if ticket.waits:
            ticket.waits = False
            self._waiting[ticket.priority] -= 1
            if ticket.client is not None:
                self._of_client[ticket.priority, ticket.client] -= 1
                if not self._of_client[ticket.priority, ticket.client]:
                    del self._of_client[ticket.priority, ticket.client]


async def result_of(future: "Future[Result]", within_s: float | None) -> Result:
    """Wait for a result; work that has begun may take longer. Raises TimeoutError, having cancelled it."""
    waiting = asyncio.wrap_future(future)
    try:
        await asyncio.wait({waiting}, timeout=within_s)
        if not waiting.done() and future.cancel():
            raise TimeoutError
        return await waiting
    finally:
        waiting.cancel()


def whole_seconds(seconds: float) -> int:
    """Round up for Retry-After, to at least one."""
    return max(1, math.ceil(seconds))
