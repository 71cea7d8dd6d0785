"""The run that brings MEDLINE files into an index.

Files count in the order given, whichever is parsed first: the index is the fold of their events, a later
revision replacing an earlier one. NLM's files count by their numbers.

A file becomes visible as a whole, by one commit after it was parsed to its end; then the ledger notes it. If
the run is killed between the two, the file is applied once more, which changes nothing.

A file that was refused at first, or comes late, must not undo what files behind it said. Some back ends see
to that themselves. For the others the files behind it that were loaded before are applied once more, and
only then the ledger notes the late one.
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

from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.loading.folder_target import FolderTarget
from bioqa.indexer.loading.ledger import LoadedFile, order
from bioqa.indexer.loading.parsing import EncodedEvents, Message, Parsed, ParserPool, Refused, Started
from bioqa.indexer.loading.sequence import Step, steps
from bioqa.indexer.loading.target import LoadTarget
from bioqa.indexer.search.base import Applied, Rejection

DEFAULT_WORKERS = max(1, min(8, (os.cpu_count() or 2) - 1))
"""Parsing processes; the one that writes needs about half as much time as they do together."""

MAX_REJECTIONS = 1000
"""How many of the search engine's rejections a report lists."""

MAX_REASONS = 20
"""How many kinds of them a ledger's entry tells apart."""

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class LoadProgress:
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
    """Files of which nothing was kept. The run is a success only if there are none, and no rejections."""
    seconds: float
    reapplied: tuple[str, ...] = ()
    """Files loaded earlier that were applied once more, behind one that came late."""
    rejections: tuple[tuple[str, Rejection], ...] = ()
    """What the search engine did not take, with its file: the first ``MAX_REJECTIONS``."""
    rejections_unlisted: int = 0
    """How many more there are."""

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
    """Load ``files`` into a folder's index, which is made with ``joiner`` if need be, or into a target, which
    has its own joiner and is not closed. ``stop_at_refused``: nothing behind a refused file is loaded.
    ``finish``: no further files follow, so the target is put into the state to be searched in.

    Interrupted in any way, it goes on where it was when called again. Raises ``BioqaError`` if a file is
    missing, if the index cannot be used or its disk is full, or if another process writes there.
    """
    require_files(files)
    if not 1 <= workers <= 64:
        raise BioqaError(f"workers is {workers}; 1 to 64 are possible")
    begun = time.monotonic()
    with ExitStack() as stack:
        if isinstance(where, Path):
            target: LoadTarget = stack.enter_context(closing(FolderTarget(where, joiner)))
        else:
            target = where
        run = _Run(target, steps(files, target.loaded, target.orders_itself, workers), workers, progress)
        run.go(stack, stop_at_refused)
        if finish:
            target.finish()
    return run.report(time.monotonic() - begun)


def require_files(files: Sequence[Path]) -> None:
    """Raises ``BioqaError`` naming those that are missing."""
    if missing := [str(path) for path in files if not path.is_file()]:
        raise BioqaError(f"no such file: {', '.join(missing)}")


