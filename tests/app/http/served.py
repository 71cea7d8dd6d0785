"""A service at a real port whose ranker waits for its gate to be opened."""

import json
import signal
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

from bioqa.app.answers.answering import Answerer
from bioqa.app.http.server import server_of
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from tests.app.answers.rankers import Gate, until
from tests.app.engines import local


class Served:
    """A service whose ranker waits for its gate to be opened, in a thread."""

    def __init__(self, answerer: Answerer, drain_s: float = 30, leave_s: float = 0) -> None:
        self.gate = Gate()
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        settings = Settings(port=self.port, drain_s=drain_s, leave_s=leave_s, log_level="warning")
        app = create_app(settings, local(Answerer(answerer.index, self.gate)))
        self.service = app.state.service
        self.server = server_of(app, settings)
        self.thread = threading.Thread(target=self.server.run)

    def ask(self, body: str) -> tuple[int, dict[str, Any]]:
        return self.get("/v1/search", json.dumps({"body": body}).encode())

    def get(self, path: str, data: bytes | None = None) -> tuple[int, dict[str, Any]]:
        url = f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def hang_up(self, body: str) -> None:
        """Ask, and leave when the question is in line."""
        waiting = self.service.queue.waiting
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            content = json.dumps({"body": body}).encode()
            head = f"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(content)}\r\n"
            connection.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + content)
            until(lambda: self.service.queue.waiting > waiting)

    def told_to_end(self) -> None:
        self.server.handle_exit(signal.SIGTERM, None)

    def exits(self) -> bool:
        return self.server.should_exit

    def ends(self) -> bool:
        self.thread.join(30)
        return not self.thread.is_alive()


@contextmanager
def served(
    answerer: Answerer, drain_s: float = 30, leave_s: float = 0
) -> Iterator[tuple[Served, ThreadPoolExecutor]]:
    service = Served(answerer, drain_s, leave_s)
    service.thread.start()
    until(lambda: service.server.started)
    with ThreadPoolExecutor() as threads:
        try:
            yield service, threads
        finally:
            service.gate.open.set()
            service.told_to_end()
            assert service.ends()
