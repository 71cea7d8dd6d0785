"""Give each request an identifier, a log line, an entry in the metrics and, if traces are on, a span."""

import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bioqa.app.answers.context import request_id
from bioqa.app.observability.logs import FACTS

HEADER = "X-Request-ID"
USABLE_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
"""Also the rule of the proxy (deploy/haproxy.cfg)."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"
"""Replaces unknown methods and addresses in logs and metrics: clients can invent any number of them."""

CLIENT_GONE = 499
"""Status of a request whose client disconnected before the response; the number is nginx's."""

log = logging.getLogger("bioqa.access")


class Finished(Protocol):
    """Called with each request when it is finished."""

    def __call__(self, method: str, route: str, status: int, seconds: float) -> None: ...


Spans = Callable[[Scope], AbstractContextManager[Callable[[str, str, int], None]]]
"""Makes a span around a request; the function it yields gets method, route and status at the end."""


def no_spans(scope: Scope) -> AbstractContextManager[Callable[[str, str, int], None]]:
    return nullcontext(lambda method, route, status: None)


class Observed:
    """Outermost middleware, so that refusals and unexpected errors are observed too.

    Unexpected errors are answered here, not by Starlette's ServerErrorMiddleware outside of it, whose
    response would have no identifier. They are still raised, for the server to log with a traceback.
    """

    def __init__(
        self, app: ASGIApp, finished: Finished, is_quiet: Callable[[str], bool], spans: Spans = no_spans
    ) -> None:
        """Requests for quiet paths make no spans; successful ones are logged at debug level only."""
        self.app = app
        self.finished = finished
        self.is_quiet = is_quiet
        self.spans = spans

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        given = Headers(scope=scope).get(HEADER, "")
        scope.setdefault("state", {})
        # Not reset: the server logs unexpected errors in this context after this method has ended.
        request_id.set(given if USABLE_ID.fullmatch(given) else secrets.token_hex(16))
        quiet = self.is_quiet(scope["path"])
        with no_spans(scope) if quiet else self.spans(scope) as end_span:
            begun, answering = time.perf_counter(), _Answering(send)
            try:
                await self._answer(scope, receive, answering)
            finally:
                seconds = time.perf_counter() - begun
                method = scope["method"] if scope["method"] in METHODS else OTHER
                route = route_of(scope)
                end_span(method, route, answering.status)
                self.finished(method, route, answering.status, seconds)
                self._log(scope, method, route, answering.status, seconds)
        return None

    async def _answer(self, scope: Scope, receive: Receive, answering: "_Answering") -> None:
        try:
            await self.app(scope, receive, answering.send)
        except Exception as error:
            if answering.status == CLIENT_GONE:
                handled = scope["app"].exception_handlers[Exception](Request(scope, receive), error)
                fault: Response = await handled if isinstance(handled, Awaitable) else handled
                await fault(scope, receive, answering.send)
            raise

    def _log(self, scope: Scope, method: str, route: str, status: int, seconds: float) -> None:
        quiet = self.is_quiet(scope["path"]) and status < 400
        key = scope["state"].get("key")
        facts = {
            "method": method,
            "route": route,
            "status": status,
            "ms": round(1000 * seconds, 1),
            "key": key.name if key else None,
            "batch": scope["state"].get("batch"),
            "client": (scope.get("client") or (None,))[0],
        }
        log.log(
            logging.DEBUG if quiet else logging.INFO, "%s %s %d", method, route, status, extra={FACTS: facts}
        )


class _Answering:
    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = CLIENT_GONE

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)[HEADER] = request_id.get() or ""
        await self._send(message)


def route_of(scope: Scope) -> str:
    """Return the route's template: there are few, and they contain nothing of a question."""
    if path := getattr(scope.get("route"), "path", None):
        return str(path)
    # A mounted application, such as a folder of files, is one route.
    return str(scope["root_path"]) if scope.get("app_root_path") is not None and scope["root_path"] else OTHER
