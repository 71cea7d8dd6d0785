"""The service at a real port: clients that hang up, and being told to end."""

import asyncio

import pytest
from fastapi import Request
from starlette.requests import ClientDisconnect

from bioqa.app.answers.answering import Answerer
from bioqa.app.api.connection import while_connected
from tests.app.answers.rankers import until
from tests.app.http.served import served


def test_whoever_hangs_up_is_not_answered(answerer: Answerer) -> None:
    with served(answerer) as (service, threads):
        first = threads.submit(service.ask, "metformin")
        service.gate.wait_until_ranking()
        service.hang_up("statin")
        until(lambda: service.service.counts.dropped == 1)
        assert service.service.queue.waiting == 0
        assert service.get("/healthz")[0] == 200
        service.gate.open.set()
        assert first.result(60)[0] == 200
        assert service.ask("aspirin")[0] == 200
    assert service.gate.ranked == ["metformin", "aspirin"]


def request_of(*messages: dict[str, str]) -> Request:
    left = [*messages]

    async def receive() -> dict[str, str]:
        if not left:
            await asyncio.sleep(60)
        return left.pop(0)

    return Request({"type": "http"}, receive)


def test_work_is_cancelled_when_the_client_has_gone() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def run() -> None:
        with pytest.raises(ClientDisconnect):
            await while_connected(request_of({"type": "http.request"}, {"type": "http.disconnect"}), work())
        await asyncio.sleep(0)

    asyncio.run(run())
    assert ended == ["cancelled"]


def test_what_the_work_gives_or_raises_comes_through() -> None:
    async def seven() -> int:
        return 7

    async def fails() -> int:
        raise ValueError("seven")

    async def run() -> None:
        assert await while_connected(request_of(), seven()) == 7
        with pytest.raises(ValueError, match="seven"):
            await while_connected(request_of(), fails())

    asyncio.run(run())
