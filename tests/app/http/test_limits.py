"""Bodies that are too large, and packed ones."""

import asyncio
import gzip
import json
import zlib
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from fastapi import HTTPException, Request, Response
from fastapi.testclient import TestClient
from starlette.types import Receive, Scope, Send

from bioqa.app.http import limits
from bioqa.app.http.errors import BadBody
from bioqa.app.http.limits import FREE_BYTES, BodiesInFlight, BodyLimit
from bioqa.system.processes import GROWN_BYTES
from tests.app.requests import BODY, TESTSET, is_problem


def test_large_bodies_are_refused_whether_they_tell_their_length_or_not(client: TestClient) -> None:
    content = b'{"body": "' + b"x" * 2_000_000 + b'"}'

    def pieces() -> Iterator[bytes]:
        for begin in range(0, len(content), 100_000):
            yield content[begin : begin + 100_000]

    headers = {"Content-Type": "application/json"}
    for sent in (content, pieces()):
        is_problem(client.post("/v1/search", content=sent, headers=headers), 413)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await Response(str(len(body)))(scope, receive, send)


ROOM = BodiesInFlight(10**9, 10**9)
LIMITED = TestClient(BodyLimit(echo, max_bytes=10, others={"/files": 100}, bodies=ROOM))


@pytest.mark.parametrize(("path", "most"), [("/", 10), ("/files", 100), ("/files/more", 10)])
def test_a_path_may_have_a_limit_of_its_own(path: str, most: int) -> None:
    assert LIMITED.post(path, content=b"x" * most).text == str(most)
    refused = LIMITED.post(path, content=b"x" * (most + 1))
    assert is_problem(refused, 413)["detail"] == f"the body is larger than {most} bytes"
    assert refused.headers["connection"] == "close"


def test_a_length_that_lies_does_not_help() -> None:
    with pytest.raises(HTTPException) as caught:
        LIMITED.post("/", content=iter([b"x" * 11]), headers={"Content-Length": "1"})
    assert caught.value.status_code == 413
    assert LIMITED.post("/", content=b"x", headers={"Content-Length": "9" * 5000}).status_code == 413


JSON = {"Content-Type": "application/json"}
PACKED = {**JSON, "Content-Encoding": "gzip"}


async def repeat(scope: Scope, receive: Receive, send: Send) -> None:
    await Response(await Request(scope, receive).body())(scope, receive, send)


UNPACKED = TestClient(BodyLimit(repeat, max_bytes=300_000, others={}, bodies=ROOM))


def split(content: bytes, size: int) -> Iterator[bytes]:
    for begin in range(0, len(content), size):
        yield content[begin : begin + size]


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP "])
def test_a_packed_body_is_what_was_packed(size: int, encoding: str) -> None:
    text = json.dumps(TESTSET).encode() * 40
    members = gzip.compress(text) + gzip.compress(b"") + gzip.compress(b"more")
    bodies = ((gzip.compress(text), text), (members, text + b"more"), (members + b"\0" * 9, text + b"more"))
    for packed, body in bodies:
        got = UNPACKED.post("/", content=split(packed, size), headers={"Content-Encoding": encoding})
        assert got.content == body


def test_a_packed_body_is_limited_before_and_after() -> None:
    bomb = gzip.compress(b"x" * 50_000_000)
    assert len(bomb) < 300_000
    with pytest.raises(HTTPException) as caught:
        UNPACKED.post("/", content=split(bomb, 1000), headers=PACKED)
    assert caught.value.status_code == 413


