"""Work in processes of its own: it neither holds up the event loop nor takes the service down with it.

A process that dies (killed for memory, by a fault in native code or by SIGBUS over a truncated segment) fails
the one task that it had, and is replaced; so is one that takes too long. What keeps dying is replaced at
growing intervals.
"""

import gc
import logging
import os
import pickle
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from bioqa.system import processes
from bioqa.system.errors import BioqaError
from bioqa.system.pauses import pause_after

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 30.0
STEADY_S = 30.0
"""A process that worked for so long is replaced at once."""

STARTING_S = 600.0
"""A process that is not ready by then is given up; large rankers take a minute on a busy machine."""

NOT_STARTED = "no process was started"
STARTING = "the processes are starting"

log = logging.getLogger("bioqa")

Task = TypeVar("Task")
Result = TypeVar("Result")


class WorkerLost(BioqaError):
    """The process died, or was ended because it took too long: nothing is known of the task's result."""

    def __init__(self, message: str, *, hung: bool = False) -> None:
        super().__init__(message)
        self.hung = hung
        """Whether it took too long: it was stopped, perhaps, or waited for something."""


class NoWorker(BioqaError):
    """No process was free, or none is running, for as long as the caller would wait."""


class TooMuchWork(Exception):
    """A task reached its limit of processor time or memory.

    It comes out of any line of the task, so it is no BioqaError: whoever handles those must not swallow it.
    """


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """What one task may use. None: no limit."""

    cpu_s: float | None = None
    """Seconds of processor time, over all threads of the process."""
    wall_s: float | None = None
    """Seconds from the first byte sent, after which the process is ended and replaced."""


NO_LIMITS = TaskLimits()


class Workers(Generic[Task, Result]):
    """``count`` processes, each working on one task at a time. Thread-safe: ``call`` blocks its thread."""

    def __init__(self, start: Callable[[], Callable[[Task], Result]], count: int, *, name: str) -> None:
        """``start`` runs once in every process, and returns what does a task there. It is pickled, so it must
        be a function of a module (or a ``partial`` of one); it may call ``limit_memory``. Processes start
        with ``open``.
        """
        self.name = name
        self.count = count
        self.replaced = 0
        """Processes that died or were ended, since the start."""
        self._start = start
        self._changed = threading.Condition()
        self._idle: list[_Process] = []
        self._running: set[_Process] = set()
        self._starting = 0
        self._deaths = 0  # in a row
        self._closed = True
        self._why = NOT_STARTED

    @property
    def ready(self) -> int:
        """Processes that work or wait for work."""
        return len(self._running)

    @property
    def trouble(self) -> str | None:
        """Why no process is ready; None if one is."""
        with self._changed:
            return None if self._running else self._why

    def open(self, *, wait: bool = True) -> None:
        """Start the processes. ``wait``: for the first one, raising what ``start`` raised there."""
        with self._changed:
            if not self._closed:
                return
            self._closed = False
            self._why = STARTING
        if wait:
            self._add(_Process(self._start, self.name))
        for _ in range(self.count - self.ready):
            self._replace(after_s=0.0)

    def close(self) -> None:
        """End all processes, whatever they do."""
        with self._changed:
            self._closed = True
            ending, self._running, self._idle = list(self._running), set(), []
            self._why = "the processes were ended"
            self._changed.notify_all()
        for process in ending:
            process.end()

    def call(self, task: Task, *, limits: TaskLimits = NO_LIMITS, wait_s: float | None = None) -> Result:
        """What the task comes to. ``wait_s``: how long to wait for a free process.

        Raises what the work raises, TooMuchWork, WorkerLost and NoWorker.
        """
        process = self._take(wait_s)
        try:
            outcome = process.ask(task, limits)
        except WorkerLost as error:
            self._lose(process, error)
            raise
        self._put_back(process)
        if isinstance(outcome, _Raised):
            raise outcome.error
        result: Result = outcome
        return result

    def _take(self, wait_s: float | None) -> "_Process":
        with self._changed:
            if not self._changed.wait_for(lambda: self._idle or self._closed, wait_s) or self._closed:
                raise NoWorker(f"{self.name}: {'no process is free' if self._running else self._why}")
            # The one used last: what it keeps of documents is the freshest.
            return self._idle.pop()

    def _put_back(self, process: "_Process") -> None:
        with self._changed:
            if process.age_s > STEADY_S:
                self._deaths = 0
            if process in self._running:
                self._idle.append(process)
                self._changed.notify()

    def _add(self, process: "_Process") -> None:
        with self._changed:
            if not self._closed:
                self._running.add(process)
                self._idle.append(process)
                self._changed.notify()
                return
        process.end()

    def _lose(self, process: "_Process", error: WorkerLost) -> None:
        process.end()
        with self._changed:
            if process not in self._running:  # ended by ``close``
                return
            self._running.discard(process)
            self.replaced += 1
            self._deaths = 1 if process.age_s > STEADY_S else self._deaths + 1
            self._why = str(error)
            pause = _pause_s(self._deaths - 1)
        log.error("%s; it is replaced%s", error, f" in {pause:.1f} s" if pause else "")
        self._replace(pause)

    def _replace(self, after_s: float) -> None:
        threading.Thread(
            target=self._replacing, args=(after_s,), name=f"{self.name}-start", daemon=True
        ).start()

    def _replacing(self, after_s: float) -> None:
        while True:
            with self._changed:
                if self._changed.wait_for(lambda: self._closed, after_s):
                    return
            try:
                process = _Process(self._start, self.name)
            except Exception as error:  # noqa: BLE001  # the edge of this thread; the next try may succeed
                with self._changed:
                    self._deaths += 1
                    self._why = f"{self.name}: a process cannot be started: {error}"
                    after_s = _pause_s(self._deaths)
                log.error("%s; the next try is in %.1f s", self._why, after_s)
                continue
            self._add(process)
            return