class _Run:
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
        self._told = progress
        self._bytes = sum(step.size_bytes for step in sequence)
        self._bytes_before = 0
        self._events = 0
        self._md5s = {entry.md5 for entry in target.loaded}
        self._unnoted: list[LoadedFile] = []
        """Late files, whose successors are not all applied again yet."""
        self._late = False
        """Something was loaded, so that what was loaded before must be applied again behind it."""
        loaded_before = (p for p, step in enumerate(sequence) if _repeatable(step) or step.replaces)
        self._repeatable_to = -1 if target.orders_itself else max(loaded_before, default=-1)
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
        new = self._parsed([s for s in self._steps if s.held is None and not s.refused], stack)
        again: Iterator[Iterator[Message]] | None = None
        for position, step in enumerate(self._steps):
            if step.refused:
                self._refuse(step, step.refused)
            elif step.held is None:
                self._load(position, next(new))
            elif self._late and position <= self._repeatable_to and _repeatable(step):
                if again is None:
                    again = self._parsed([s for s in self._steps[position:] if _repeatable(s)], stack)
                self._repeat(position, next(again))
            else:
                self._known.append(step.name)
            if position == self._repeatable_to:
                self._note()
            self._bytes_before += step.size_bytes
            self._report(position + 1, step.name)
            if self._refused and stop_at_refused:
                break
        for entry in self._unnoted:  # stopped before all behind them was applied again
            self._loaded.remove(entry)

    def _parsed(self, some: Sequence[Step], stack: ExitStack) -> Iterator[Iterator[Message]]:
        target = self._target
        paths = [step.path for step in some]
        pool = ParserPool(paths, target.joiner, self._workers, target.whole_files)
        return stack.enter_context(pool).files()

    def _load(self, position: int, messages: Iterator[Message]) -> None:
        step = self._steps[position]
        started = next(messages)
        if isinstance(started, Started) and started.md5 in self._md5s:
            # The same content twice in one run, or a file that was replaced since it was looked at.
            for _ in messages:
                pass
            self._known.append(step.name)
            return
        end = self._written(position, started, messages)
        if isinstance(end, Refused):
            self._refuse(step, end.reason)
            return
        assert isinstance(started, Started)
        parsed, applied = end
        entry = _entry(step, started, parsed, applied)
        self._late = True
        self._md5s.add(entry.md5)
        self._loaded.append(entry)
        self._list(step.name, applied.rejected)
        self._unnoted.append(entry)
        if position > self._repeatable_to:
            self._note()

    def _repeat(self, position: int, messages: Iterator[Message]) -> None:
        step = self._steps[position]
        started = next(messages)
        same = isinstance(started, Started) and step.held is not None and started.md5 == step.held.md5
        end = self._written(position, started, messages) if same else None
        if end is None or isinstance(end, Refused):
            raise BioqaError(f"{step.path} was changed while files were being loaded; run it again")
        self._list(step.name, end[1].rejected)
        self._repeated.append(step.name)

    def _written(
        self, position: int, started: Message, messages: Iterator[Message]
    ) -> tuple[Parsed, Applied] | Refused:
        """A file written and committed; or nothing of it is kept."""
        step = self._steps[position]
        written = 0
        end: Message = started
        for end in messages:
            if isinstance(end, EncodedEvents):
                self._target.write(end.changes, order(step.number, written))
                written += len(end.changes)
                self._events += len(end.changes)
                self._report(position, step.name, min(end.position, step.size_bytes))
        if isinstance(end, Parsed):
            applied = self._target.commit()
            if applied.events != written:
                raise RuntimeError(f"{step.path}: of {written} events the index answers for {applied.events}")
            return end, applied
        assert isinstance(end, Refused)
        if not self._target.whole_files:
            self._target.rollback()
        return end

    def _note(self) -> None:
        for entry in self._unnoted:
            self._target.note(entry)
        self._unnoted.clear()

    def _refuse(self, step: Step, reason: str) -> None:
        self._refused.append(RefusedFile(step.name, reason))
        if step.replaces:
            # What it said before is in the index, and cannot be applied again behind these.
            for entry in self._unnoted:
                waits = f"{entry.name} waits until {step.name}, loaded before and now refused, is mended"
                self._refused.append(RefusedFile(entry.name, waits))
                self._loaded.remove(entry)
            self._unnoted.clear()

    def _list(self, name: str, rejected: Sequence[Rejection]) -> None:
        room = MAX_REJECTIONS - len(self._rejections)
        self._rejections += [(name, rejection) for rejection in rejected[:room]]
        self._rejections_unlisted += len(rejected[room:])

    def _report(self, done: int, name: str, within: int = 0) -> None:
        if self._told is not None:
            self._told(
                LoadProgress(
                    files_done=done,
                    files=len(self._steps),
                    bytes_done=self._bytes_before + within,
                    bytes=self._bytes,
                    events=self._events,
                    file=name,
                )
            )


def _repeatable(step: Step) -> bool:
    return step.held is not None and not step.copy


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
    """What stands before the first colon tells the kind; what follows, and numbers, differ with documents."""
    reasons = Counter(_NUMBER.sub("N", r.reason.partition(":")[0])[:100] for r in rejected)
    kinds = Counter(dict(reasons.most_common(MAX_REASONS)))
    if rest := reasons.total() - kinds.total():
        kinds["other reasons"] += rest
    return kinds
