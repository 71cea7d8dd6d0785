"""What an index of any size takes to open, to search and to filter: see ``bench.large``."""

import os
import re
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bioqa.app.answers.facets import facets_of
from bioqa.app.settings import MAX_CANDIDATES
from bioqa.bioasq.domain import DEFAULT_DOCUMENTS
from bioqa.bioasq.files import read_golden
from bioqa.indexer.search.filtering.filters import Filters
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.indexer.search.tantivy.segments import files

TOP = 100
ASKED = 100
"""Questions of each measurement. An index that is not in memory is asked six tenths of them, as each is cold
but once; counts are asked for by three tenths."""

FILTERS = {
    "of a year": Filters(published_after=date(2015, 1, 1), published_before=date(2016, 1, 1)),
    "since 1990": Filters(published_after=date(1990, 1, 1)),
    "reviews": Filters(types=("Review",)),
    "randomised trials": Filters(types=("Randomized Controlled Trial",)),
    "Humans": Filters(headings=("Humans",)),
    "three filters": Filters(published_after=date(1990, 1, 1), types=("Review",), headings=("Humans",)),
}

Times = list[tuple[float, float]]
"""Milliseconds of each question: by the clock, and of the processor in this thread."""


def measure(folder: Path, golden: Path, asked: int = ASKED) -> dict[str, Any]:
    """All measurements of one index."""
    questions = [response.question.body for response in read_golden(golden).responses][:asked]
    forget(folder)
    begun = time.perf_counter()
    with TantivyIndex.open(folder) as index:
        opened_cold = time.perf_counter() - begun
        cold = time_questions(lambda question: index.search(question, TOP), questions[: 6 * asked // 10])
        time_questions(lambda question: index.search(question, TOP), questions)
        found: dict[str, Times] = {
            "top 100": time_questions(lambda question: index.search(question, TOP), questions),
            "ten best": time_questions(lambda question: index.search(question, DEFAULT_DOCUMENTS), questions),
            "counted": time_questions(index.count, questions),
            "read": time_questions(index.read, questions),
        }
        for name, filters in FILTERS.items():
            found[name] = time_questions(_with_filters(index, filters), questions)
        found["facets"] = time_questions(
            lambda question: facets_of(index.describe(question, MAX_CANDIDATES)),
            questions[: 3 * asked // 10],
        )
        found["newest"] = time_questions(
            lambda _: index.newest(Filters(types=("Review",)), TOP), questions[: 3 * asked // 10]
        )
        begun = time.perf_counter()
        stats = index.stats()
        counted = time.perf_counter() - begun
        memory = {kind: own_memory(kind) for kind in ("RssAnon", "RssFile")}
    begun = time.perf_counter()
    TantivyIndex.open(folder).close()
    opened = time.perf_counter() - begun
    sizes = by_suffix(folder)
    segments = len({path.name.partition(".")[0] for path in files(folder)})
    milliseconds = {name: summed_up(times) for name, times in (("cold", cold), *found.items())}
    return {
        "what": "measure",
        "documents": stats.documents,
        "bytes": stats.size_bytes,
        "sizes": sizes,
        "segments": segments,
        "opened_ms": 1000 * opened,
        "opened_cold_ms": 1000 * opened_cold,
        "stats_ms": 1000 * counted,
        "memory": memory,
        "load": os.getloadavg()[0],
        "milliseconds": milliseconds,
    }


def time_questions(ask: Callable[[str], object], questions: Sequence[str]) -> Times:
    times = []
    for question in questions:
        wall, busy = time.perf_counter(), time.thread_time()
        ask(question)
        times.append((1000 * (time.perf_counter() - wall), 1000 * (time.thread_time() - busy)))
    return times


def summed_up(times: Times) -> dict[str, float]:
    """Milliseconds: p50 and p95 by the clock and of the processor."""
    wall, busy = zip(*times, strict=True)
    return {
        "p50": median(wall),
        "p95": quantiles(wall, n=20)[-1],
        "busy_p50": median(busy),
        "busy_p95": quantiles(busy, n=20)[-1],
    }


def cell(summary: dict[str, float]) -> str:
    """p50 / p95 by the clock, and in brackets of the processor."""
    p50, p95, busy_p50, busy_p95 = (f"{summary[name]:.3g}" for name in ("p50", "p95", "busy_p50", "busy_p95"))
    return f"{p50} / {p95} ({busy_p50} / {busy_p95})"


def forget(folder: Path) -> None:
    """Drop the index's files from the system's cache; what another process has mapped stays there."""
    for path in files(folder):
        if path.exists():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)


def by_suffix(folder: Path) -> dict[str, int]:
    """Bytes of the committed segments, by kind of file."""
    sizes: dict[str, int] = {}
    for path in files(folder):
        if path.exists():
            kind = path.suffix.removeprefix(".")
            sizes[kind] = sizes.get(kind, 0) + path.stat().st_size
    return sizes


def own_memory(kind: str) -> int:
    """Bytes of this process, of a kind of /proc/self/status: RssAnon is its own, RssFile mapped files."""
    found = re.search(rf"{kind}:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    return int(found[1]) * 1024 if found else 0


def _with_filters(index: TantivyIndex, filters: Filters) -> Callable[[str], object]:
    return lambda question: index.search(question, TOP, filters)
