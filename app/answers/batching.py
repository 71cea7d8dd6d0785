"""A bounded line of work that is done in batches: what waits at the same time for the same goes together.

Plain threads and futures, which belong to no event loop. A future that is cancelled before its work has begun
takes the work out of the line.
"""

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

Priority = Literal["interactive", "batch"]

YIELDS = 8
"""How many times in a row interactive work goes before batch work that waits, too."""

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Limits:
    threads: int = 1
    capacity: int = 64
    """Of each priority, how many may wait."""
    batch: int = 1
    """How many are done at once."""
    batch_size: int = 10_000
    """The sum of their sizes; one alone may be larger."""


class Full(Exception):
    """As many wait as may."""


@dataclass(slots=True, eq=False)
class Place:
    """A place in the line, held from the entrance until the work has begun, or is no longer wanted."""

    priority: Priority
    waits: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class _Job(Generic[Task, Result]):
    place: Place
    key: Hashable
    size: int
    task: Task
    future: "Future[Result]" = field(default_factory=Future)


class Batcher(Generic[Task, Result]):
    """Does tasks of one key at once, interactive ones first; never waits for company."""

    def __init__(
        self, work: Callable[[Sequence[Task]], Sequence[Result | Exception]], limits: Limits
    ) -> None:
        """``work``: a result or an error for each task; they have one key. What it raises, all get."""
        self._work = work
        self._limits = limits
        self._lock = threading.Lock()
        self._lines: dict[Priority, deque[_Job[Task, Result]]] = {"interactive": deque(), "batch": deque()}
        self._waiting: Counter[Priority] = Counter()
        self._running = 0
        self._passed_over = 0
        self._refusal: Exception | None = None
        self._seconds = 0.0
        self._threads = self._new_threads()
        self.batch_sizes: Counter[int] = Counter()
        """How many batches there were of each number of tasks."""

    @property
    def waiting(self) -> int:
        """Of both priorities: those between the entrance and the beginning of their work."""
        return self._waiting.total()

    @property
    def running(self) -> int:
        return self._running

    @property
    def capacity(self) -> int:
        return self._limits.capacity

    @property
    def wait_s(self) -> float:
        """About how long one that enters now would wait, by the time that each took lately."""
        return self._seconds * (self.waiting + self._running) / self._limits.threads

    def full(self, priority: Priority) -> bool:
        return self._waiting[priority] >= self._limits.capacity

    @contextmanager
    def place(self, priority: Priority, *, however_full: bool = False) -> Iterator[Place]:
        """Raises Full."""
        with self._lock:
            if not however_full and self.full(priority):
                raise Full
            self._waiting[priority] += 1
        place = Place(priority)
        try:
            yield place
        finally:
            for job in self._left(place):
                job.future.cancel()

    def submit(self, place: Place, key: Hashable, size: int, task: Task) -> "Future[Result]":
        """Work for whoever holds the place, once."""
        job: _Job[Task, Result] = _Job(place, key, size, task)
        with self._lock:
            refusal = self._refusal
            if refusal is None:
                self._lines[place.priority].append(job)
                # One turn for each job; a batch leaves its other jobs' turns with nothing to do.
                self._threads.submit(self._turn)
        if refusal is not None:
            job.future.set_exception(refusal)
        return job.future

    def refuse(self, error: Exception) -> None:
        """All whose work has not begun get the error, and all who come before ``close``."""
        with self._lock:
            self._refusal = error
            jobs = [job for line in self._lines.values() for job in line]
            for line in self._lines.values():
                line.clear()
        for job in jobs:
            if job.future.set_running_or_notify_cancel():
                job.future.set_exception(error)

    def close(self, error: Exception) -> None:
        """Wait for the work that has begun, refuse the rest; what is submitted later starts anew."""
        self.refuse(error)
        with self._lock:
            threads, self._threads = self._threads, self._new_threads()
            self._refusal = None
        threads.shutdown(cancel_futures=True)

    def _left(self, place: Place) -> list[_Job[Task, Result]]:
        """What its holder put in line and does not want any more."""
        with self._lock:
            line = self._lines[place.priority]
            jobs = [job for job in line if job.place is place]
            for job in jobs:
                line.remove(job)
            self._stop_waiting(place)
        return jobs

    def _new_threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._limits.threads, thread_name_prefix="ranking")

    def _turn(self) -> None:
        with self._lock:
            batch = self._next()
            for job in batch:
                self._stop_waiting(job.place)
            self._running += len(batch)
        if not batch:
            return
        begun = time.perf_counter()
        results = self._results(batch)
        # Counted first: whoever has its result finds this work done.
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
                raise ValueError(f"{len(results)} results of {len(batch)} tasks")
        except Exception as error:  # noqa: BLE001  # whoever waits for it gets it
            return [error] * len(batch)
        return results

    def _note(self, jobs: int, seconds: float) -> None:
        self.batch_sizes[jobs] += 1
        each = seconds / jobs
        self._seconds = each if not self._seconds else 0.8 * self._seconds + 0.2 * each

    def _next(self) -> list[_Job[Task, Result]]:
        """The next in line and those like it behind it, as many as the limits allow."""
        line = self._line()
        batch: list[_Job[Task, Result]] = []
        size = 0
        for job in list(line):
            fits = not batch or (job.key == batch[0].key and size + job.size <= self._limits.batch_size)
            if not fits:
                continue
            line.remove(job)
            if job.future.set_running_or_notify_cancel():
                batch.append(job)
                size += job.size
            if len(batch) == self._limits.batch:
                break
        return batch

    def _line(self) -> deque[_Job[Task, Result]]:
        interactive, other = self._lines["interactive"], self._lines["batch"]
        if not interactive or (other and self._passed_over >= YIELDS):
            self._passed_over = 0
            return other
        self._passed_over += bool(other)
        return interactive

    def _stop_waiting(self, place: Place) -> None:
        if place.waits:
            place.waits = False
            self._waiting[place.priority] -= 1


def whole_seconds(seconds: float) -> int:
    """For Retry-After: at least one."""
    return max(1, math.ceil(seconds))
