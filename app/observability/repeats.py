"""Log lines that repeat are counted, not written again and again: a flood must not fill the disk."""

import logging
import re
import threading
import time
from dataclasses import dataclass

WRITTEN = 10
"""So many lines of one kind are written in a period; of the others only the number."""

PERIOD_S = 10.0
MOST_KINDS = 1000

_NUMBERS = re.compile(r"\d+")


@dataclass(slots=True)
class _Kind:
    since: float
    lines: int = 0


class CountRepeats(logging.Filter):
    """A handler's filter. Of warnings and errors that are of one kind (the same logger, level and message,
    whatever the numbers in it) it lets ``WRITTEN`` pass in each period; the first line of the next period
    says how many were left out. Lines below a warning, each of them wanted, always pass.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[tuple[str, int, str], _Kind] = {}
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        now = time.monotonic()
        name = (record.name, record.levelno, _NUMBERS.sub("0", str(record.msg))[:200])
        with self._lock:
            kind = self._kinds.get(name)
            if kind is None:
                self._make_room(now)
                kind = self._kinds[name] = _Kind(now)
            left_out = 0
            if now - kind.since >= PERIOD_S:
                left_out = max(0, kind.lines - WRITTEN)
                kind.since, kind.lines = now, 0
            kind.lines += 1
            passes = kind.lines <= WRITTEN
            is_last = kind.lines == WRITTEN
        if left_out:
            _append(record, f" ({left_out} more like this since the last one)")
        if is_last:
            _append(record, f" (more like this are only counted for {PERIOD_S:g} s)")
        return passes

    def _make_room(self, now: float) -> None:
        if len(self._kinds) >= MOST_KINDS:
            self._kinds = {n: kind for n, kind in self._kinds.items() if now - kind.since < PERIOD_S}
        if len(self._kinds) >= MOST_KINDS:
            self._kinds.clear()


def _append(record: logging.LogRecord, text: str) -> None:
    record.msg, record.args = record.getMessage() + text, None
