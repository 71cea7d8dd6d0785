"""Protection against other sites' pages: unless their origin is listed, they cannot read or change anything.

A browser adds its user's credentials to requests of any site's page. So requests that change something are
refused if they come from another site's page, with keys or without: a service at localhost has no other
protection against them.
"""

import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from bioqa.app.http.errors import problem
from bioqa.system.errors import BioqaError

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_ORIGIN = re.compile(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:\d{1,5})?")


class OriginsError(BioqaError):
    """An origin in the settings is invalid."""


def parse_origins(text: str) -> tuple[str, ...]:
    """Parse comma-separated origins. Raises OriginsError naming the first invalid one."""
    origins = tuple(part.strip() for part in text.split(",") if part.strip())
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise OriginsError(
                f"BIOQA_CORS_ORIGINS: {origin!r} is not an origin such as https://lab.example.org, "
                "in lower case and without a path"
            )
    return origins


class RefuseForeignForms:
    """Responds 403 to requests other than reads from pages of origins that are not listed."""

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
        # Current browsers send this header to secure addresses; programs do not.
        if (site := headers.get("sec-fetch-site")) is not None:
            return site not in ("same-origin", "none")
        return origin is not None and urlsplit(origin).netloc != headers.get("host")
