"""What is much work has half of the places, so that plain questions do not wait for it."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

import pytest

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.engine import RankingTask
from bioqa.app.answers.question import DEFAULT_OPTIONS, ExplainOptions, Options
from bioqa.app.answers.refusals import QueueFull, TimedOut
from bioqa.app.answers.reranking import GivenText
from bioqa.app.answers.service import Service
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Question
from tests.app.engines import local
from tests.app.requests import BODY

QUESTION = Question("", BODY)
EXPLAINED = ExplainOptions(pmid="1")


class Blocked(Service):
    """Whose answers wait until they are let go."""

    begun = 0
    free: asyncio.Event
    given: Answer

    async def _answer(self, *_: object) -> Answer:
        self.begun += 1
        await self.free.wait()
        return self.given


@pytest.fixture
def blocked(answerer: Answerer) -> Blocked:
    service = Blocked(Settings(request_timeout_s=5, queue_capacity=6), local(answerer, threads=4))
    service.given = answerer.answer(QUESTION, DEFAULT_OPTIONS)
    return service


def run(service: Blocked, ask: Coroutine[Any, Any, None]) -> None:
    async def begin() -> None:
        service.free = asyncio.Event()
        await ask

    asyncio.run(begin())


def start(service: Blocked, count: int, options: Options = EXPLAINED) -> Sequence[asyncio.Task[Answer]]:
    return [asyncio.create_task(service.answer(QUESTION, options)) for _ in range(count)]


@pytest.mark.parametrize(
    ("task", "dear"),
    [
        (RankingTask("soft", QUESTION), False),
        (RankingTask("soft", QUESTION, Options(candidates=100)), False),
        (RankingTask("soft", Question("", "word " * 10), Options(candidates=1000)), True),
        (RankingTask("soft", Question("", "word " * 200), Options(candidates=100)), True),
        (RankingTask("soft", QUESTION, EXPLAINED), True),
        (RankingTask("soft", QUESTION, texts=(GivenText("short"),)), False),
        (RankingTask("soft", QUESTION, texts=(GivenText("x" * 99, "y" * 99),) * 2000), True),
    ],
)
def test_what_is_much_work(task: RankingTask, dear: bool) -> None:
    assert task.is_dear == dear


def test_half_of_the_places_are_for_much_work(blocked: Blocked) -> None:
    async def ask() -> None:
        tasks = start(blocked, 3)
        await asyncio.sleep(0.05)
        assert blocked.begun == 2
        with pytest.raises(QueueFull, match="3 that are as much work"):
            await blocked.answer(QUESTION, EXPLAINED)
        plain = start(blocked, 1, DEFAULT_OPTIONS)
        await asyncio.sleep(0.05)
        assert blocked.begun == 3
        blocked.free.set()
        await asyncio.gather(*tasks, *plain)

    run(blocked, ask())
    assert blocked.begun == 4
    assert (blocked.counts.refused, blocked.counts.answers) == (1, 4)


def test_batches_have_all_places(blocked: Blocked) -> None:
    async def ask() -> None:
        asking = (blocked.answer(QUESTION, EXPLAINED, priority="batch") for _ in range(4))
        tasks = [asyncio.create_task(question) for question in asking]
        await asyncio.sleep(0.05)
        assert blocked.begun == 4
        blocked.free.set()
        await asyncio.gather(*tasks)

    run(blocked, ask())


def test_waiting_for_a_place_counts_as_waiting_to_be_ranked(blocked: Blocked) -> None:
    async def ask() -> None:
        first = start(blocked, 2)
        await asyncio.sleep(0)
        with pytest.raises(TimedOut):
            await blocked.answer(QUESTION, EXPLAINED, timeout_s=0.02)
        blocked.free.set()
        await asyncio.gather(*first)
        await blocked.answer(QUESTION, EXPLAINED)

    run(blocked, ask())
    assert blocked.counts.timed_out == 1


def test_who_no_longer_waits_frees_the_place(blocked: Blocked) -> None:
    async def ask() -> None:
        tasks = start(blocked, 3)
        await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        blocked.free.set()
        await asyncio.gather(*start(blocked, 2))

    run(blocked, ask())
    assert (blocked.counts.dropped, blocked.counts.answers) == (3, 2)
