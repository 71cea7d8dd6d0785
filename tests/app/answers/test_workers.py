"""Processes that do work: what they return, how they die, how they are replaced."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bioqa.app.answers import workers
from bioqa.app.answers.workers import NoWorker, TaskLimits, TooMuchWork, WorkerLost, Workers
from bioqa.system import processes
from bioqa.system.errors import BioqaError

Task = tuple[str, Any]


class Unportable(Exception):
    """Cannot be made again from its arguments."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one)


class LeftBehind:
    """Part of a cycle that nothing refers to."""


def start(log: Path | None = None) -> Callable[[Task], object]:
    if log is not None:
        with log.open("a") as stream:
            stream.write(f"{os.getpid()}\n")
    return do


def do(task: Task) -> object:
    kind, value = task
    match kind:
        case "echo":
            return value
        case "pid":
            return os.getpid()
        case "raise":
            raise BioqaError(value)
        case "unportable":
            raise Unportable("one", "two")
        case "die":
            os.kill(os.getpid(), value)
        case "sleep":
            time.sleep(value)
        case "spin":
            begun = time.process_time()
            while time.process_time() - begun < value:
                pass
        case "hold":
            return len(bytearray(value))
        case "hold pieces":  # small enough to be kept by the C library; the last one is at the top
            kept = [bytes(100_000) for _ in range(value // 100_000)]
            top = bytes(100_000)
            del kept
            return len(top)
        case "resident":
            return processes._resident_bytes()
        case "meet":
            folder, me = value
            (folder / str(me)).touch()
            for _ in range(1000):
                if (folder / str(1 - me)).exists():
                    return True
                time.sleep(0.02)
            return False
        case "niceness":
            return os.nice(0)
        case "frozen":
            return gc.get_freeze_count()
        case "leave a cycle":
            gc.disable()
            left: list[object] = [LeftBehind()]
            left.append(left)
            return None
        case "left behind":
            return sum(isinstance(each, LeftBehind) for each in gc.get_objects())
        case "print":
            print(value)  # noqa: T201
            os.write(1, value.encode())
    return None


def start_limited(most: int) -> Callable[[Task], object]:
    workers.limit_memory(most)
    return do


def start_dying() -> Callable[[Task], object]:
    os.kill(os.getpid(), signal.SIGKILL)
    return do


def start_stopped() -> Callable[[Task], object]:
    os.kill(os.getpid(), signal.SIGSTOP)
    return do


def start_refusing() -> Callable[[Task], object]:
    raise BioqaError("no such ranker")


def start_once(marker: Path) -> Callable[[Task], object]:
    if marker.exists():
        raise BioqaError("the second start fails")
    marker.touch()
    return do


@pytest.fixture
def made() -> Iterator[Callable[..., Workers[Task, Any]]]:
    """Makes workers that are ended after the test."""
    all_made: list[Workers[Task, Any]] = []

    def make(
        begin: Callable[[], Callable[[Task], object]] = start, count: int = 1, **given: Any
    ) -> Workers[Task, Any]:
        all_made.append(Workers(begin, count, name="test", **given))
        return all_made[-1]

    yield make
    for each in all_made:
        each.close()


Make = Callable[..., Workers[Task, Any]]


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(1000):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("it never came to be")


def test_a_task_is_done_in_another_process(made: Make) -> None:
    pool = made()
    pool.open()
    assert pool.call(("echo", {"a": [1, 2]})) == {"a": [1, 2]}
    assert pool.call(("pid", None)) != os.getpid()


def test_the_processes_let_others_run_first(made: Make) -> None:
    pool = made()
    pool.open()
    assert pool.call(("niceness", None)) >= min(19, os.nice(0) + 1)


def test_what_was_loaded_is_not_looked_through_for_garbage(made: Make) -> None:
    pool = made()
    pool.open()
    assert pool.call(("frozen", None)) > 10_000


def test_garbage_that_is_not_collected_during_a_task_is_after_it(made: Make) -> None:
    pool = made()
    pool.open()
    pool.call(("leave a cycle", None))
    assert pool.call(("left behind", None)) == 0


def test_what_the_work_raises_is_raised_here_and_the_process_stays(made: Make) -> None:
    pool = made()
    pool.open()
    pid = pool.call(("pid", None))
    with pytest.raises(BioqaError, match="the question is wrong"):
        pool.call(("raise", "the question is wrong"))
    with pytest.raises(RuntimeError, match="Unportable: one"):
        pool.call(("unportable", None))
    assert pool.call(("pid", None)) == pid
    assert pool.replaced == 0


def test_what_is_printed_there_does_not_get_between_the_messages(made: Make) -> None:
    pool = made()
    pool.open()
    assert pool.call(("print", "hello\n")) is None
    assert pool.call(("echo", 1)) == 1


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGBUS, signal.SIGSEGV])
def test_a_process_that_dies_fails_its_task_alone_and_is_replaced(made: Make, number: int) -> None:
    pool = made()
    pool.open()
    pid = pool.call(("pid", None))
    with pytest.raises(WorkerLost, match=signal.Signals(number).name):
        pool.call(("die", number))
    assert pool.call(("pid", None)) != pid
    assert pool.replaced == 1
    assert pool.trouble is None


def test_a_task_that_takes_too_long_is_ended_with_its_process(made: Make) -> None:
    pool = made()
    pool.open()
    with pytest.raises(WorkerLost, match=r"more than 0\.2 s"):
        pool.call(("sleep", 60), limits=TaskLimits(wall_s=0.2))
    assert pool.call(("echo", 1)) == 1


