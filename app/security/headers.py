"""Security headers of every response.

Strict-Transport-Security is missing on purpose: only a proxy that terminates TLS knows whether it is used.
"""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    # Links lead to PubMed, and an address can contain a question. Not no-referrer: with that, browsers send
    # Origin: null even to this service, and bioqa.app.security.origins needs the origin of forms.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of HTML: only this service's own files, nothing inline, no framing."""

DATA = "default-src 'none'; frame-ancestors 'none'"
"""Content-Security-Policy of everything else."""


class SecurityHeaders:
    def __init__(self, app: ASGIApp, private: bool) -> None:
        """``private``: shared caches must not store responses."""
        self.app = app
        self.private = private

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def adding(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._add(MutableHeaders(scope=message))
            await send(message)

        return await self.app(scope, receive, adding)

    def _add(self, headers: MutableHeaders) -> None:
        headers.update(ALWAYS)
        html = headers.get("content-type", "").startswith("text/html")
        headers["Content-Security-Policy"] = PAGE if html else DATA
        if self.private:
            headers.setdefault("Cache-Control", "private")
