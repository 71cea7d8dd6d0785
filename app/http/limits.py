"""Too large bodies are refused before they fill the memory, whether or not they tell their length."""

from collections.abc import Mapping

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bioqa.app.http.errors import problem


class BodyLimit:
    """``others`` gives paths a limit of their own."""

    def __init__(self, app: ASGIApp, max_bytes: int, others: Mapping[str, int]) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        most = self.others.get(scope["path"], self.max_bytes)
        detail = f"the body is larger than {most} bytes"
        said = Headers(scope=scope).get("content-length", "")
        if said.isdecimal() and int(said[:20]) > most:
            return await problem(413, detail, headers={"Connection": "close"})(scope, receive, send)
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                # FastAPI hands on what is raised while it reads a body, if it is of this class.
                raise HTTPException(413, detail, {"Connection": "close"})
            return message

        await self.app(scope, counted, send)
        return None
