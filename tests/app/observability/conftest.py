"""A service that is watched, and its log."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from bioqa.app.observability.logs import JsonFormatter, mark


class Lines(logging.Handler):
    """What is logged, as a collector of logs gets it."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonFormatter())
        self.addFilter(mark)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith("httpx"):  # the client's
            self.texts.append(self.format(record))

    def of(self, logger: str) -> list[dict[str, Any]]:
        return [line for line in map(json.loads, self.texts) if line["logger"] == logger]


@pytest.fixture
def lines() -> Iterator[Lines]:
    """Everything that any logger says, from debug on."""
    root, handler = logging.getLogger(), Lines()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield handler
    root.setLevel(level)
    root.removeHandler(handler)
