"""Waiting for a batch, with patience for a busy machine."""

import time
from collections.abc import Callable
from typing import Any

from fastapi.testclient import TestClient

PATIENCE_S = 60.0


def until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.01)


def finished(client: TestClient, location: str) -> dict[str, Any]:
    """The batch's status once it is finished."""
    seen: dict[str, Any] = {}

    def over() -> bool:
        seen.update(client.get(location).json())
        return seen["state"] not in ("queued", "running")

    until(over, location)
    return seen
