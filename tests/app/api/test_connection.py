"""The service at a real port: clients that hang up, and being told to end."""

import asyncio
import json
import signal
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import pytest
from fastapi import Request
from starlette.requests import ClientDisconnect

from bioqa.app.answers.answering import Answerer
from bioqa.app.api.connection import while_connected
from bioqa.app.http.server import server_of
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from tests.app.test_serving import Gate, until


class Served:
    """A service whose ranker waits for its gate to be opened, in a thread."""

    def __init__(self, answerer: Answerer, drain_s: float = 30) -> None:
        self.gate = Gate()
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        settings = Settings(port=self.port, drain_s=drain_s, log_level="warning")
        app = create_app(settings, Answerer(answerer.index, self.gate))
        self.service = app.state.service
        self.server = server_of(app, settings)
        self.thread = threading.Thread(target=self.server.run)

    def ask(self, body: str) -> tuple[int, dict[str, Any]]:
        return self.get("/v1/search", json.dumps({"body": body}).encode())

    def get(self, path: str, data: bytes | None = None) -> tuple[int, dict[str, Any]]:
        url = f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def hang_up(self, body: str) -> None:
        """Ask, and leave when the question is in line."""
        waiting = self.service.queue.waiting
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            content = json.dumps({"body": body}).encode()
            head = f"POST /v1/search HTTP/1.1\r\nHost: x\r\nContent-Length: {len(content)}\r\n"
            connection.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + content)
            until(lambda: self.service.queue.waiting > waiting)

    def told_to_end(self) -> None:
        self.server.handle_exit(signal.SIGTERM, None)

    def exits(self) -> bool:
        return self.server.should_exit

    def ends(self) -> bool:
        self.thread.join(30)
        return not self.thread.is_alive()


@contextmanager
def served(answerer: Answerer, drain_s: float = 30) -> Iterator[tuple[Served, ThreadPoolExecutor]]:
    service = Served(answerer, drain_s)
    service.thread.start()
    until(lambda: service.server.started)
    with ThreadPoolExecutor() as threads:
        try:
            yield service, threads
        finally:
            service.gate.open.set()
            service.told_to_end()
            assert service.ends()


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


def test_told_to_end_it_answers_what_was_asked_and_takes_nothing_new(answerer: Answerer) -> None:
    with served(answerer) as (service, threads):
        asked = [threads.submit(service.ask, body) for body in ("metformin", "statin")]
        service.gate.wait_until_ranking()
        until(lambda: service.service.queue.waiting == 1)
        service.told_to_end()
        status, problem = service.ask("aspirin")
        assert (status, "about to end" in problem["detail"]) == (503, True)
        status, readiness = service.get("/readyz")
        assert (status, "draining" in readiness["reasons"][0]) == (503, True)
        assert service.get("/healthz")[0] == 200
        service.gate.open.set()
        assert [future.result(60)[0] for future in asked] == [200, 200]
        assert service.ends()


def test_draining_ends_in_time(answerer: Answerer) -> None:
    with served(answerer, drain_s=0.1) as (service, threads):
        first = threads.submit(service.ask, "metformin")
        service.gate.wait_until_ranking()
        others = [threads.submit(service.ask, "statin") for _ in range(3)]
        until(lambda: service.service.queue.waiting == 3)
        service.told_to_end()
        assert [future.result(60)[0] for future in others] == [503] * 3
        service.gate.open.set()
        assert first.result(60)[0] == 200
        assert service.ends()


def test_a_second_signal_does_not_wait(answerer: Answerer) -> None:
    with served(answerer) as (service, threads):
        first = threads.submit(service.ask, "metformin")
        service.gate.wait_until_ranking()
        service.told_to_end()
        assert not service.exits()
        service.told_to_end()
        assert service.exits()
        service.gate.open.set()
        assert first.result(60)[0] == 200
        assert service.ends()


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