def test_a_task_that_needs_too_much_processor_time_fails_and_the_process_stays(made: Make) -> None:
    pool, limits = made(), TaskLimits(cpu_s=1)
    pool.open()
    pid = pool.call(("pid", None))
    with pytest.raises(TooMuchWork, match="processor time"):
        pool.call(("spin", 60), limits=limits)
    assert pool.call(("pid", None)) == pid
    # Each task has the whole of it.
    for _ in range(3):
        pool.call(("spin", 0.5), limits=limits)


def test_a_task_that_needs_too_much_memory_fails_and_the_process_stays(made: Make) -> None:
    pool = made(partial(start_limited, 50_000_000))
    pool.open()
    pid = pool.call(("pid", None))
    with pytest.raises(TooMuchWork, match="memory"):
        pool.call(("hold", 200_000_000))
    assert pool.call(("hold", 20_000_000)) == 20_000_000
    assert pool.call(("pid", None)) == pid


def test_a_limit_that_the_environment_has_set_is_kept() -> None:
    code = (
        "import resource; from bioqa.app.answers.workers import limit_memory\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (3_000_000_000, 3_000_000_000))\n"
        "limit_memory(10**12); print(*resource.getrlimit(resource.RLIMIT_DATA))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["3000000000", "3000000000"]


def test_memory_that_a_task_took_is_given_back(made: Make) -> None:
    pool = made()
    pool.open()
    before = pool.call(("resident", None))
    pool.call(("hold pieces", 150_000_000))
    assert pool.call(("resident", None)) - before < 50_000_000


@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_process_that_is_stopped_is_ended_whether_or_not_it_could_take_the_task(
    made: Make, size: int
) -> None:
    pool = made()
    pool.open()
    os.kill(pool.call(("pid", None)), signal.SIGSTOP)
    with pytest.raises(WorkerLost, match=r"more than 0\.3 s") as caught:
        pool.call(("echo", "x" * size), limits=TaskLimits(wall_s=0.3))
    assert caught.value.hung
    assert pool.call(("echo", 1)) == 1


def test_a_process_that_never_gets_ready_is_given_up(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "STARTING_S", 0.3)
    with pytest.raises(WorkerLost, match=r"more than 0\.3 s"):
        made(start_stopped).open()


def test_tasks_run_side_by_side_as_many_as_there_are_processes(made: Make, tmp_path: Path) -> None:
    pool = made(count=2)
    pool.open()
    met: list[object] = []
    threads = [
        threading.Thread(target=lambda me=me: met.append(pool.call(("meet", (tmp_path, me)))))
        for me in (0, 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert met == [True, True]


def test_who_waits_too_long_for_a_free_process_is_told(made: Make) -> None:
    pool = made()
    pool.open()
    slow = threading.Thread(target=lambda: pool.call(("sleep", 1)))
    slow.start()
    wait_until(lambda: not pool._idle)
    with pytest.raises(NoWorker, match="no process is free"):
        pool.call(("echo", 1), wait_s=0.05)
    slow.join()


def test_what_fails_at_the_start_is_raised_by_open(made: Make) -> None:
    with pytest.raises(BioqaError, match="no such ranker"):
        made(start_refusing).open()
    with pytest.raises(WorkerLost, match="SIGKILL"):
        made(start_dying).open()


def test_what_cannot_be_replaced_is_tried_again_and_said(
    made: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "FIRST_PAUSE_S", 0.05)
    marker = tmp_path / "started"
    pool = made(partial(start_once, marker))
    pool.open()
    with pytest.raises(WorkerLost):
        pool.call(("die", signal.SIGKILL))
    wait_until(lambda: "the second start fails" in (pool.trouble or ""))
    with pytest.raises(NoWorker, match="the second start fails"):
        pool.call(("echo", 1), wait_s=0.01)
    marker.unlink()
    assert pool.call(("echo", 1), wait_s=30) == 1
    assert pool.trouble is None


def test_the_pauses_grow_up_to_a_ceiling() -> None:
    pauses = [workers._pause_s(deaths) for deaths in range(40)]
    assert pauses == sorted(pauses)
    assert pauses[:2] == [0.0, workers.FIRST_PAUSE_S]
    assert pauses[-1] == workers.LONGEST_PAUSE_S


def test_closed_nothing_runs_and_nothing_is_replaced(made: Make, tmp_path: Path) -> None:
    log = tmp_path / "pids"
    pool = made(partial(start, log), count=2)
    pool.open()
    wait_until(lambda: pool.ready == 2)
    pool.close()
    assert pool.ready == 0
    with pytest.raises(NoWorker, match="ended"):
        pool.call(("echo", 1))
    for pid in map(int, log.read_text().split()):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    pool.open()
    assert pool.call(("echo", 1)) == 1


def test_a_task_at_work_when_the_pool_is_closed_is_lost_and_not_replaced(made: Make) -> None:
    pool = made()
    pool.open()
    errors: list[Exception] = []

    def ask() -> None:
        try:
            pool.call(("sleep", 60))
        except BioqaError as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    wait_until(lambda: not pool._idle)
    pool.close()
    thread.join()
    assert isinstance(errors[0], WorkerLost)
    assert pool.replaced == 0


def test_a_process_whose_parent_is_gone_ends_without_a_word() -> None:
    command = [sys.executable, "-c", "from bioqa.app.answers.workers import serve; serve()"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        processes.send(process.stdin, partial(partial, int))
        _, said = process.communicate()
    assert (process.returncode, said) == (0, b"")
