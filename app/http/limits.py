"""Refuse bodies that are too large before they fill the memory, with or without Content-Length."""

from collections.abc import Mapping

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bioqa.app.http.errors import problem


class BodyLimit:
    """Limits bodies to ``max_bytes``; ``others`` has the limits of single paths."""

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
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                # Of this class, because FastAPI passes it on from reading a body.
                raise HTTPException(413, detail, {"Connection": "close"})
            return message

        await self.app(scope, counted, send)
        return None
