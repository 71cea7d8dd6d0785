"""A running service under load: milliseconds a question at several concurrencies, and of /healthz meanwhile.

    python -m bench.serving --index DIR --questions FILE [--ranker NAME]... [--concurrency 1 8 32]
        [--batch-questions 1 8] [--seconds 10]

The service is a process of its own, and so are its settings: BIOQA_… in the environment reach it. Clients ask
one question after the other, each over a connection of its own. The service's processor time a question
hardly depends on what else the machine does; all else does.
"""

import argparse
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median, quantiles

from bioqa.bioasq.files import read_golden
from bioqa.models.bundled import DEFAULT

WARM_UP_S = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--ranker", action="append", default=[])
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--batch-questions", type=int, nargs="+", default=[1])
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    bodies = [response.question.body for response in read_golden(options.questions).responses]
    for ranker in options.ranker or [DEFAULT]:
        for batch in options.batch_questions:
            settings = {"BIOQA_INDEX": options.index, "BIOQA_RANKER": ranker}
            if batch > 1:  # processes rank one question each
                settings |= {"BIOQA_RANKING_PROCESSES": "0", "BIOQA_BATCH_QUESTIONS": str(batch)}
            with serve(settings) as service:
                Load(service, bodies, 1).run(WARM_UP_S)
                for clients in options.concurrency:
                    load = Load(service, bodies, clients)
                    load.run(options.seconds)
                    print(f"{Path(ranker).name}, batches of {batch}, {clients:2} clients: {load}", flush=True)


@dataclass(frozen=True, slots=True)
class Served:
    port: int
    pid: int


@contextmanager
def serve(settings: dict[str, str]) -> Iterator[Served]:
    """A service of its own process, ready."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    settings = {"BIOQA_PORT": str(port), "BIOQA_LOG_LEVEL": "warning", **settings}
    command = [sys.executable, "-c", "from bioqa.app.cli import main; main()", "serve"]
    with subprocess.Popen(command, env={**os.environ, **settings}) as process:
        try:
            while not _ready(port):
                if process.poll() is not None:
                    raise SystemExit("the service did not start")
                time.sleep(0.1)
            yield Served(port, process.pid)
        finally:
            process.terminate()


def _ready(port: int) -> bool:
    try:
        return ask(http.client.HTTPConnection("127.0.0.1", port, timeout=60), "/readyz") == 200
    except OSError:
        return False


def ask(connection: http.client.HTTPConnection, path: str, body: str | None = None) -> int:
    method = "GET" if body is None else "POST"
    content = None if body is None else json.dumps({"body": body})
    connection.request(method, path, content, {"Content-Type": "application/json"})
    response = connection.getresponse()
    response.read()
    return response.status


class Load:
    """So many clients for so long."""

    def __init__(self, service: Served, bodies: Sequence[str], clients: int) -> None:
        self._port = service.port
        self._pid = service.pid
        self._bodies = bodies
        self._clients = clients
        self._next = count()
        self._ends = 0.0
        self._spent = 0.0
        self._processor_s = 0.0
        self.questions: list[float] = []
        """Milliseconds of each answer."""
        self.health: list[float] = []
        self.refused = 0

    def run(self, seconds: float) -> None:
        begun, used = time.monotonic(), _processor_s(self._pid)
        self._ends = begun + seconds
        threads = [threading.Thread(target=self._client) for _ in range(self._clients)]
        threads.append(threading.Thread(target=self._watch))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._spent = time.monotonic() - begun
        self._processor_s = _processor_s(self._pid) - used

    def _client(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        while time.monotonic() < self._ends:
            # Of an iterator in C, so that no two clients get the same.
            body = self._bodies[next(self._next) % len(self._bodies)]
            begun = time.perf_counter()
            status = ask(connection, "/v1/search", body)
            if status == 200:
                self.questions.append(1000 * (time.perf_counter() - begun))
            else:
                self.refused += 1

    def _watch(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        while time.monotonic() < self._ends:
            begun = time.perf_counter()
            ask(connection, "/healthz")
            self.health.append(1000 * (time.perf_counter() - begun))
            time.sleep(0.05)

    def __str__(self) -> str:
        rate = len(self.questions) / self._spent
        each = 1000 * self._processor_s / max(1, len(self.questions))
        refused = f", {self.refused} refused" if self.refused else ""
        return (
            f"{_figures(self.questions)}, {rate:.1f} a second, {each:.0f} ms of processor each{refused}; "
            f"/healthz {_figures(self.health)}, at most {max(self.health):.0f}"
        )


def _processor_s(pid: int) -> float:
    # Behind the name, which may hold anything: the 12th and 13th numbers (proc(5)).
    numbers = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def _figures(milliseconds: Sequence[float]) -> str:
    high = quantiles(milliseconds, n=20)[-1] if len(milliseconds) > 1 else milliseconds[0]
    return f"p50 {median(milliseconds):.1f} p95 {high:.1f} ms"


if __name__ == "__main__":
    main()
