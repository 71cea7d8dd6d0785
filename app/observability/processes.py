"""What the processes of the service use together: this one, and those that it started, which rank and parse.

From /proc, so on Linux alone. The memory is the proportional set size: a page that several processes share,
as those of an index do, counts once. The sum of their resident sets would count it for each.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")

_PARENT, _TIMES = 1, slice(11, 15)
"""Fields of /proc/PID/stat after the name: parent; time as user and system, then that of ended children."""


class ProcessUsage(NamedTuple):
    processes: int
    memory_bytes: int
    processor_s: float
    """Also what those used that have ended: it never decreases."""


def usage(pid: int | None = None, proc: Path = PROC) -> ProcessUsage | None:
    """What a process (None: this one) and its descendants use; None if that cannot be known."""
    stats = dict(_stats(proc))
    family = _descendants(os.getpid() if pid is None else pid, stats)
    try:
        memory = sum(_memory_bytes(proc, member) for member in family)
    except OSError:
        return None
    ticks = sum(sum(map(int, stats[member][_TIMES])) for member in family)
    return ProcessUsage(len(family), memory, ticks / os.sysconf("SC_CLK_TCK")) if family else None


def _stats(proc: Path) -> Iterator[tuple[int, list[str]]]:
    for entry in proc.glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            # The name is in parentheses, and may contain some.
            yield int(entry.name), (entry / "stat").read_text().rpartition(")")[2].split()


def _descendants(pid: int, stats: dict[int, list[str]]) -> list[int]:
    if pid not in stats:
        return []
    children = [child for child, stat in stats.items() if int(stat[_PARENT]) == pid]
    return [pid, *(member for child in children for member in _descendants(child, stats))]


def _memory_bytes(proc: Path, pid: int) -> int:
    try:
        lines = (proc / str(pid) / "smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
