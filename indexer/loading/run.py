"""Loading MEDLINE files into an index.

Later files take precedence over earlier ones, in the order given and regardless of which is parsed first;
NLM's files are ordered by their numbers. The index holds the latest revision of each document that is not
deleted.

A file becomes visible as a whole, by one commit after it was parsed to its end. Then it is added to the
ledger. If the run is killed in between, the file is applied again, which changes nothing.

A file that was refused at first, or arrives late, must not override later files. Some back ends ensure this
themselves. For the others, the later files that are loaded already are applied again, and only after that the
late one is added to the ledger.
"""

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bioqa.indexer.loading.folder_target import FolderTarget
from bioqa.indexer.loading.ledger import LoadedFile, order
from bioqa.indexer.loading.parsing import EncodedEvents, Message, Parsed, ParserPool, Refusal, Started
from bioqa.indexer.loading.sequence import Step, candidates, steps, waits_for, with_waits
from bioqa.indexer.loading.target import LoadTarget
from bioqa.indexer.medline.xmlfile import folder_given
from bioqa.indexer.search.base import Applied, Rejection
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import STANDARD

DEFAULT_WORKERS = min(8, os.cpu_count() or 1)
"""Parsing processes. Writing takes half as much time as parsing: a core of its own would be idle."""

MAX_REJECTIONS = 1000
"""Rejections by the search engine that a report lists."""

MAX_REASONS = 20
"""Reasons of rejection that an entry of the ledger counts separately."""

SUSPICIOUS_REJECTIONS = 20
"""If the search engine rejects a file's every event, and there are this many, loading stops."""

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class LoadProgress:
    files_done: int
    files: int
    bytes_done: int
    bytes: int
    events: int
    """Events written in this run so far."""
    file: str
    """Name of the file being written."""


@dataclass(frozen=True, slots=True)
class RefusedFile:
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class LoadReport:
    loaded: tuple[LoadedFile, ...]
    known: tuple[str, ...]
    """Files skipped because their content is loaded already, whatever its name."""
    refused: tuple[RefusedFile, ...]
    """Files of which nothing was kept. The run succeeded only if there are none, and no rejections."""
    seconds: float
    reapplied: tuple[str, ...] = ()
    """Files loaded before that were applied again, because an earlier file arrived late."""
    rejections: tuple[tuple[str, Rejection], ...] = ()
    """File names and records that the search engine rejected: the first ``MAX_REJECTIONS``."""
    rejections_unlisted: int = 0
    """Number of further rejections."""

    @property
    def applied(self) -> Applied:
        return sum((Applied(f.upserted, f.deleted, f.stale) for f in self.loaded), Applied())


def load(
    files: Sequence[Path],
    where: Path | LoadTarget,
    *,
    workers: int = DEFAULT_WORKERS,
    joiner: str = "",
    progress: Callable[[LoadProgress], None] | None = None,
    stop_at_refused: bool = False,
    finish: bool = True,
) -> LoadReport:
    """Load ``files`` into an index.

    ``where`` is a folder, in which an index is created with ``joiner`` if there is none; or a target, which
    has its own joiner and is not closed. With ``stop_at_refused``, nothing after a refused file is loaded.
    With ``finish``, no further files follow, and the target is prepared for searching.

    If interrupted, it resumes when called again with the same files. Raises ``BioqaError`` if a file is
    missing, if the index cannot be used or its disk is full, or if another process writes to it.
    """
    require_files(files)
    if not 1 <= workers <= 64:
        raise BioqaError(f"workers is {workers}; it must be from 1 to 64")
    begun = time.monotonic()
    with ExitStack() as stack:
        if isinstance(where, Path):
            target: LoadTarget = stack.enter_context(closing(FolderTarget(where, joiner)))
        else:
            target = where
        run = _Loading(target, steps(files, target.loaded, target.orders_itself, workers), workers, progress)
        run.go(stack, stop_at_refused)
        if finish:
            target.finish()
    return run.report(time.monotonic() - begun)


