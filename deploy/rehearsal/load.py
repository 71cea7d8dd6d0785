"""Clients that ask without a pause, and count what they get."""

import http.client
import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

QUESTIONS = (
    "Which antibodies block PCSK9?",
    "Is metformin a first-line treatment of type 2 diabetes?",
    "statins and myopathy",
    "treatment of asthma",
)


def request(port: int, path: str, body: Any = None, timeout_s: float = 120) -> tuple[int, Any]:
    """Status and answer; JSON if it is JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        data = None if body is None else json.dumps(body)
        headers = {"Content-Type": "application/json"} if data else {}
        connection.request("POST" if data else "GET", path, data, headers)
        answer = connection.getresponse()
        text = answer.read()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text.decode(errors="replace")
    finally:
        connection.close()


def ask(port: int, question: str = QUESTIONS[0]) -> dict[str, Any]:
    status, answer = request(port, "/v1/search", {"body": question})
    if status != 200:
        raise ValueError(f"{status}: {answer}")
    return dict(answer)


@dataclass
class Load:
    """Within ``with``, four clients ask."""

    port: int
    clients: int = 4
    statuses: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        self._threads = [threading.Thread(target=self._ask, args=(n,)) for n in range(self.clients)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, number: int) -> None:
        while not self._ended.is_set():
            begun = time.monotonic()
            try:
                status = str(request(self.port, "/v1/search", {"body": QUESTIONS[number % 4]})[0])
            except (OSError, http.client.HTTPException) as error:
                status = type(error).__name__
            self.times.append(time.monotonic() - begun)
            self.statuses[status] += 1
            self._ended.wait(0.1)

    def summary(self) -> str:
        """Must be called after ``with``."""
        total = sum(self.statuses.values())
        others = {status: count for status, count in self.statuses.items() if status != "200"}
        ordered = sorted(self.times)
        middle, last = ordered[len(ordered) // 2], ordered[-1]
        failed = f", others {others}" if others else ""
        return (
            f"{self.statuses['200']} of {total} questions answered{failed}, median {1000 * middle:.0f} ms, "
            f"slowest {last:.1f} s"
        )

    @property
    def failed(self) -> int:
        return sum(count for status, count in self.statuses.items() if status != "200")
