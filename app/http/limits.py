"""Refuse bodies that are too large, or too many, before they fill the memory, with Content-Length and gzip or
without.
"""

import asyncio
import zlib
from collections import Counter
from collections.abc import Mapping

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bioqa.app.answers.context import client
from bioqa.app.answers.refusals import RETRY_AFTER_S
from bioqa.app.http.clients import client_of
from bioqa.app.http.errors import BadBody, problem
from bioqa.system.processes import QUIET_S, Memory

CHUNK = 65_536
"""Bytes that are unpacked at once."""

FREE_BYTES = 65_536
"""Bodies that are no longer are not counted: as many as there may be connections do no harm."""

TOGETHER = 4
"""Largest bodies that may be in memory at once; half of them of one client."""

MEMBERS = 16
BYTES_A_MEMBER = 1000
"""Members of a gzip body: some that are short or empty, and one for so many bytes that they unpack to."""

GZIP = ("gzip", "x-gzip")
ENCODINGS = "gzip, identity"


class BodiesInFlight:
    """Bytes of bodies that arrived and whose requests are not answered yet. Belongs to one event loop."""

    def __init__(self, most: int, most_of_one: int) -> None:
        """``most_of_one``: of one client."""
        self._most = most
        self._most_of_one = most_of_one
        self._of_client: Counter[str] = Counter()
        self._memory = Memory()
        self._when_quiet: asyncio.TimerHandle | None = None

    @property
    def total(self) -> int:
        return self._of_client.total()

    def fits(self, client: str, count: int) -> bool:
        """Whether there is room for so many bytes more."""
        mine = self._of_client[client] + count
        return mine <= self._most_of_one and self.total + count <= self._most

    def add(self, client: str, count: int) -> None:
        self._of_client[client] += count

    def remove(self, client: str, count: int) -> None:
        self._of_client[client] -= count
        if self._of_client[client] <= 0:
            del self._of_client[client]
        if not self._of_client:
            self._give_back()

    def _give_back(self) -> None:
        """Memory: at once if it is much; all when nothing has come for a while."""
        loop = asyncio.get_running_loop()
        # In a thread, which takes milliseconds without the interpreter's lock.
        loop.run_in_executor(None, self._memory.give_back)
        if self._when_quiet is not None:
            self._when_quiet.cancel()
        self._when_quiet = loop.call_later(QUIET_S, loop.run_in_executor, None, self._memory.give_back, 0)


class BodyLimit:
    """Limits bodies to ``max_bytes``; ``others`` has the limits of single paths, ``bodies`` what all of them
    may take at once.

    Bodies with ``Content-Encoding: gzip`` are unpacked, and limited before and after; others get 415.
    """

    def __init__(
        self, app: ASGIApp, max_bytes: int, others: Mapping[str, int], bodies: BodiesInFlight
    ) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.others = others
        self.bodies = bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        client.set(sender := client_of(scope))
        most = self.others.get(scope["path"], self.max_bytes)
        detail = f"the body is larger than {most} bytes"
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length[:20]) > most:
            return await problem(413, detail, headers={"Connection": "close"})(scope, receive, send)
        if length.isdecimal() and int(length) > FREE_BYTES and not self.bodies.fits(sender, int(length)):
            return await problem(429, TOO_MANY, headers=LATER)(scope, receive, send)
        receive = _limit(receive, most, detail)
        encoding = Headers(scope=scope).get("content-encoding", "identity").strip().lower()
        if encoding in GZIP:
            receive = _limit(_Unpacked(receive), most, f"{detail} when it is unpacked")
            # In the same scope, which the access log reads later.
            scope["headers"] = [
                header
                for header in scope["headers"]
                if header[0] not in (b"content-encoding", b"content-length")
            ]
        elif encoding not in ("", "identity"):
            unknown = "the body's Content-Encoding is not gzip"
            return await problem(415, unknown, headers={"Accept-Encoding": ENCODINGS})(scope, receive, send)
        body = _CountedBody(receive, self.bodies, sender)
        try:
            return await self.app(scope, body, send)
        finally:
            body.leave()


TOO_MANY = "too many large requests are being read, of yours or in all; try again later"
LATER = {"Connection": "close", "Retry-After": str(RETRY_AFTER_S)}


class _CountedBody:
    """A body whose bytes count as long as its request is worked on."""

    def __init__(self, receive: Receive, bodies: BodiesInFlight, client: str) -> None:
        self._receive = receive
        self._bodies = bodies
        self._client = client
        self._read = 0
        self._counted = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._read += len(message.get("body", b""))
        if self._read > FREE_BYTES:
            more = self._read - self._counted
            if not self._bodies.fits(self._client, more):
                raise HTTPException(429, TOO_MANY, LATER)
            self._bodies.add(self._client, more)
            self._counted = self._read
        return message

    def leave(self) -> None:
        if self._counted:
            self._bodies.remove(self._client, self._counted)


def _limit(receive: Receive, most: int, detail: str) -> Receive:
    read = 0

    async def count() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            # Of this class, because FastAPI passes it on from reading a body.
            raise HTTPException(413, detail, {"Connection": "close"})
        return message

    return count


class _Unpacked:
    """A body without its gzip, piece by piece: a few kilobytes can unpack to gigabytes."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._member = zlib.decompressobj(wbits=31)
        self._begun = False
        """Whether there is anything at all."""
        self._packed = b""
        self._more = True
        """Whether the client is still sending."""
        self._ended = False
        self._members = 1
        self._unpacked = 0

    async def __call__(self) -> Message:
        """Raises BadBody."""
        while not self._ended:
            if not self._packed and self._more:
                message = await self._receive()
                if message["type"] != "http.request":
                    return message
                self._packed, self._more = message.get("body", b""), message.get("more_body", False)
            if piece := self._unpack():
                await asyncio.sleep(0)  # others, between the pieces of a body that unpacks to many
                return {"type": "http.request", "body": piece, "more_body": True}
            if not self._packed and not self._more:
                if self._begun and not self._member.eof:
                    raise BadBody("the body is broken gzip: it ends too early")
                self._ended = True
                return {"type": "http.request", "body": b"", "more_body": False}
        return await self._receive()

    def _unpack(self) -> bytes:
        if self._member.eof:
            # Another member, or zero bytes, which may follow (RFC 1952).
            self._packed = self._packed.lstrip(b"\0")
            if not self._packed:
                return b""
            # Each is a copy of what is left: millions of empty ones would be minutes of work.
            self._members += 1
            if self._members > MEMBERS + self._unpacked // BYTES_A_MEMBER:
                raise BadBody("the body's gzip has too many members that hold next to nothing")
            self._member = zlib.decompressobj(wbits=31)
        self._begun = self._begun or bool(self._packed)
        try:
            piece = self._member.decompress(self._packed, CHUNK)
        except zlib.error as error:
            raise BadBody(f"the body is broken gzip: {error}") from error
        self._packed = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
        self._unpacked += len(piece)
        return piece
