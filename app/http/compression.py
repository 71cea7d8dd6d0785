"""Compress responses with gzip where that is worth it, and where their length can betray nothing."""

import zlib
from collections.abc import Iterable

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SMALLEST = 1000
"""Bytes. What is shorter fits into one packet anyway."""

LARGEST = 16_000_000
"""Bytes. A body is held whole, once more than it would be otherwise, so what is longer is sent as it is."""

INLINE = 32_000
"""Bytes that are compressed in the event loop: half a millisecond. More are left to a thread."""

LEVEL = 5
"""Of zlib. Answers are a few per cent larger than with level 9, which takes twice the time."""

TYPES = ("text/", "application/", "image/svg+xml")
"""Nothing of these types is served that is compressed already."""


class Compression:
    """Compresses a response whose length is known; streams, which are sent piece by piece, are left alone.

    An attacker who makes a victim's browser send requests with text of the attacker's choice, and sees how
    long the encrypted responses are, can guess what else is in them (BREACH, 2013). No response has an API
    key in it; but a list of batches is private too, and is sent to whoever comes with the browser's stored
    key. So nothing is compressed for a request that a page of another site has caused, which browsers say in
    Sec-Fetch-Site.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        headers = Headers(scope=scope)
        foreign = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        accepted = accepts_gzip(headers.getlist("accept-encoding"))
        return await self.app(scope, receive, _Compressing(send, accepted and not foreign))


class _Compressing:
    def __init__(self, send: Send, accepted: bool) -> None:
        self._send = send
        self._accepted = accepted
        self._held: Message | None = None
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_worth_it(message):
            # Caches must know that there are two forms, whichever this is.
            MutableHeaders(scope=message).add_vary_header("Accept-Encoding")
            if self._accepted:
                self._held = message
                return
        elif message["type"] == "http.response.body" and self._held is not None:
            self._body += message.get("body", b"")
            if message.get("more_body"):
                return
            start, self._held = self._held, None
            body = bytes(self._body)
            packed = _packed(body) if len(body) <= INLINE else await to_thread.run_sync(_packed, body)
            _describe(start, len(packed))
            await self._send(start)
            message = {**message, "body": packed}
        await self._send(message)


def accepts_gzip(values: Iterable[str]) -> bool:
    """Whether a client takes gzip, by its Accept-Encoding (RFC 9110, 12.5.3): "gzip;q=0" says no."""
    weights = {}
    for item in ",".join(values).lower().split(","):
        coding, _, parameter = item.partition(";")
        name, _, weight = parameter.partition("=")
        weights[coding.strip()] = weight.strip() if name.strip() == "q" else "1"
    chosen = weights.get("gzip", weights.get("x-gzip", weights.get("*", "0")))
    try:
        return float(chosen) > 0
    except ValueError:
        return False


def _is_worth_it(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    length = headers.get("content-length", "")
    return (
        start["status"] not in (204, 206, 304)
        and length.isdecimal()
        and SMALLEST <= int(length) <= LARGEST
        and headers.get("content-type", "").startswith(TYPES)
        and "content-encoding" not in headers
    )


def _packed(body: bytes) -> bytes:
    packing = zlib.compressobj(LEVEL, wbits=31)
    return packing.compress(body) + packing.flush()


def _describe(start: Message, length: int) -> None:
    headers = MutableHeaders(scope=start)
    headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(length)
    # A strong one promises the same bytes.
    if (tag := headers.get("etag")) and not tag.startswith("W/"):
        headers["ETag"] = f"W/{tag}"