@pytest.mark.parametrize("held", [b"", b"x"])
def test_members_that_hold_next_to_nothing_are_not_unpacked_without_end(
    held: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []

    class Counting:
        error = zlib.error

        @staticmethod
        def decompressobj(wbits: int) -> object:
            begun.append(wbits)
            return zlib.decompressobj(wbits)

    monkeypatch.setattr(limits, "zlib", Counting)
    with pytest.raises(BadBody, match="too many members"):
        UNPACKED.post("/", content=gzip.compress(held) * 5000, headers=PACKED)
    assert len(begun) <= 20


async def hold(scope: Scope, receive: Receive, send: Send) -> None:
    """Reads a body, and says how much of all bodies is held."""
    await Request(scope, receive).body()
    await Response(str(HELD.total))(scope, receive, send)


HELD = BodiesInFlight(500_000, 300_000)
HOLDING = TestClient(BodyLimit(hold, max_bytes=10**6, others={}, bodies=HELD), raise_server_exceptions=False)


def test_bodies_count_until_they_are_answered() -> None:
    assert HOLDING.post("/", content=b"x" * 200_000).text == "200000"
    assert HOLDING.post("/", content=b"x" * FREE_BYTES).text == "0"
    assert HELD.total == 0


@pytest.mark.parametrize("who", ["address testclient", "address another", "key ada"])
def test_more_than_one_or_all_may_hold_is_refused_and_small_bodies_are_not(who: str) -> None:
    held = 250_000 if who == "address testclient" else 450_000
    HELD.add(who, held)
    try:
        refused = HOLDING.post("/", content=b"x" * 100_000)
        problem = is_problem(refused, 429)
        assert "too many large requests" in problem["detail"]
        assert int(refused.headers["retry-after"]) > 0
        with pytest.raises(HTTPException) as caught:  # without a length
            HOLDING_RAISING.post("/", content=split(b"x" * 100_000, 10_000))
        assert caught.value.status_code == 429
        assert HOLDING.post("/", content=b"x" * 60_000).text == str(held)
        assert HELD.total == held
    finally:
        asyncio.run(remove(who, held))
    assert HOLDING.post("/", content=b"x" * 100_000).status_code == 200


HOLDING_RAISING = TestClient(BodyLimit(hold, max_bytes=10**6, others={}, bodies=HELD))


async def remove(who: str, held: int) -> None:
    HELD.remove(who, held)


def test_memory_goes_back_when_no_large_body_has_come_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = BodiesInFlight(10**6, 10**6)
    monkeypatch.setattr(limits, "QUIET_S", 0.0)

    async def come_and_go() -> list[int]:
        grown: list[int] = []
        quiet = asyncio.Event()
        loop = asyncio.get_running_loop()

        def give_back(grown_bytes: int = GROWN_BYTES) -> None:
            grown.append(grown_bytes)
            if not grown_bytes:
                loop.call_soon_threadsafe(quiet.set)

        monkeypatch.setattr(bodies, "_memory", SimpleNamespace(give_back=give_back))
        for _ in range(3):  # one after the other: quiet comes once
            bodies.add("ada", 100_000)
            bodies.remove("ada", 100_000)
        await asyncio.wait_for(quiet.wait(), 30)
        return grown

    assert sorted(asyncio.run(come_and_go())) == [0, *[GROWN_BYTES] * 3]


BROKEN = (
    b"{}",
    gzip.compress(b"{}", mtime=0)[:-4],
    gzip.compress(b"{}", mtime=0) + b"more",
    b"\x1f\x8bnothing",
    gzip.compress(b"{}", mtime=0)[:1],
)
READERS = (
    "/v1/search",
    "/v1/rerank",
    "/v1/embeddings",
    "/v1/bioasq",
    "/v1/bioasq/batches",
    "/v1/bioasq/validate",
)


@pytest.mark.parametrize("path", READERS)
def test_every_address_takes_packed_bodies_and_names_broken_ones(client: TestClient, path: str) -> None:
    rerank = {"query": BODY, "documents": ["x"]}
    strict = {"/v1/search": {"body": BODY}, "/v1/embeddings": {"input": BODY}}
    asked = strict.get(path, {**TESTSET, **rerank, "submission": {}})
    content = json.dumps(asked).encode()
    plain = client.post(path, content=content, headers=JSON)
    packed = client.post(path, content=gzip.compress(content), headers=PACKED)
    assert packed.status_code == plain.status_code < 300
    for broken in BROKEN:
        detail = is_problem(client.post(path, content=broken, headers=PACKED), 400)["detail"]
        assert "gzip" in detail
    large = gzip.compress(b" " * 30_000_000)
    assert "unpacked" in is_problem(client.post(path, content=large, headers=PACKED), 413)["detail"]


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip", "zstd", "nonsense"])
def test_other_encodings_are_refused_with_those_that_are_known(client: TestClient, encoding: str) -> None:
    content = zlib.compress(json.dumps({"body": BODY}).encode())
    refused = client.post("/v1/search", content=content, headers={**JSON, "Content-Encoding": encoding})
    is_problem(refused, 415)
    assert refused.headers["accept-encoding"] == "gzip, identity"


def test_an_empty_packed_body_is_an_empty_one() -> None:
    assert UNPACKED.post("/", content=b"", headers=PACKED).content == b""
