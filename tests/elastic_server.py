"""Starts the real Elasticsearch that lies beside the checkout, and sees to it that none is left behind.

A server runs under a watchdog: this very module as a process. The watchdog waits for the process that owns
the server to be gone, however it went, and then ends the server; a watchdog that is killed takes it along.
"""

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Self

SERVE = Path(__file__).resolve().parents[2] / "shared" / "search-server" / "serve"


def call(url: str, method: str = "GET", body: Any = None, timeout_s: float = 60) -> Any:
    """The server's answer to a plain request, without the client under test. ``body``: JSON, or bytes."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=timeout_s) as reply:
        return json.load(reply)


class ElasticServer:
    """A cluster of one node or several. Without ``folder``, its data are thrown away at the end."""

    def __init__(
        self,
        folder: Path | None = None,
        *settings: str,
        port: int = 0,
        nodes: int = 1,
        owner: int | None = None,
        log: Path | None = None,
    ) -> None:
        """``settings`` are the node's, KEY=VALUE; ``owner`` is the process at whose end the server ends."""
        command = [sys.executable, str(SERVE), "--port", str(port), "--nodes", str(nodes), *settings]
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            command[2:2] = ["--data", str(folder)]
            log = folder / "serve.txt"
        watchdog = [sys.executable, __file__, str(owner or os.getpid()), *command]
        self._watchdog, line = _first_line(watchdog, log or Path(os.devnull))
        if not line.startswith("ready "):
            os.waitpid(self._watchdog, 0)
            raise RuntimeError(f"Elasticsearch did not start: {log.read_text()[-3000:] if log else line}")
        words = line.split()
        self.urls = [word for word in words if word.startswith("http://")]
        self.url = self.urls[0]
        self.pids = [int(pid) for pid in words[-1].removeprefix("pids=").split(",")]

    def kill_node(self, number: int = 0) -> None:
        """End a node as a crash does, and wait until it is gone."""
        node = os.pidfd_open(self.pids[number])
        os.kill(self.pids[number], signal.SIGKILL)
        select.select([node], [], [])
        os.close(node)

    def stop(self) -> None:
        os.kill(self._watchdog, signal.SIGTERM)
        os.waitpid(self._watchdog, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _first_line(command: list[str], errors: Path) -> tuple[int, str]:
    """Start a process that may outlive this one; its id and the first line of its output.

    Not by ``Popen``, which warns of processes left running. In a session of its own: Ctrl-C is for pytest,
    whose tests may need the server to end well.
    """
    reader, writer = os.pipe()
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writer, 1),
        (os.POSIX_SPAWN_OPEN, 2, str(errors), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
    ]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=files, setsid=True)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as output:
        return pid, output.readline()


def settle(url: str, status: str = "yellow", timeout_s: float = 60) -> None:
    """Wait until the cluster is well."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        try:
            if not call(f"{url}/_cluster/health?wait_for_status={status}&timeout=5s")["timed_out"]:
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    raise RuntimeError(f"{url} did not become {status} within {timeout_s} s")


def remove_indices(url: str, prefix: str) -> None:
    """Remove every index whose name begins so, with its aliases."""
    for index in call(f"{url}/_cat/indices/{prefix}*?format=json&expand_wildcards=all"):
        call(f"{url}/{index['index']}", "DELETE")


def watch(owner: int, command: Sequence[str]) -> int:
    """Run ``command`` until it ends, the process ``owner`` is gone, or SIGTERM comes."""

    def end_with_watchdog() -> None:
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG

    owned_by = os.pidfd_open(owner)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=end_with_watchdog)

    def end(_signal: int, _frame: FrameType | None) -> None:
        process.terminate()

    signal.signal(signal.SIGTERM, end)
    select.select([owned_by, os.pidfd_open(process.pid)], [], [])
    process.terminate()
    return process.wait()


if __name__ == "__main__":
    sys.exit(watch(int(sys.argv[1]), sys.argv[2:]))