def require_files(files: Sequence[Path]) -> None:
    """Raise ``BioqaError``, naming them, if files are missing or cannot be read twice, as loading does."""
    missing = [path for path in files if not path.exists() and str(path) != STANDARD]
    if missing:
        raise BioqaError(f"no such file: {', '.join(map(str, missing))}")
    for path in files:
        if path.is_dir():
            raise BioqaError(folder_given(path))
        if not path.is_file():
            what = "standard input" if str(path) == STANDARD else str(path)
            raise BioqaError(
                f"{what} cannot be loaded, because a file is read twice and noted by its name; "
                "write it to a regular file first"
            )


class _Loading:
    def __init__(
        self,
        target: LoadTarget,
        sequence: Sequence[Step],
        workers: int,
        progress: Callable[[LoadProgress], None] | None,
    ) -> None:
        self._target = target
        self._steps = sequence
        self._workers = workers
        self._progress = progress
        self._bytes = sum(step.size_bytes for step in sequence)
        self._bytes_before = 0
        self._events = 0
        self._md5s = {entry.md5 for entry in target.loaded}
        self._pending: list[LoadedFile] = []
        """Late files that are not in the ledger yet, as not all their successors are applied again."""
        self._must_reapply = False
        """A file was loaded in this run, so files loaded before must be applied again after it."""
        loaded_before = (p for p, step in enumerate(sequence) if _can_reapply(step) or step.replaces)
        self._last_reapplied = -1 if target.orders_itself else max(loaded_before, default=-1)
        """Position of the last step that was loaded before; up to it, new files are late."""
        self._loaded: list[LoadedFile] = []
        self._known: list[str] = []
        self._refused: list[RefusedFile] = []
        self._repeated: list[str] = []
        self._rejections: list[tuple[str, Rejection]] = []
        self._rejections_unlisted = 0

    def report(self, seconds: float) -> LoadReport:
        return LoadReport(
            tuple(self._loaded),
            tuple(self._known),
            tuple(self._refused),
            seconds,
            tuple(self._repeated),
            tuple(self._rejections),
            self._rejections_unlisted,
        )

    def go(self, stack: ExitStack, stop_at_refused: bool) -> None:
        if self._target.orders_itself:
            broken = self._broken(candidates(self._steps, self._target.loaded), stack)
            self._steps = with_waits(self._steps, self._target.loaded, broken)
        new = self._parse([s for s in self._steps if s.entry is None and not s.refused], stack)
        loaded: Iterator[Iterator[Message]] | None = None
        for position, step in enumerate(self._steps):
            if step.refused:
                self._refuse(step, step.refused)
            elif step.entry is None:
                self._load(position, next(new))
            elif self._must_reapply and position <= self._last_reapplied and _can_reapply(step):
                if loaded is None:  # only now: in most runs no file is late
                    loaded = self._parse([s for s in self._steps[position:] if _can_reapply(s)], stack)
                self._reapply(position, next(loaded))
            else:
                self._known.append(step.name)
            if position == self._last_reapplied:
                self._note_pending()
            self._bytes_before += step.size_bytes
            self._report(position + 1, step.name)
            if self._refused and stop_at_refused:
                break
        for entry in self._pending:  # stopped before all their successors were applied again
            self._loaded.remove(entry)

    def _parse(self, steps: Sequence[Step], stack: ExitStack) -> Iterator[Iterator[Message]]:
        target = self._target
        paths = [step.path for step in steps]
        pool = ParserPool(paths, target.joiner, self._workers, target.whole_files)
        return stack.enter_context(pool).files()

    def _broken(self, steps: Sequence[Step], stack: ExitStack) -> dict[str, str]:
        """Parse files without writing them. Returns the names of those that are refused, with the reasons."""
        broken = {}
        for step, messages in zip(steps, self._parse(steps, stack), strict=True):
            for message in messages:
                if isinstance(message, Refusal):
                    broken[step.name] = message.reason
        return broken

    def _load(self, position: int, messages: Iterator[Message]) -> None:
        step = self._steps[position]
        started = next(messages)
        if isinstance(started, Started) and started.md5 in self._md5s:
            # The same content twice in one run, or a file that was replaced since the run was planned.
            for _ in messages:
                pass
            self._known.append(step.name)
            return
        end = self._write(position, started, messages)
        if isinstance(end, Refusal):
            self._refuse(step, end.reason)
            return
        assert isinstance(started, Started)
        parsed, applied = end
        entry = _entry(step, started, parsed, applied)
        self._must_reapply = True
        self._md5s.add(entry.md5)
        self._loaded.append(entry)
        self._list_rejections(step.name, applied.rejected)
        self._pending.append(entry)
        if position > self._last_reapplied:
            self._note_pending()

    def _reapply(self, position: int, messages: Iterator[Message]) -> None:
        step = self._steps[position]
        started = next(messages)
        same = isinstance(started, Started) and step.entry is not None and started.md5 == step.entry.md5
        end = self._write(position, started, messages) if same else None
        if end is None or isinstance(end, Refusal):
            raise BioqaError(f"{step.path} was changed while files were being loaded; run it again")
        self._list_rejections(step.name, end[1].rejected)
        self._repeated.append(step.name)

    def _write(
        self, position: int, started: Message, messages: Iterator[Message]
    ) -> tuple[Parsed, Applied] | Refusal:
        """Write and commit a file. If it is refused, nothing of it is kept."""
        step = self._steps[position]
        written = 0
        end: Message = started
        for end in messages:
            if isinstance(end, EncodedEvents):
                self._target.write(end.events, order(step.number, written))
                written += len(end.events)
                self._events += len(end.events)
                self._report(position, step.name, min(end.position, step.size_bytes))
        if isinstance(end, Parsed):
            applied = self._target.commit()
            if len(applied.rejected) == written >= SUSPICIOUS_REJECTIONS:
                raise BioqaError(
                    f"the index accepts nothing of {step.path}, so the fault is the index's rather than the "
                    f"file's, which is not counted as loaded; the first reason: {applied.rejected[0].reason}"
                )
            if applied.events != written:
                raise RuntimeError(
                    f"{step.path}: {written} events were written, and the index accounts for {applied.events}"
                )
            return end, applied
        assert isinstance(end, Refusal)
        if not self._target.whole_files:
            self._target.rollback()
        return end

    def _note_pending(self) -> None:
        for entry in self._pending:
            self._target.note(entry)
        self._pending.clear()

    def _refuse(self, step: Step, reason: str) -> None:
        self._refused.append(RefusedFile(step.name, reason))
        if step.replaces:
            # Its old content is in the index, and cannot be applied again after the pending files.
            for entry in self._pending:
                self._refused.append(RefusedFile(entry.name, waits_for(entry.name, step.name)))
                self._loaded.remove(entry)
            self._pending.clear()

    def _list_rejections(self, name: str, rejected: Sequence[Rejection]) -> None:
        room = MAX_REJECTIONS - len(self._rejections)
        self._rejections += [(name, rejection) for rejection in rejected[:room]]
        self._rejections_unlisted += len(rejected[room:])

    def _report(self, done: int, name: str, within: int = 0) -> None:
        if self._progress is not None:
            self._progress(
                LoadProgress(
                    files_done=done,
                    files=len(self._steps),
                    bytes_done=self._bytes_before + within,
                    bytes=self._bytes,
                    events=self._events,
                    file=name,
                )
            )


def _can_reapply(step: Step) -> bool:
    return step.entry is not None and not step.duplicate


def _entry(step: Step, started: Started, parsed: Parsed, applied: Applied) -> LoadedFile:
    rejected = Counter(parsed.rejected) + _by_reason(applied.rejected)
    return LoadedFile(
        name=step.name,
        md5=started.md5,
        size_bytes=started.size_bytes,
        records=applied.events + sum(parsed.skipped.values()) + sum(parsed.rejected.values()),
        upserted=applied.upserted,
        deleted=applied.deleted,
        stale=applied.stale,
        skipped=parsed.skipped,
        rejected=dict(rejected),
        loaded_at=datetime.now(UTC).isoformat(timespec="seconds"),
        number=step.number,
    )


def _by_reason(rejected: Sequence[Rejection]) -> Counter[str]:
    """Count rejections by kind, which is the text before the first colon; numbers vary by document."""
    reasons = Counter(_NUMBER.sub("N", r.reason.partition(":")[0])[:100] for r in rejected)
    kinds = Counter(dict(reasons.most_common(MAX_REASONS)))
    if rest := reasons.total() - kinds.total():
        kinds["other reasons"] += rest
    return kinds
