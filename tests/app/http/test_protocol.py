"""Connections: how many, and how long a request may take to arrive. Over real sockets."""

import asyncio
import resource
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any
from unittest.mock import Mock

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from bioqa.app.http.protocol import PROBES_AT_ONCE, BoundedProtocol, ConnectionLimits, Connections

LARGE_BYTES = 8_000_000
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Says how many bytes the body has; disconnects end it."""
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        size += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    if scope["path"] == "/large":
        length = str(LARGE_BYTES).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        for _ in range(LARGE_BYTES // 100_000):
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
        return await send({"type": "http.response.body", "body": b""})
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
    return await send({"type": "http.response.body", "body": b"%04d" % size})


@asynccontextmanager
async def serving(limits: ConnectionLimits, **given: Any) -> AsyncIterator[tuple[Connections, int]]:
    connections = Connections(limits, **given)
    protocol: Any = partial(BoundedProtocol, connections=connections)
    config = uvicorn.Config(app, port=0, http=protocol, lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield connections, server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await task
        while _writers:
            writer = _writers.pop()
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


_writers: list[asyncio.StreamWriter] = []
"""Of the clients of a test, to be closed at its end."""


async def connect(port: int) -> Client:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    _writers.append(writer)
    return reader, writer


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(test(), 30)

    asyncio.run(bounded())


async def answer(client: Client) -> bytes:
    reader, _ = client
    head = await reader.readuntil(b"\r\n\r\n")
    return head + await reader.readexactly(4)


async def ask(port: int, request: bytes = REQUEST) -> tuple[Client, bytes]:
    client = await connect(port)
    client[1].write(request)
    return client, await answer(client)


def test_requests_are_answered_one_after_the_other_on_one_connection() -> None:
    async def test() -> None:
        async with serving(ConnectionLimits(headers_s=5, body_s=5)) as (connections, port):
            client, first = await ask(port)
            assert first.startswith(b"HTTP/1.1 200")
            client[1].write(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" + REQUEST)
            assert (await answer(client)).endswith(b"0003")
            assert (await answer(client)).endswith(b"0000")
            assert len(connections) == 1

    run(test)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"", b""),
        (b"GET / HT", b"HTTP/1.1 408"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX-Half: ", b"HTTP/1.1 408"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf", b"HTTP/1.1 408"),
    ],
    ids=["silent", "half a line", "half a header", "half a body"],
)
def test_a_request_that_does_not_arrive_is_closed(sent: bytes, said: bytes) -> None:
    async def test() -> None:
        async with serving(ConnectionLimits(headers_s=0.2, body_s=0.2)) as (connections, port):
            reader, writer = await connect(port)
            writer.write(sent)
            got = await reader.read()
            assert got[: len(said)] == said
            assert bool(got) == bool(said)
            assert connections.timed_out == 1

    run(test)


def test_bytes_that_trickle_do_not_put_the_end_off() -> None:
    async def test() -> None:
        async with serving(ConnectionLimits(headers_s=0.5)) as (connections, port):
            reader, writer = await connect(port)
            writer.write(b"GET / HTTP/1.1\r\n")
            while not reader.at_eof():
                writer.write(b"X-A: b\r\n")
                try:
                    await asyncio.wait_for(reader.read(1000), 0.05)
                except TimeoutError:
                    continue
            assert connections.timed_out == 1

    run(test)


def test_a_second_request_on_a_connection_has_to_arrive_too() -> None:
    async def test() -> None:
        async with serving(ConnectionLimits(headers_s=0.2)) as (connections, port):
            (reader, writer), _ = await ask(port)
            writer.write(b"GET / HTTP")
            assert (await reader.read()).startswith(b"HTTP/1.1 408")
            assert connections.timed_out == 1

    run(test)


def test_an_address_has_a_limited_number_of_connections() -> None:
    async def test() -> None:
        async with serving(ConnectionLimits(per_address=2)) as (connections, port):
            kept = [await ask(port) for _ in range(2)]
            reader, _ = await connect(port)
            assert await _closed(reader)
            assert connections.refused == 1
            kept[0][0][1].close()
            while len(connections) == 2:
                await asyncio.sleep(0.01)
            assert (await ask(port))[1].startswith(b"HTTP/1.1 200")

    run(test)


def test_a_proxy_s_address_stands_for_many() -> None:
    async def test() -> None:
        limits = ConnectionLimits(per_address=1)
        async with serving(limits, proxies=("127.0.0.1",)) as (connections, port):
            for _ in range(5):
                await ask(port)
            assert len(connections) == 5

    run(test)


def test_with_all_used_up_the_longest_idle_makes_room() -> None:
    async def test() -> None:
        async with serving(ConnectionLimits(connections=3)) as (connections, port):
            silent = await connect(port)
            while not len(connections):
                await asyncio.sleep(0.01)
            for _ in range(2):
                await ask(port)
            assert (await ask(port))[1].startswith(b"HTTP/1.1 200")
            assert await _closed(silent[0])
            assert connections.dropped == 1
            assert len(connections) == 3

    run(test)


def test_those_at_work_are_not_dropped_for_new_ones_but_probes_are_answered() -> None:
    async def test() -> None:
        async with serving(ConnectionLimits(connections=1)) as (connections, port):
            busy = await connect(port)
            busy[1].write(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n12")
            while connections._idle or not len(connections):
                await asyncio.sleep(0.01)
            reader, writer = await connect(port)
            writer.write(REQUEST)
            assert (await reader.read()).startswith(b"HTTP/1.1 503")
            assert connections.refused == 1
            for path in (b"/healthz", b"/readyz"):
                _, said = await ask(port, REQUEST.replace(b"/ ", path + b" ", 1))
                assert said.startswith(b"HTTP/1.1 200")
            busy[1].write(b"34")
            assert (await answer(busy)).endswith(b"0004")

    run(test)


def test_probes_have_a_limited_number_of_places() -> None:
    async def test() -> None:
        async with serving(ConnectionLimits(connections=1)) as (connections, port):
            unfinished = [b" / "] + [b" /readyz "] * PROBES_AT_ONCE
            for number, path in enumerate(unfinished):
                _, writer = await connect(port)
                writer.write(b"GET%sHTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n" % path)
                while connections._idle or len(connections) == number:
                    await asyncio.sleep(0.01)
            reader, _ = await connect(port)
            assert await _closed(reader)
            for writer in _writers:
                writer.close()

    run(test)


LARGE = REQUEST.replace(b"/", b"/large", 1)


async def not_reading(port: int) -> socket.socket:
    """A client of a response that it does not read."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(client, ("127.0.0.1", port))
    await loop.sock_sendall(client, LARGE)
    return client


