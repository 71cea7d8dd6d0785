"""Refuse bodies that are too large before they fill the memory, with or without Content-Length and gzip."""

import zlib
from collections.abc import Mapping

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bioqa.app.http.errors import BadBody, problem

CHUNK = 65_536
"""Bytes that are unpacked at once."""

GZIP = ("gzip", "x-gzip")
ENCODINGS = "gzip, identity"


class BodyLimit:
    """Limits bodies to ``max_bytes``; ``others`` has the limits of single paths.

    Bodies with ``Content-Encoding: gzip`` are unpacked, and limited before and after; others get 415.
    """

    def __init__(self, app: ASGIApp, max_bytes: int, others: Mapping[str, int]) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        most = self.others.get(scope["path"], self.max_bytes)
        detail = f"the body is larger than {most} bytes"
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length[:20]) > most:
            return await problem(413, detail, headers={"Connection": "close"})(scope, receive, send)
        receive = _limited(receive, most, detail)
        encoding = Headers(scope=scope).get("content-encoding", "identity").strip().lower()
        if encoding in GZIP:
            receive = _limited(_Unpacked(receive), most, f"{detail} when it is unpacked")
            # In the same scope, which the access log reads later.
            scope["headers"] = [
                each for each in scope["headers"] if each[0] not in (b"content-encoding", b"content-length")
            ]
        elif encoding not in ("", "identity"):
            unknown = "the body's Content-Encoding is not gzip"
            return await problem(415, unknown, headers={"Accept-Encoding": ENCODINGS})(scope, receive, send)
        return await self.app(scope, receive, send)


def _limited(receive: Receive, most: int, detail: str) -> Receive:
    read = 0

    async def counted() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            # Of this class, because FastAPI passes it on from reading a body.
            raise HTTPException(413, detail, {"Connection": "close"})
        return message

    return counted


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

    async def __call__(self) -> Message:
        """Raises BadBody."""
        while not self._ended:
            if not self._packed and self._more:
                message = await self._receive()
                if message["type"] != "http.request":
                    return message
                self._packed, self._more = message.get("body", b""), message.get("more_body", False)
            if piece := self._unpack():
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
            self._member = zlib.decompressobj(wbits=31)
        self._begun = self._begun or bool(self._packed)
        try:
            piece = self._member.decompress(self._packed, CHUNK)
        except zlib.error as error:
            raise BadBody(f"the body is broken gzip: {error}") from error
        self._packed = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
        return piece
