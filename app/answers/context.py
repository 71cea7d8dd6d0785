"""The request in whose name something is done, for log lines, wherever it is done."""

from contextvars import ContextVar

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The identifier of the request that is answered at the moment, if any is."""

trace_id: ContextVar[str | None] = ContextVar("trace_id", default=None)
"""The identifier of its trace, in hexadecimal, if traces are made."""

client: ContextVar[str | None] = ContextVar("client", default=None)
"""Who sent the request: a key or a network, as limits count them."""

Origin = tuple[str | None, str | None]
"""Identifiers of a request and its trace, to be carried into another process."""


def origin() -> Origin:
    return request_id.get(), trace_id.get()


def set_origin(origin: Origin) -> None:
    request_id.set(origin[0])
    trace_id.set(origin[1])
