"""The run that brings MEDLINE files into an index.

Files count in the order given, whichever is parsed first: the index is the fold of their events, a later
revision replacing an earlier one. MEDLINE numbers its files in the order in which they must be applied, so
their names sorted are the right order.

A file becomes visible as a whole, by one commit after it was parsed to its end; then the ledger notes it. If
the run is killed between the two, the file is applied once more, which changes nothing.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bioasq.errors import BioqaError
from indexer.ledger import Ledger, LoadedFile
from indexer.parsing import Known, Parsed, ParserPool, Refused, Started
from indexer.search.base import Applied
from indexer.search.tantivy import TantivyIndex

DEFAULT_WORKERS = max(1, min(8, (os.cpu_count() or 2) - 1))
"""Parsing processes; the one that writes needs about half as much time as they do together."""


@dataclass(frozen=True, slots=True)
class Progress:
    files_done: int
    files: int
    bytes_done: int
    bytes: int
    events: int
    """Applied in this run so far."""
    file: str
    """The file being applied."""


@dataclass(frozen=True, slots=True)
class RefusedFile:
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class LoadReport:
    loaded: tuple[LoadedFile, ...]
    known: tuple[str, ...]
    """Files left out because the index holds their content already, under whatever name."""
    refused: tuple[RefusedFile, ...]
    """Files of which nothing was kept. The run is a success only if there are none."""
    seconds: float

    @property
    def applied(self) -> Applied:
        return sum((Applied(f.upserted, f.deleted, f.stale) for f in self.loaded), Applied())


def load(
    files: Sequence[Path],
    folder: Path,
    *,
    workers: int = DEFAULT_WORKERS,
    joiner: str = "",
    progress: Callable[[Progress], None] | None = None,
) -> LoadReport:
    """Load ``files`` in this order into the index in ``folder``, which is made if need be.

    Interrupted in any way, it goes on where it was when called again. Raises ``BioqaError`` if a file is
    missing, if the folder cannot be used or its disk is full, or if another process writes there.
    """
    if missing := [str(path) for path in files if not path.is_file()]:
        raise BioqaError(f"no such file: {', '.join(missing)}")
    if not 1 <= workers <= 64:
        raise BioqaError(f"workers is {workers}; 1 to 64 are possible")
    begun = time.monotonic()
    with TantivyIndex.create(folder, joiner) as index:
        index.lock()
        ledger = Ledger.open(folder)
        run = _Run(index, ledger, files, progress)
        with ParserPool(files, joiner, ledger.md5s(), workers) as parsers:
            for number in range(len(files)):
                run.apply_file(number, parsers)
    return LoadReport(tuple(run.loaded), tuple(run.known), tuple(run.refused), time.monotonic() - begun)


class _Run:
    def __init__(
        self,
        index: TantivyIndex,
        ledger: Ledger,
        files: Sequence[Path],
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.loaded: list[LoadedFile] = []
        self.known: list[str] = []
        self.refused: list[RefusedFile] = []
        self._index = index
        self._ledger = ledger
        self._files = files
        self._sizes = [path.stat().st_size for path in files]
        self._progress = progress
        self._events = 0

    def apply_file(self, number: int, parsers: ParserPool) -> None:
        name = self._files[number].name
        started = Started("", 0)
        twice = False
        applied = Applied()
        for message in parsers.messages(number):
            match message:
                case Started(md5=md5):
                    started = message
                    # The processes know what was there when the run began; not what it has loaded since.
                    twice = md5 in self._ledger.md5s()
                case list() if not twice:
                    applied += self._index.write(message)
                    self._events += len(message)
                    self._report(number, name)
                case Parsed() if not twice:
                    self._finish(name, started, applied, message)
                case Parsed() | Known():
                    self.known.append(name)
                case Refused(reason=reason):
                    self._index.rollback()
                    self.refused.append(RefusedFile(name, reason))
        self._report(number + 1, name)

    def _finish(self, name: str, started: Started, applied: Applied, parsed: Parsed) -> None:
        self._index.commit()
        events = applied.upserted + applied.deleted + applied.stale
        entry = LoadedFile(
            name=name,
            md5=started.md5,
            size_bytes=started.size_bytes,
            records=events + sum(parsed.skipped.values()) + sum(parsed.rejected.values()),
            upserted=applied.upserted,
            deleted=applied.deleted,
            stale=applied.stale,
            skipped=parsed.skipped,
            rejected=parsed.rejected,
            loaded_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self._ledger.append(entry)
        self.loaded.append(entry)

    def _report(self, done: int, name: str) -> None:
        if self._progress is not None:
            self._progress(
                Progress(
                    files_done=done,
                    files=len(self._files),
                    bytes_done=sum(self._sizes[:done]),
                    bytes=sum(self._sizes),
                    events=self._events,
                    file=name,
                )
            )
