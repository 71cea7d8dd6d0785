"""Who may call the MCP server over HTTP: clients that know it by an allowed name, and pages from there."""

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bioqa.app.security.hosts import ANY, host_name, is_allowed
from bioqa.system.proxies import is_local


class AllowedHosts:
    """421 for a Host header with another name, 403 for a page of another origin. There are no keys here."""

    def __init__(self, app: ASGIApp, allowed: Collection[str]) -> None:
        self.app = app
        self.allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(Headers(scope=scope))):
            return await refusal(scope, receive, send)
        return await self.app(scope, receive, send)

    def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if not is_allowed(host, self.allowed):
            return _refused(421, f"The host {host[:200]!r} is not a known name of this server")
        if origin is not None and not self._is_own(origin, host):
            return _refused(403, f"Pages from {origin[:200]!r} may not call this server")
        return None

    def _is_own(self, origin: str, host: str) -> bool:
        name = host_name(origin)
        if ANY in self.allowed or origin.partition("://")[2] == host or is_local(name):
            return True
        # Not any address, as in a Host header: a page there is another site.
        return bool(name) and name in self.allowed


def _refused(status: int, reason: str) -> PlainTextResponse:
    advice = "the option --allowed-host NAME, or the setting BIOQA_ALLOWED_HOSTS, allows it"
    return PlainTextResponse(f"{reason}: {advice}.\n", status)
