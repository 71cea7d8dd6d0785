"""Other sites' pages: unless their origin is listed, they read nothing (CORS) and change nothing.

A browser adds by itself what lets its user in here, to a form of any page too. So what is sent from a page of
another site is refused, with keys or without: a service at localhost has no other guard against that.
"""

import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from bioqa.app.http.errors import problem
from bioqa.bioasq.errors import BioqaError

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_ORIGIN = re.compile(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:\d{1,5})?")


class OriginsError(BioqaError):
    """An origin in the settings is none."""


def parse_origins(text: str) -> tuple[str, ...]:
    """Origins, as browsers write them, between commas. Raises OriginsError naming the first that is none."""
    origins = tuple(part.strip() for part in text.split(",") if part.strip())
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise OriginsError(
                f"BIOQA_CORS_ORIGINS: {origin!r} is no origin; one is like https://lab.example.org, "
                "in small letters and with no path"
            )
    return origins


class RefuseForeignForms:
    """403 for what is no mere reading and comes from a page of another origin than the listed ones."""

    def __init__(self, app: ASGIApp, origins: tuple[str, ...]) -> None:
        self.app = app
        self.origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in SAFE and self._foreign(Headers(scope=scope)):
            detail = "this was sent by a page of another site, whose origin is not allowed here"
            return await problem(403, detail)(scope, receive, send)
        return await self.app(scope, receive, send)

    def _foreign(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        if origin in self.origins:
            return False
        # Every browser of today says it itself, where the address is secure; a program does not.
        if (site := headers.get("sec-fetch-site")) is not None:
            return site not in ("same-origin", "none")
        return origin is not None and urlsplit(origin).netloc != headers.get("host")
