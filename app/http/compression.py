"""Which responses are compressed: all that starlette would, unless their length can betray something."""

import re

from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

SMALLEST = 1000
"""Bytes. What is shorter fits into one packet anyway."""

LEVEL = 5
"""zlib's level. Answers are a few per cent larger than with level 9, which takes twice the time."""

_REFUSED = re.compile(r"\bgzip\s*;\s*q\s*=\s*0(\.0*)?\s*(,|$)", re.IGNORECASE)


class Compression(GZipMiddleware):
    """Compresses nothing for a page of another site, nor for a client that refuses gzip ("gzip;q=0").

    An attacker who makes a victim's browser send requests with text of the attacker's choice, and sees how
    long the encrypted responses are, can guess what else is in them (BREACH, 2013). No response has an API
    key in it; but a list of batches is private too, and is sent to whoever comes with the browser's stored
    key. Browsers say in Sec-Fetch-Site whose page has caused a request.
    """

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, SMALLEST, LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        foreign = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if foreign or _REFUSED.search(headers.get("accept-encoding", "")) or scope["type"] != "http":
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)
