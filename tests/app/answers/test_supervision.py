"""Background tasks that fail are seen, and start again."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from bioqa.app.answers import supervision
from bioqa.app.answers.supervision import Supervised


class Panic(BaseException):
    """As a fault in native code: no Exception."""


class Runs:
    """Fails in the ways given, one after the other, then runs until it is cancelled."""

    def __init__(self, *ends: BaseException | None) -> None:
        self.ends = list(ends)
        self.begun = 0
        self.cancelled = False
        self.steady = asyncio.Event()

    async def run(self) -> None:
        self.begun += 1
        if self.ends:
            end = self.ends.pop(0)
            if end is None:
                return
            raise end
        self.steady.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise


def go(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(test(), 30)

    asyncio.run(bounded())


@pytest.mark.parametrize("end", [RuntimeError("lost"), Panic("index out of bounds"), None])
def test_whatever_ends_the_task_it_is_counted_logged_and_started_again(
    end: BaseException | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervision, "FIRST_PAUSE_S", 0.01)

    async def test() -> None:
        runs = Runs(end, end)
        task = Supervised(runs.run, "batches")
        task.start()
        await runs.steady.wait()
        assert (runs.begun, task.failures, task.trouble) == (3, 2, None)
        await task.stop()
        assert runs.cancelled

    with caplog.at_level(logging.ERROR):
        go(test)
    assert len([r for r in caplog.records if "background task batches" in r.getMessage()]) == 2


def test_meanwhile_the_trouble_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "FIRST_PAUSE_S", 60.0)

    async def test() -> None:
        task = Supervised(Runs(Panic()).run, "batches")
        task.start()
        while task.trouble is None:
            await asyncio.sleep(0.01)
        assert task.trouble == "the background task batches failed (Panic) and is started again"
        await task.stop()
        assert task.trouble is None

    go(test)


def test_the_pauses_grow_up_to_a_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)

    async def test() -> None:
        runs = Runs(*[RuntimeError()] * 12)
        task = Supervised(runs.run, "batches")
        task.start()
        await runs.steady.wait()
        await task.stop()

    go(test)
    assert pauses[0] == supervision.FIRST_PAUSE_S
    assert pauses == sorted(pauses)
    assert pauses[-1] == supervision.LONGEST_PAUSE_S
