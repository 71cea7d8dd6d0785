"""The line alone, with work of any kind."""

import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bioqa.app.answers.batching import (
    INTERACTIVE_IN_A_ROW,
    AtCapacity,
    Batcher,
    Priority,
    QueueLimits,
    whole_seconds,
)


class Gated:
    """Work that does nothing until the gate is open, and keeps what it was given together."""

    def __init__(self, **limits: int) -> None:
        self.gate = threading.Event()
        self.begun = threading.Event()
        self.batches: list[list[str]] = []
        self.line: Batcher[str, str] = Batcher(self._work, QueueLimits(**limits))

    def _work(self, tasks: Sequence[str]) -> Sequence[str | Exception]:
        self.batches.append([*tasks])
        self.begun.set()
        assert self.gate.wait(30)
        return [ValueError(task) if task == "bad" else task.upper() for task in tasks]

    def put(self, task: str, priority: Priority = "interactive") -> "Future[str]":
        holding = self.line.enter(priority)
        ticket = holding.__enter__()
        future = self.line.submit(ticket, task)
        future.add_done_callback(lambda _: holding.__exit__(None, None, None))
        return future

    def block(self) -> "Future[str]":
        """What is put now waits."""
        first = self.put("first")
        assert self.begun.wait(30)
        return first

    def end(self) -> None:
        self.gate.set()
        self.line.close(RuntimeError("over"))


def test_one_at_a_time_in_order() -> None:
    work = Gated()
    futures = [work.block(), *(work.put(task) for task in "abc")]
    assert (work.line.waiting, work.line.running) == (3, 1)
    work.gate.set()
    assert [f.result(30) for f in futures] == ["FIRST", "A", "B", "C"]
    work.end()
    assert work.batches == [["first"], ["a"], ["b"], ["c"]]
    assert work.line.batch_sizes == {1: 4}
    assert (work.line.waiting, work.line.running) == (0, 0)


def test_what_waits_is_done_together_within_the_limit() -> None:
    work = Gated(batch=3)
    futures = [work.block(), *(work.put(task) for task in "abcde")]
    work.put("f", priority="batch").cancel()
    futures += [work.put("g", priority="batch"), work.put("h", priority="batch")]
    work.gate.set()
    wait(futures, 30)
    work.end()
    assert work.batches == [["first"], ["a", "b", "c"], ["d", "e"], ["g", "h"]]
    assert [f.result() for f in futures] == ["FIRST", *"ABCDEGH"]
    assert work.line.batch_sizes == {1: 1, 2: 2, 3: 1}


def test_batch_work_yields_and_is_not_starved() -> None:
    work = Gated()
    futures = [work.block(), *(work.put(f"batch{n}", priority="batch") for n in range(2))]
    futures += [work.put(str(n)) for n in range(INTERACTIVE_IN_A_ROW + 2)]
    work.gate.set()
    wait(futures, 30)
    work.end()
    order = [task for batch in work.batches for task in batch]
    asked = [str(n) for n in range(INTERACTIVE_IN_A_ROW + 2)]
    assert order == [
        "first",
        *asked[:INTERACTIVE_IN_A_ROW],
        "batch0",
        *asked[INTERACTIVE_IN_A_ROW:],
        "batch1",
    ]


def test_one_priority_does_not_take_the_others_places() -> None:
    work = Gated(capacity=1)
    work.block()
    work.put("a")
    assert work.line.full("interactive")
    with pytest.raises(AtCapacity), work.line.enter("interactive"):
        pass
    with work.line.enter("interactive", even_if_full=True):
        assert work.line.waiting == 2
    assert not work.line.full("batch")
    work.put("b", priority="batch")
    assert work.line.full("batch")
    work.end()


def test_a_place_is_given_back_with_the_work_in_it() -> None:
    work = Gated(capacity=1)
    work.block()
    with work.line.enter("interactive") as ticket:
        future = work.line.submit(ticket, "left")
    assert future.cancelled()
    assert work.line.waiting == 0
    after = work.put("after")
    work.gate.set()
    assert after.result(30) == "AFTER"
    work.end()
    assert work.batches == [["first"], ["after"]]


def test_cancelled_work_is_not_done_and_others_take_its_turn() -> None:
    work = Gated()
    work.block()
    left, after = work.put("left"), work.put("after")
    assert left.cancel()
    work.gate.set()
    assert after.result(30) == "AFTER"
    with pytest.raises(CancelledError):
        left.result(30)
    work.end()
    assert work.batches == [["first"], ["after"]]


def test_errors_go_to_whom_they_belong() -> None:
    work = Gated(batch=3)
    work.block()
    good, bad = work.put("good"), work.put("bad")
    work.gate.set()
    assert good.result(30) == "GOOD"
    with pytest.raises(ValueError, match="bad"):
        bad.result(30)
    work.end()

    def fail(tasks: Sequence[str]) -> Sequence[str]:
        raise RuntimeError("all")

    line: Batcher[str, str] = Batcher(fail, QueueLimits())
    with line.enter("interactive") as ticket:
        future = line.submit(ticket, "a")
        with pytest.raises(RuntimeError, match="all"):
            future.result(30)
    line.close(RuntimeError("over"))
    assert line.running == 0


def test_refusing_and_starting_anew() -> None:
    work = Gated()
    first, second = work.block(), work.put("second")
    work.line.refuse(RuntimeError("over"))
    third = work.put("third")
    for future in (second, third):
        with pytest.raises(RuntimeError, match="over"):
            future.result(30)
    work.end()
    assert first.result(30) == "FIRST"
    assert work.put("fourth").result(30) == "FOURTH"
    work.end()


def test_the_time_to_wait_is_estimated_from_what_work_took() -> None:
    work = Gated(threads=2)
    assert work.line.wait_s == 0
    first = work.block()
    threading.Event().wait(0.05)
    work.gate.set()
    first.result(30)
    work.line.close(RuntimeError("over"))
    each = work.line.wait_s
    assert each == 0  # nobody is before
    with work.line.enter("interactive"), work.line.enter("interactive"):
        assert 0.05 <= work.line.wait_s < 10
    assert [whole_seconds(s) for s in (0, 0.1, 1, 1.1)] == [1, 1, 1, 2]


@settings(max_examples=20)
@given(
    st.lists(st.sampled_from(["interactive", "batch"]), max_size=30),
    st.integers(1, 3),
    st.integers(1, 5),
)
def test_everything_is_done_once_however_it_comes(
    priorities: list[Priority], threads: int, batch: int
) -> None:
    done: list[int] = []

    def work(numbers: Sequence[int]) -> Sequence[int]:
        assert len(numbers) <= batch
        done.extend(numbers)
        return numbers

    line: Batcher[int, int] = Batcher(work, QueueLimits(threads=threads, batch=batch))

    def put(number: int) -> int:
        with line.enter(priorities[number]) as ticket:
            return line.submit(ticket, number).result(30)

    with ThreadPoolExecutor(8) as askers:
        results = [*askers.map(put, range(len(priorities)))]
    line.close(RuntimeError("over"))
    assert results == sorted(done) == [*range(len(priorities))]
    assert sum(n * times for n, times in line.batch_sizes.items()) == len(priorities)
    assert (line.waiting, line.running) == (0, 0)
