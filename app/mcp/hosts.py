"""Which pages may call the MCP server over HTTP: those of its own names, and of this machine."""

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from bioqa.app.http.errors import problem
from bioqa.app.security.hosts import ANY, KnownHosts, host_name
from bioqa.system.proxies import is_local

ADVICE = "the option --allowed-host NAME, or the setting BIOQA_ALLOWED_HOSTS, allows it"


def guard(app: ASGIApp, allowed: Collection[str]) -> ASGIApp:
    """421 for a Host header with another name, 403 for a page of another origin. There are no probes here."""
    return KnownHosts(OwnPages(app, allowed), allowed, True, lambda path: False, ADVICE)


class OwnPages:
    """403 for a page of another origin: it could use what the browser's machine alone may."""

    def __init__(self, app: ASGIApp, allowed: Collection[str]) -> None:
        self.app = app
        self.allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            origin = headers.get("origin")
            if origin is not None and not self._is_own(origin, headers.get("host", "")):
                detail = f"pages from {origin[:200]!r} may not call this server; {ADVICE}"
                return await problem(403, detail)(scope, receive, send)
        return await self.app(scope, receive, send)

    def _is_own(self, origin: str, host: str) -> bool:
        name = host_name(origin)
        if ANY in self.allowed or origin.partition("://")[2] == host or is_local(name):
            return True
        # Not any address, as in a Host header: a page there is another site.
        return bool(name) and name in self.allowed
