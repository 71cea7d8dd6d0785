"""The hosts of a cluster: which one is asked, and how one that does not answer is left alone.

A host may drop packets (its machine is off, a cable is cut, a firewall), or hang. With the client's own
rules, each request to such a host waits for the whole time limit of a request, and every few seconds another
one tries it again. Here

- connecting has a limit of its own. Nothing has been sent by then: any request may go to another host;
- a host that failed gets no request of this process until a watcher has had an answer from it;
- a host that takes long over a request is asked by the watcher whether it answers at all. If it does not, the
  requests that wait for it are broken off, and the client repeats them at another host. A host that is merely
  slow goes on, as another one would take as long;
- the last host is never given up.
"""

import json
import logging
import re
import threading
import time
import weakref
from builtins import TimeoutError as SocketTimeout
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR, socket
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from elastic_transport import ConnectionError as ConnectionFailed
from elastic_transport import (
    ConnectionTimeout,
    HttpHeaders,
    NodeConfig,
    NodePool,
    TransportError,
    Urllib3HttpNode,
)
from elastic_transport.client_utils import DEFAULT, DefaultType
from urllib3.exceptions import ConnectTimeoutError

if TYPE_CHECKING:
    from elastic_transport._node import NodeApiResponse

CONNECT_S = 1.0
"""Time limit for connecting: a round trip or two, with TLS four, however much the server has to do."""

CONNECT_ALONE_S = 3.5
"""The same for an only host: a first packet that was lost is sent again after one second and after three."""

SUSPECT_AFTER_S = 1.0
"""After so long without an answer, the watcher asks whether the host answers anything. Most are faster."""

PING_S = 2.0
"""Time limit for an answer to that."""

WATCH_EVERY_S = 0.5

UNAVAILABLE = (502, 503, 504)
"""Status codes of a proxy without a server behind it, or of a server that is starting."""

_SEARCHES = re.compile(r"/(_search|_mget|_termvectors/[^/?]+)$")
"""Paths of requests that take a preference as a parameter of their address."""

log = logging.getLogger("bioqa")


class _Node(Urllib3HttpNode):
    """A host whose connections are made within ``connect_s``, and can be broken off."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self.connect_s = CONNECT_S
        self._connections: weakref.WeakSet[Any] = weakref.WeakSet()
        self._opening = threading.Lock()
        self.pool.ConnectionCls = _limit_connecting(self.pool.ConnectionCls, self)

    def perform_request(self, *request: Any, **options: Any) -> "NodeApiResponse":
        try:
            return super().perform_request(*request, **options)
        except ConnectionTimeout as error:
            if not isinstance(error.errors[0], ConnectTimeoutError):
                raise
            # Another kind of error: this one may be repeated whatever the request does, as none was sent.
            raise ConnectionFailed("no connection in time", errors=error.errors) from error

    def note_opened(self, connection: Any) -> None:
        with self._opening:
            self._connections.add(connection)

    def break_off(self) -> None:
        """End all connections; who waits for an answer gets ``ConnectionFailed``."""
        with self._opening:
            connections = list(self._connections)
        for connection in connections:
            if (opened := connection.sock) is not None:
                with suppress(OSError):
                    # The socket's own method: TLS's would first drop what the waiting thread is using.
                    socket.shutdown(opened, SHUT_RDWR)


def _limit_connecting(kind: Any, node: _Node) -> Any:
    """A class of connections, HTTP's or HTTPS', that connect within the node's limit."""

    class LimitedConnection(kind):  # type: ignore[misc]
        timeout: float | None

        def connect(self) -> None:
            limit: float | None = self.timeout
            self.timeout = node.connect_s if limit is None else min(limit, node.connect_s)
            try:
                super().connect()
            except SocketTimeout as error:  # of TLS' handshake
                raise ConnectTimeoutError(self, f"no handshake within {self.timeout} s") from error
            finally:
                self.timeout = limit
            # Sending the body has the request's limit: it would have that of connecting.
            self.sock.settimeout(limit)
            node.note_opened(self)

    return LimitedConnection


