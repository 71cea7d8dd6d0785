"""A service under the load of many clients for long: throughput, latency, statuses, memory, /healthz.

    python -m bench.load --index DIR --questions GOLDEN [--seconds 300] [--clients 32]

Service, clients (locust) and this watcher are processes of their own on one machine: what the clients take,
the service lacks. Settings in the environment (BIOQA_…) reach the service. Needs bench/requirements.txt.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

import psutil

from bench.serving import WARM_UP_S, Load, Served, ask, serve
from bioqa.bioasq.files import read_golden
from bioqa.models.bundled import DEFAULT

WATCH_EVERY_S = 0.2
SETTLE_S = 5.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--ranker", default=DEFAULT)
    options = parser.parse_args()
    bodies = [response.question.body for response in read_golden(options.questions).responses]
    settings = {"BIOQA_INDEX": options.index, "BIOQA_RANKER": options.ranker}
    with serve(settings) as service, tempfile.TemporaryDirectory() as folder:
        Load(service, bodies, 1).run(WARM_UP_S)
        before = megabytes(service)
        with Watch(service) as watch:
            seen = attack(service, bodies, options.clients, options.seconds, Path(folder))
        time.sleep(SETTLE_S)
        after = megabytes(service)
    report(seen, options.clients)
    print(f"/healthz meanwhile           {figures(watch.health)}")
    print(f"memory of the service (PSS)  before {before:.0f}, at most {max(watch.memory):.0f}, ", end="")
    print(f"at the end {watch.memory[-1]:.0f}, {SETTLE_S:.0f} s later {after:.0f} MB")


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that one of locust's clients made."""

    ended: float
    milliseconds: float
    status: int
    """0: there was no answer at all."""


def attack(service: Served, bodies: list[str], clients: int, seconds: int, folder: Path) -> list[Seen]:
    asked, results = folder / "questions.json", folder / "results.json"
    asked.write_text(json.dumps(bodies), encoding="utf-8")
    names = {"BIOQA_LOAD_QUESTIONS": str(asked), "BIOQA_LOAD_RESULTS": str(results)}
    command = [sys.executable, "-m", "locust", "--headless", "--only-summary"]
    command += ["--locustfile", str(Path(__file__).with_name("locustfile.py"))]
    command += ["--users", str(clients), "--spawn-rate", str(clients), "--run-time", f"{seconds}s"]
    command += ["--stop-timeout", "60", "--exit-code-on-error", "0"]
    command += ["--host", f"http://127.0.0.1:{service.port}"]
    done = subprocess.run(command, check=False, env={**os.environ, **names}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"locust failed:\n{done.stderr[-3000:]}")
    return [Seen(*each) for each in json.loads(results.read_text(encoding="utf-8"))]


def report(seen: list[Seen], clients: int) -> None:
    statuses = Counter(each.status for each in seen)
    answered = [each.milliseconds for each in seen if each.status == 200]
    begun = min(each.ended - each.milliseconds / 1000 for each in seen)
    seconds = max(each.ended for each in seen) - begun
    shown = ", ".join(f"{status or 'no answer'}: {number}" for status, number in sorted(statuses.items()))
    print(f"{clients} clients, {seconds:.1f} s: {len(answered) / seconds:.1f} answers a second; {shown}")
    print(f"answers                      {figures(answered)}")
    if refused := [each.milliseconds for each in seen if each.status != 200]:
        print(f"refusals                     {figures(refused)}")


def figures(milliseconds: list[float]) -> str:
    if len(milliseconds) < 2:
        return "none"
    cut = quantiles(milliseconds, n=100, method="inclusive")
    return (
        f"p50 {cut[49]:.1f}, p95 {cut[94]:.1f}, p99 {cut[98]:.1f}, at most {max(milliseconds):.1f} ms "
        f"(of {len(milliseconds)})"
    )


def processes(service: Served) -> list[psutil.Process]:
    parent = psutil.Process(service.pid)
    return [parent, *parent.children(recursive=True)]


def megabytes(service: Served) -> float:
    """Memory of all its processes; what they share is counted once (proportional set size)."""
    total = 0.0
    for process in processes(service):
        with suppress(psutil.NoSuchProcess):
            total += process.memory_full_info().pss
    return total / 1e6


class Watch:
    """Looks at the memory, and asks /healthz unless told not to, all the while."""

    def __init__(self, service: Served, every_s: float = WATCH_EVERY_S, probe: bool = True) -> None:
        self.health: list[float] = []
        """Milliseconds."""
        self.memory: list[float] = []
        self._service = service
        self._every_s = every_s
        self._probe = probe
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def _watch(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._service.port, timeout=120)
        while not self._ends.wait(self._every_s):
            if self._probe:
                begun = time.perf_counter()
                status = ask(connection, "/healthz")
                self.health.append(1000 * (time.perf_counter() - begun))
                assert status == 200, f"/healthz answered {status}"
            self.memory.append(megabytes(self._service))


if __name__ == "__main__":
    main()
