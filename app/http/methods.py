"""HEAD wherever there is GET, with the same status and headers (RFC 9110, 9.3.2): probes ask so."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAsGet:
    """Answers HEAD as GET, without the body. FastAPI's routes know GET alone."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        is_head = scope["method"] == "HEAD"

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 405:
                _add_head(MutableHeaders(scope=message))
            elif message["type"] == "http.response.body" and is_head:
                message = {**message, "body": b""}
            await send(message)

        # In the same scope, which the access log reads later.
        scope["method"] = "GET" if is_head else scope["method"]
        try:
            await self.app(scope, receive, sending)
        finally:
            scope["method"] = "HEAD" if is_head else scope["method"]
        return None


def _add_head(headers: MutableHeaders) -> None:
    allowed = [method.strip() for method in headers.get("allow", "").split(",")]
    if "GET" in allowed and "HEAD" not in allowed:
        headers["Allow"] = ", ".join([*allowed, "HEAD"])