def test_who_does_not_read_is_disconnected() -> None:
    async def test() -> None:
        async with serving(ConnectionLimits(send_s=0.2)) as (connections, port):
            client = await not_reading(port)
            while not connections.timed_out:
                await asyncio.sleep(0.01)
            assert len(connections) == 0
            client.close()

    run(test)


def test_who_reads_slowly_gets_everything() -> None:
    async def test() -> None:
        async with serving(ConnectionLimits(send_s=0.5)) as (connections, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            _writers.append(writer)
            writer.write(LARGE)
            read = 0
            while read < LARGE_BYTES:
                read += len(await reader.read(400_000))
                await asyncio.sleep(0.01)
            assert connections.timed_out == 0

    run(test)


def test_who_does_not_read_makes_room_for_others() -> None:
    async def test() -> None:
        async with serving(ConnectionLimits(connections=2)) as (connections, port):
            clients = [await not_reading(port) for _ in range(2)]
            while len(connections._unread) < 2:
                await asyncio.sleep(0.01)
            for _ in range(3):
                assert (await ask(port))[1].startswith(b"HTTP/1.1 200")
            assert connections.dropped >= 1
            for client in clients:
                client.close()

    run(test)


def test_addresses_are_counted_by_network() -> None:
    connections = Connections(ConnectionLimits(per_address=2))
    admitted = [connections.admit(Mock(), f"2001:db8:0:1::{number}") for number in range(3)]
    assert admitted == [True, True, False]
    assert connections.admit(Mock(), "2001:db8:0:2::1")


async def _closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read() == b""
    except ConnectionResetError:
        return True


def test_there_are_no_more_connections_than_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {"limits": (200, 400)}
    monkeypatch.setattr(resource, "getrlimit", lambda which: held["limits"])
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: held.update(limits=limits))
    assert ConnectionLimits(connections=50).within_descriptors().connections == 50
    assert held["limits"] == (200, 400)
    assert ConnectionLimits(connections=1000).within_descriptors().connections == 272
    assert held["limits"] == (400, 400)