class Host(_Node):
    """A host of a cluster."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self.dead = False
        """Gets no request while another host is there."""
        self.closed = False
        self.silent = False
        """Whether it did not answer when it was last asked."""
        self.preference = ""
        """Which nodes its searches prefer; empty: any."""
        self._preferring_since = 0.0
        self._broken_off = 0.0
        self._node_id = ""
        self._authorization = HttpHeaders()
        self._waiting: dict[object, float] = {}
        # With a connection of its own, as requests that wait may hold all others.
        self._probe = _Node(config)

    def perform_request(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: HttpHeaders | None = None,
        request_timeout: DefaultType | float | None = DEFAULT,
    ) -> "NodeApiResponse":
        if headers is not None and "authorization" in headers:
            self._authorization["authorization"] = headers["authorization"]
        if self.preference:
            target, body = prefer(self.preference, target, body)
        with self._note_waiting():
            return super().perform_request(method, target, body, headers, request_timeout)

    @contextmanager
    def _note_waiting(self) -> Iterator[None]:
        request = object()
        self._waiting[request] = time.monotonic()
        try:
            yield
        finally:
            del self._waiting[request]

    def close(self) -> None:
        self.closed = True
        self._probe.close()
        super().close()

    def is_suspect(self) -> bool:
        """Whether a request has waited for long."""
        begun = min(self._waiting.copy().values(), default=float("inf"))
        return time.monotonic() - begun > SUSPECT_AFTER_S

    def look(self, others: bool) -> None:
        """Ask the host whether it answers, and note it. ``others``: whether there is another to be asked."""
        if self._answers():
            if self.silent:
                log.warning("Elasticsearch at %s answers again", self.base_url)
            self.dead = self.silent = False
            return
        if not self.silent:
            log.warning("Elasticsearch at %s does not answer; it is left alone until it does", self.base_url)
        self.silent = True
        self.dead = self.dead or others

    def prefer(self, preference: str) -> None:
        self.preference, self._preferring_since = preference, time.monotonic()

    def spare(self) -> None:
        """Break off requests without a preference that have waited for long: for another node, as this host
        answers. It is not left alone."""
        oldest = min(self._waiting.copy().values(), default=float("inf"))
        if self.preference and oldest < self._preferring_since and self.is_suspect():
            self._broken_off = time.monotonic()
            self.break_off()

    def is_spared(self) -> bool:
        return time.monotonic() - self._broken_off < SUSPECT_AFTER_S

    def node_id(self) -> str:
        """Of the node behind it; empty if it does not say. Node names are no preference."""
        if not self._node_id:
            with suppress(TransportError, ValueError, KeyError, TypeError, AttributeError):
                answer = self._probe.perform_request(
                    "GET",
                    "/_nodes/_local?filter_path=nodes.*.name",
                    headers=self._authorization,
                    request_timeout=PING_S,
                )
                (self._node_id,) = json.loads(answer.body)["nodes"]
        return self._node_id

    def _answers(self) -> bool:
        """Whether there is any answer, such as that credentials are missing, as they are here."""
        try:
            answer = self._probe.perform_request("GET", "/", request_timeout=PING_S)
        except TransportError:
            return False
        return answer.meta.status not in UNAVAILABLE


class Hosts(NodePool):
    """The hosts of a cluster, for the client. All threads of a process share what is known of them."""

    def __init__(self, node_configs: list[NodeConfig], **options: Any) -> None:
        super().__init__(node_configs, **options)
        self._hosts = [host for host in self.all() if isinstance(host, Host)]
        if len(self._hosts) == 1:
            self._hosts[0].connect_s = CONNECT_ALONE_S
        self._preference = ""
        self._watcher: threading.Thread | None = None
        self._starting = threading.Lock()

    def get(self) -> Host:
        if len(self._hosts) == 1:
            return self._hosts[0]
        self._watch()
        alive = [host for host in self._hosts if not host.dead]
        host = self.node_selector.select(alive or self._hosts)
        assert isinstance(host, Host)
        return host

    def mark_dead(self, node: Any, _now: float | None = None) -> None:
        node.dead = not node.is_spared()

    def mark_live(self, node: Any) -> None:
        node.dead = False

    @property
    def closed(self) -> bool:
        return all(host.closed for host in self._hosts)

    def look(self) -> None:
        """Ask the hosts that failed whether they answer; and all, if somebody waits for one: it may wait for
        another one's node itself."""
        # Those first that keep somebody waiting.
        suspects = [host for host in self._hosts if host.is_suspect()]
        for host in [*suspects, *(host for host in self._hosts if host not in suspects)]:
            if host.dead or suspects:
                host.look(others=any(not other.dead for other in self._hosts if other is not host))
                # First, as what is broken off is repeated at once.
                self._prefer_those_that_answer()
                if host.dead:
                    host.break_off()
        for host in self._hosts:
            if not host.dead:
                host.spare()

    def _prefer_those_that_answer(self) -> None:
        alive = [host for host in self._hosts if not host.dead]
        nodes = [host.node_id() for host in alive] if any(host.silent for host in self._hosts) else []
        # One that does not say which it is would be left out.
        preference = f"_prefer_nodes:{','.join(nodes)}" if nodes and all(nodes) else ""
        if preference != self._preference:
            self._preference = preference
            for host in self._hosts:
                host.prefer(preference)

    def _watch(self) -> None:
        with self._starting:
            # A process that was forked has no watcher yet.
            if self._watcher is None or not self._watcher.is_alive():
                self._watcher = threading.Thread(
                    target=_keep_looking, args=(weakref.ref(self),), name="elastic-hosts", daemon=True
                )
                self._watcher.start()


def prefer(preference: str, target: str, body: bytes | None) -> tuple[str, bytes | None]:
    """The target and the body of a request, with nodes preferred in place of what it prefers itself. Only
    searches and look-ups take a preference."""
    path, _, parameters = target.partition("?")
    if path.endswith("/_msearch") and body is not None:
        # Of lines, every other one is the header of a search.
        lines = body.split(b"\n")
        for number in range(0, len(lines) - 1, 2):
            header = {**json.loads(lines[number] or b"{}"), "preference": preference}
            lines[number] = json.dumps(header).encode()
        return target, b"\n".join(lines)
    if not _SEARCHES.search(path):
        return target, body
    kept = [pair for pair in parameters.split("&") if pair and not pair.startswith("preference=")]
    return f"{path}?{'&'.join([*kept, f'preference={quote(preference)}'])}", body


def _keep_looking(reference: "weakref.ref[Hosts]") -> None:
    """Look until the client is closed, or forgotten."""
    while True:
        time.sleep(WATCH_EVERY_S)
        hosts = reference()
        if hosts is None or hosts.closed:
            return
        try:
            hosts.look()
        except Exception:  # a dead host would stay dead
            log.exception("the hosts of Elasticsearch could not be looked at")
        del hosts