def _pause_s(deaths: int) -> float:
    return pause_after(deaths, FIRST_PAUSE_S, LONGEST_PAUSE_S) if deaths else 0.0


@dataclass(frozen=True, slots=True)
class _Raised:
    error: Exception


class _Process:
    """One process, started and ready. Raises what ``start`` raised in it, or WorkerLost."""

    def __init__(self, start: Callable[[], Callable[[Any], Any]], name: str) -> None:
        self._name = name
        self._begun = time.monotonic()
        self._hung = False
        self._child = processes.start(serve)
        try:
            ready = self._converse(start, STARTING_S)
        except BaseException:
            self.end()
            raise
        if isinstance(ready, _Raised):
            self.end()
            raise ready.error

    @property
    def age_s(self) -> float:
        return time.monotonic() - self._begun

    def ask(self, task: object, limits: TaskLimits) -> Any:
        """Raises WorkerLost."""
        return self._converse((task, limits.cpu_s), limits.wall_s)

    def end(self) -> None:
        self._child.process.kill()
        self._child.process.wait()
        for stream in (self._child.stdin, self._child.stdout):
            with suppress(OSError):
                stream.close()

    def _converse(self, message: object, wall_s: float | None) -> Any:
        # A process that is stopped takes no long task either: writing, too, would wait for ever.
        with _after(wall_s, self._give_up):
            try:
                processes.send(self._child.stdin, message)
                answer = processes.receive(self._child.stdout)
            except (EOFError, OSError, ValueError) as error:  # ValueError: closed meanwhile
                if not self._hung:
                    raise WorkerLost(f"{self._name}: {self._fate()}") from error
        if self._hung:
            took = f"a task took more than {wall_s:g} s, so its process was ended"
            raise WorkerLost(f"{self._name}: {took}", hung=True)
        return answer

    def _give_up(self) -> None:
        self._hung = True
        self._child.process.kill()

    def _fate(self) -> str:
        try:
            code = self._child.process.wait(1)
        except subprocess.TimeoutExpired:
            return "a process cannot be spoken to"
        if code < 0:
            with suppress(ValueError):
                return f"a process was ended by {signal.Signals(-code).name}"
        return f"a process ended with code {code}"


