"""Small servers for tests: a proxy that asks for credentials, speaks TLS or fails when told to, and one that
answers as search engines of other makes and versions do."""

import json
import re
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

PRODUCT = {"X-Elastic-Product": "Elasticsearch"}


def api_key(key: str) -> str:
    return f"ApiKey {key}"


def basic(user: str, password: str) -> str:
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


@dataclass(frozen=True, slots=True)
class Seen:
    """A request, as it came."""

    method: str
    path: str
    authorization: str | None


@dataclass(slots=True)
class Fault:
    """What happens to the next ``times`` requests whose ``METHOD path`` the pattern is found in."""

    pattern: str
    times: int
    status: int | None
    delay_s: float
    drop: bool
    answered: bool


class HttpServer:
    """A threaded HTTP server on a free port of this machine; ``respond`` says what it does with a request."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.seen: list[Seen] = []
        self._server = _Server(self, tls)
        self.port = self._server.server_address[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def respond(self, request: "Handler", body: bytes) -> None:
        raise NotImplementedError

    def paths(self, pattern: str = "") -> list[str]:
        """The requests so far that the pattern is found in, as ``METHOD path``."""
        lines = [f"{seen.method} {seen.path}" for seen in self.seen]
        return [line for line in lines if re.search(pattern, line)]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """From now on nothing listens on the port."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.end()


class Proxy(HttpServer):
    """Passes requests on to ``target``.

    ``allowed``: what the ``Authorization`` header may be, with a pattern of the requests (``METHOD path``)
    that it permits; others are answered as Elasticsearch answers them, by 401 or 403.
    """

    def __init__(
        self, target: str, *, allowed: Mapping[str, str] | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        super().__init__(tls)
        self.target = target
        self._allowed = allowed
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def fail(
        self,
        pattern: str = "",
        *,
        times: int = 1,
        status: int | None = None,
        delay_s: float = 0,
        drop: bool = False,
        answered: bool = False,
    ) -> None:
        """The next ``times`` requests that the pattern is found in are answered with ``status``, after
        ``delay_s``, or not at all: ``drop`` breaks the connection. With ``answered``, which goes with the
        two, only the answer is lost: the server has done its work."""
        with self._lock:
            self._faults.append(Fault(pattern, times, status, delay_s, drop, answered))

    def mend(self) -> None:
        """No more faults."""
        with self._lock:
            self._faults.clear()

    def respond(self, request: "Handler", body: bytes) -> None:
        if refusal := self._refusal(request):
            request.answer(*refusal)
            return
        if fault := self._fault(request):
            if fault.answered:
                request.forward(self.target, body)
            time.sleep(fault.delay_s)
            if fault.drop:
                request.drop()
                return
            if fault.status is not None:
                request.answer(fault.status, _error("injected_exception", "injected", fault.status))
                return
        if reply := request.forward(self.target, body):
            request.pass_on(*reply)
        else:
            request.drop()

    def _refusal(self, request: "Handler") -> tuple[int, Any] | None:
        if self._allowed is None:
            return None
        given = request.headers["Authorization"]
        if given not in self._allowed:
            reason = f"unable to authenticate with provided credentials for REST request [{request.path}]"
            return 401, _error("security_exception", reason, 401)
        if not re.search(self._allowed[given], f"{request.command} {request.path}"):
            return 403, _error("security_exception", "action is unauthorized for user [tester]", 403)
        return None

    def _fault(self, request: "Handler") -> Fault | None:
        with self._lock:
            for fault in self._faults:
                if fault.times > 0 and re.search(fault.pattern, f"{request.command} {request.path}"):
                    fault.times -= 1
                    return fault
        return None


class Garbling(Proxy):
    """Changes the bodies of the answers to some requests: into other JSON, or into bytes."""

    pattern = "^$"
    change: Callable[[Any], Any] = staticmethod(lambda answer: answer)

    def respond(self, request: "Handler", body: bytes) -> None:
        if not re.search(self.pattern, f"{request.command} {request.path}"):
            super().respond(request, body)
            return
        reply = request.forward(self.target, body)
        assert reply is not None
        changed = self.change(json.loads(reply[1]))
        if isinstance(changed, bytes):
            request.pass_on(reply[0], changed)
        else:
            request.answer(200, changed)


class FakeEngine(HttpServer):
    """Says of itself what the engines of that version say, and knows nothing else."""

    def __init__(self, version: str, *, product: bool = True, distribution: str | None = None) -> None:
        super().__init__()
        self._headers = PRODUCT if product else {}
        self._about: dict[str, Any] = {
            "name": "fake",
            "cluster_name": "fake",
            "version": {"number": version} | ({"distribution": distribution} if distribution else {}),
            "tagline": "You Know, for Search",
        }

    def respond(self, request: "Handler", body: bytes) -> None:
        accepted = re.search(r"compatible-with=(\d+)", request.headers.get("Accept", ""))
        major = int(self._about["version"]["number"].split(".")[0])
        if self._headers and accepted and int(accepted[1]) > major:
            # An older server does not know the media type of a newer client, and says just that.
            reason = f"Invalid media-type value on headers [Accept]: compatible-with={accepted[1]}"
            request.answer(400, _error("media_type_header_exception", reason, 400), self._headers)
        elif request.path == "/":
            request.answer(200, self._about, self._headers)
        else:
            request.answer(404, _error("index_not_found_exception", "no such index", 404), self._headers)


def _error(kind: str, reason: str, status: int) -> dict[str, Any]:
    cause = {"type": kind, "reason": reason}
    return {"error": {"root_cause": [cause], **cause}, "status": status}


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    server: "_Server"
    _upstream: HTTPConnection | None = None

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (ConnectionError, ssl.SSLError):
            self.close_connection = True

    def finish(self) -> None:
        if self._upstream is not None:
            self._upstream.close()
        super().finish()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def _respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.owner.seen.append(Seen(self.command, self.path, self.headers["Authorization"]))
        self.server.owner.respond(self, body)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _respond

    def forward(self, target: str, body: bytes) -> tuple[HTTPResponse, bytes] | None:
        """The target's reply; None if there is none."""
        if self._upstream is None:
            self._upstream = HTTPConnection(urlsplit(target).netloc, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        try:
            self._upstream.request(self.command, self.path, body, headers)
            reply = self._upstream.getresponse()
            return reply, reply.read()
        except (OSError, HTTPException):
            self._upstream.close()
            return None

    def pass_on(self, reply: HTTPResponse, body: bytes) -> None:
        self.send_response_only(reply.status)
        for name, value in reply.getheaders():
            if name.lower() not in {"transfer-encoding", "content-length"}:
                self.send_header(name, value)
        length = reply.getheader("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self, status: int, body: Any, headers: Mapping[str, str] = PRODUCT) -> None:
        data = json.dumps(body).encode()
        self.send_response_only(status)
        for name, value in {**headers, "Content-Type": "application/json"}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def drop(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, owner: HttpServer, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.owner = owner
        self._connections: set[socket.socket] = set()
        if tls is not None:
            # The handshake is left to the connection's thread: a client that breaks it off harms no other.
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients break off, in tests on purpose."""

    def end(self) -> None:
        self.server_close()
        for connection in list(self._connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                connection.close()
