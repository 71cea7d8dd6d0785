"""What locust's clients do: ask one real question after the other. ``bench.load`` runs it."""

import json
import os
import random
import time
from pathlib import Path
from typing import Any

from locust import FastHttpUser, constant, events, task

_BODIES: list[str] = json.loads(Path(os.environ["BIOQA_LOAD_QUESTIONS"]).read_text(encoding="utf-8"))
_seen: list[tuple[float, float, int]] = []


class Client(FastHttpUser):
    wait_time = constant(0)
    network_timeout = 120.0
    connection_timeout = 120.0

    def on_start(self) -> None:
        # Each client in an order of its own.
        self.bodies = random.sample(_BODIES, len(_BODIES))
        self.asked = 0

    @task
    def ask(self) -> None:
        body = self.bodies[self.asked % len(self.bodies)]
        self.asked += 1
        self.client.post("/v1/search", json={"body": body})


@events.request.add_listener
def _note(response_time: float, response: Any, **_: Any) -> None:
    # Locust's own percentiles are rounded to two digits. 0: there was no answer at all.
    _seen.append((time.time(), response_time, getattr(response, "status_code", 0) or 0))


@events.quitting.add_listener
def _write(**_: Any) -> None:
    Path(os.environ["BIOQA_LOAD_RESULTS"]).write_text(json.dumps(_seen), encoding="utf-8")
