"""HTTP/1.1 as uvicorn speaks it, with bounds on connections and on how long a request may take to arrive.

uvicorn times out connections that are idle between requests, and no others: one that never sends a byte,
never the end of its headers or body, or never reads its response, stays for good, before any key is asked
for. And once the process has no file descriptors left, no probe gets through. So a request has to arrive in
time, its response has to get away, and a network has a limited number of connections. When all are used up, a
new connection takes the place of the one that has been idle longest, or else of the one that has waited
longest for its client to read; some more are kept for probes.
"""

import asyncio
import logging
import resource
import socket
from collections import Counter
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from bioqa.app.http.clients import network

PROBES_AT_ONCE = 16
"""Connections beyond the limit, for probes alone."""

PROBES = tuple(f"{method} {path} ".encode() for method in ("GET", "HEAD") for path in ("/healthz", "/readyz"))

FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 26\r\n"
    b"retry-after: 5\r\nconnection: close\r\n\r\ntoo many connections open\n"
)

UNSENT_BYTES = 65_536

RESERVED_DESCRIPTORS = 128
"""For the index's segments, batches, logs and pipes, beside connections."""

log = logging.getLogger("bioqa")


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    connections: int = 1000
    """In all."""
    per_address: int = 100
    headers_s: float = 10.0
    """Until a request's headers are there, from the connection's start or a later request's first byte."""
    body_s: float = 60.0
    """From there to the end of its body."""
    send_s: float = 30.0
    """Within which something of a response that waits must get away."""

    def within_descriptors(self) -> "ConnectionLimits":
        """With no more connections than the process may open descriptors for."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < hard:
            soft = min(hard, max(soft, self.connections + RESERVED_DESCRIPTORS))
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return replace(self, connections=max(1, min(self.connections, soft - RESERVED_DESCRIPTORS)))


class Connections:
    """All open connections of one server. Belongs to its event loop."""

    def __init__(self, limits: ConnectionLimits, proxies: Container[str] = ()) -> None:
        """``proxies``: addresses that stand for many clients, and so have no limit of their own."""
        self.limits = limits
        self.refused = 0
        """Connections closed at once, because there were too many."""
        self.dropped = 0
        """Idle connections closed to make room for new ones."""
        self.timed_out = 0
        """Requests that did not arrive in time, and responses that did not get away."""
        self._proxies = proxies
        self._of_network: Counter[str] = Counter()
        self._open: set[BoundedProtocol] = set()
        self._idle: dict[BoundedProtocol, None] = {}
        """Connections without a whole request, the longest idle first."""
        self._unread: dict[BoundedProtocol, None] = {}
        """Connections whose client does not read its response, the longest first."""

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, connection: "BoundedProtocol", address: str | None) -> bool:
        """Whether there is room for it; one that does nothing may be closed to make some."""
        counted = None if address is None else network(address)
        if (
            counted is not None
            and address not in self._proxies
            and self._of_network[counted] >= self.limits.per_address
        ):
            self.refused += 1
            log.warning("connections refused: %s has %d open", counted, self.limits.per_address)
            return False
        if len(self._open) >= self.limits.connections:
            self._make_room()
        if len(self._open) >= self.limits.connections + PROBES_AT_ONCE:
            self.refused += 1
            log.warning("connections refused: %d are open, all at work", len(self._open))
            return False
        connection.for_probes = len(self._open) >= self.limits.connections
        self._open.add(connection)
        self._idle[connection] = None
        if counted is not None:
            self._of_network[counted] += 1
        return True

    def _make_room(self) -> None:
        longest = next(iter(self._idle), None) or next(iter(self._unread), None)
        if longest is not None:
            self.dropped += 1
            longest.drop()
            self.leave(longest, longest.address)

    def leave(self, connection: "BoundedProtocol", address: str | None) -> None:
        """Has no effect on one that was not admitted, or has left."""
        if connection not in self._open:
            return
        self._open.discard(connection)
        self._idle.pop(connection, None)
        self._unread.pop(connection, None)
        if address is not None:
            counted = network(address)
            self._of_network[counted] -= 1
            if not self._of_network[counted]:
                del self._of_network[counted]

    def busy(self, connection: "BoundedProtocol") -> None:
        self._idle.pop(connection, None)

    def idle(self, connection: "BoundedProtocol") -> None:
        if connection in self._open:
            self._idle[connection] = None

    def unread(self, connection: "BoundedProtocol", *, is_unread: bool) -> None:
        """Note whether a part of its response waits for the client to read."""
        if not is_unread:
            self._unread.pop(connection, None)
        elif connection in self._open:
            self._unread.setdefault(connection)


class BoundedProtocol(H11Protocol):
    """One connection."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        connections: Connections,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.address: str | None = None
        self._all = connections
        self._deadline: asyncio.TimerHandle | None = None
        self._awaits = ""
        """What has to arrive before the deadline: "headers", "body", or nothing."""
        self._began = False
        """Whether anything arrived of what has to."""
        self.for_probes = False
        """Whether it is beyond the limit, and may only ask for a probe."""
        self._sending: asyncio.TimerHandle | None = None
        self._waiting_bytes = 0
        """Bytes of responses that the client had not read when that was last looked at."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = self.client[0] if self.client else None
        if not self._all.admit(self, self.address):
            transport.abort()
            return
        # Otherwise the kernel takes megabytes for a slow client at a time, and nothing seems to get away.
        with suppress(AttributeError, OSError):  # not on this system
            connected = transport.get_extra_info("socket")
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
        self._await("headers")

    def connection_lost(self, exc: Exception | None) -> None:
        self._await("")
        if self._sending is not None:
            self._sending.cancel()
        self._all.leave(self, self.address)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.for_probes and not data.startswith(PROBES):
            self._all.refused += 1
            self.transport.write(FULL)
            self.transport.close()
            return
        if not self._awaits and self._waits_for_request():
            self._await("headers")
        self._began = True
        super().data_received(data)
        self._look()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_sending()

    def on_response_complete(self) -> None:
        self._watch_sending()
        # What it does first may begin with the next request, if that is here already.
        super().on_response_complete()
        if self._waits_for_request():
            self._all.idle(self)
        self._look()

    def _watch_sending(self) -> None:
        """Close the connection if nothing of what waits to be sent gets away in time."""
        waiting = self.transport.get_write_buffer_size()
        self._all.unread(self, is_unread=waiting > 0)
        if waiting and self._sending is None:
            self._waiting_bytes = waiting
            self._sending = self.loop.call_later(self._all.limits.send_s, self._look_at_sending)

    def _look_at_sending(self) -> None:
        self._sending = None
        if 0 < self._waiting_bytes <= self.transport.get_write_buffer_size():
            self._all.timed_out += 1
            self.transport.abort()
        else:
            self._watch_sending()

    def drop(self) -> None:
        """Close it without a word: it holds no whole request."""
        self._await("")
        self.transport.abort()

    def _waits_for_request(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _look(self) -> None:
        """Wait for what has to come next."""
        if self._waits_for_request():
            if self._awaits == "body":
                self._await("")
            return
        self._all.busy(self)
        if self.cycle.more_body:
            if self._awaits != "body":
                self._await("body")
        else:
            self._await("")

    def _await(self, what: str) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._awaits, self._began = what, False
        if what:
            limits = self._all.limits
            seconds = limits.headers_s if what == "headers" else limits.body_s
            self._deadline = self.loop.call_later(seconds, self._too_late)

    def _too_late(self) -> None:
        self._deadline = None
        if self.transport.is_closing():
            return
        self._all.timed_out += 1
        # To one that said nothing, nothing is said.
        if (self._began or self._awaits == "body") and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._say_timeout(f"the request's {self._awaits} did not arrive in time\n".encode())
        self.transport.close()

    def _say_timeout(self, text: bytes) -> None:
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(text)).encode()),
            (b"connection", b"close"),
        ]
        for event in (
            h11.Response(status_code=408, headers=headers, reason=b"Request Timeout"),
            h11.Data(data=text),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