@contextmanager
def _after(seconds: float | None, act: Callable[[], None]) -> Iterator[None]:
    """Call ``act`` if the block is not left by then."""
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def serve() -> None:
    """What a process runs: messages come from the parent, one answer to each goes to it."""
    with processes.parent() as (incoming, outgoing), suppress(EOFError):  # at its end the parent is gone
        start = processes.receive(incoming)
        _give_way()
        work = _attempt(start, outgoing)
        if work is None:
            return
        processes.keep_loaded()
        processes.send(outgoing, None)
        memory = processes.Memory()
        while True:
            memory.give_back_when_quiet(incoming)
            task, cpu_s = processes.receive(incoming)
            try:
                with limit(cpu_s):
                    outcome = work(task)
            except Exception as error:  # noqa: BLE001  # whoever called gets it
                outcome = _Raised(_portable(error))
            del task
            processes.send(outgoing, outcome)
            del outcome
            if not gc.isenabled():
                gc.collect()  # by whoever does not want it while a task is done
            memory.give_back()


BEHIND = 5
"""Niceness of the processes."""


def _give_way() -> None:
    """Let whoever speaks HTTP run first when processors are short: it has little to do, and probes wait."""
    with suppress(OSError):
        os.nice(BEHIND)
    # Where the kernel schedules sessions as groups, only the group's niceness counts between them.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(BEHIND), encoding="ascii")


def _attempt(start: Callable[[], Callable[[Any], Any]], outgoing: IO[bytes]) -> Callable[[Any], Any] | None:
    try:
        return start()
    except Exception as error:  # noqa: BLE001  # whoever started the process gets it
        processes.send(outgoing, _Raised(_portable(error)))
        return None


def _portable(error: Exception) -> Exception:
    """The error itself if the other side can read it, else one that says what it was."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301
    except Exception:  # noqa: BLE001  # a foreign exception's own pickling may raise anything
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


TOO_LONG = "it takes more processor time than one request may use"
AGAIN_S = 0.1
_over: list[bool] = []
"""Not empty once the task has reached its limit."""


@contextmanager
def limit(cpu_s: float | None) -> Iterator[None]:
    """At a limit of processor time or memory raise TooMuchWork, and go on. In a process's main thread only,
    and not within each other.
    """
    if cpu_s is not None:
        signal.signal(signal.SIGPROF, _too_long)
        _over.clear()
        # Again and again: Python drops what is raised while it is in a destructor.
        signal.setitimer(signal.ITIMER_PROF, cpu_s, AGAIN_S)
    try:
        yield
        if _over and cpu_s is not None:
            raise TooMuchWork(TOO_LONG)
    except MemoryError:
        raise TooMuchWork("it takes more memory than one request may use") from None
    except RuntimeError as error:
        if "can't allocate memory" in str(error):  # torch's words for the same
            raise TooMuchWork("it takes more memory than one request may use") from None
        raise
    finally:
        if cpu_s is not None:
            signal.setitimer(signal.ITIMER_PROF, 0)


def _too_long(number: int, frame: object) -> None:
    _over.append(True)
    raise TooMuchWork(TOO_LONG)


def limit_memory(more_bytes: int) -> None:
    """Let this process hold so much more data than now, or less where the environment says so."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = _data_bytes() + more_bytes
    resource.setrlimit(
        resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard)
    )


def _data_bytes() -> int:
    """What counts for RLIMIT_DATA: private, writable memory."""
    with Path("/proc/self/status").open() as status:
        for line in status:
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return 0
