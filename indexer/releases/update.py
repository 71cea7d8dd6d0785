"""Bringing an index up to date with what NLM publishes.

The release that serves is updated in place with its own year's update files. For a new year, or on demand, a
release is built beside it. The new release serves only when it has all files of the source, so that documents
deleted meanwhile stay deleted, and when its checks pass.

If interrupted, an update resumes when called again.
"""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice

from bioqa.indexer.loading.ledger import LoadedFile
from bioqa.indexer.loading.run import DEFAULT_WORKERS, LoadProgress, RefusedFile, load
from bioqa.indexer.loading.target import LoadTarget
from bioqa.indexer.releases.checks import Check, ReleaseContent, release_checks, share_checks
from bioqa.indexer.releases.fetching import fetch_ahead
from bioqa.indexer.releases.planning import Plan, changed_files, make_plan, year_of
from bioqa.indexer.releases.shelf import Choice, Lock, Release, Shelf, choose, to_drop
from bioqa.indexer.releases.source import FetchedFile, PublishedFile, Source
from bioqa.system.errors import BioqaError

FILES_PER_LOAD = 50
"""Files loaded by one call of ``load``, while the next ones are fetched."""

PARALLEL_FETCHES = 3
"""Files fetched concurrently; few, out of courtesy to NLM's site."""


@dataclass(frozen=True, slots=True)
class UpdateOptions:
    rebuild: bool = False
    """Build a new release even if one of this year serves."""
    force: bool = False
    """Let a release serve even if a check failed."""
    keep: int = 1
    """Releases kept beside the one that serves."""
    workers: int = DEFAULT_WORKERS


@dataclass(frozen=True, slots=True)
class Preview:
    """What an update would do now."""

    year: int
    choice: Choice
    plan: Plan


@dataclass(frozen=True, slots=True)
class UpdateReport:
    year: int
    release: str
    """Name of the release that files were loaded into."""
    in_place: bool
    before: str | None
    """Name of the release that served before."""
    serving: str | None
    documents: int
    downloaded: tuple[str, ...]
    loaded: tuple[LoadedFile, ...]
    known: tuple[str, ...]
    """Files whose content is loaded already, under another name."""
    refused: tuple[RefusedFile, ...]
    waiting: tuple[str, ...]
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    checks: tuple[Check, ...]
    dropped: tuple[str, ...]
    forced: bool
    seconds: float

    @property
    def passed(self) -> bool:
        failed = any(not check.passed for check in self.checks)
        return not self.refused and not self.faults and (self.forced or not failed)


@dataclass(frozen=True, slots=True)
class Rollback:
    before: str
    serving: str


ReportProgress = Callable[[str, LoadProgress], None]
"""Called with the release's name and its progress; counts refer to the files listed so far."""


def update(
    source: Source, shelf: Shelf, options: UpdateOptions, progress: ReportProgress | None = None
) -> UpdateReport:
    """Bring the index up to date.

    Raises BioqaError if the source or the index cannot be used, or if the source's files are inconsistent.
    """
    begun = time.monotonic()
    with shelf.lock() as lock:
        run = _Updating(source, shelf, lock, options, progress)
        run.go()
        return run.report(time.monotonic() - begun)


def preview(source: Source, shelf: Shelf, options: UpdateOptions) -> Preview:
    """Say what ``update`` would do, without fetching, loading or locking anything."""
    serving = shelf.serving()
    listing = source.listing()
    year = year_of(listing, serving.year if serving else None)
    choice = choose(shelf.base, shelf.releases(), serving, year, options.rebuild)
    worked_on = serving.year if serving and choice.in_place else year
    return Preview(year, choice, make_plan(listing, worked_on, shelf.ledger(choice.release)))


def roll_back(shelf: Shelf) -> Rollback:
    """Switch back to the release that served before. Raises BioqaError if there is none."""
    with shelf.lock():
        serving = shelf.serving()
        if serving is None:
            raise BioqaError(f"no release serves at {shelf.where}, so there is nothing to roll back")
        kept = {release.name for release in shelf.releases() if release.served}
        if serving.previous not in kept:
            reason = f"{serving.previous} was dropped" if serving.previous else "no release served before it"
            raise BioqaError(f"cannot roll back {serving.name}: {reason}")
        assert serving.previous is not None
        shelf.go_back(serving.previous)
        return Rollback(serving.name, serving.previous)


class _Updating:
    def __init__(
        self,
        source: Source,
        shelf: Shelf,
        lock: Lock,
        options: UpdateOptions,
        progress: ReportProgress | None,
    ) -> None:
        self._source = source
        self._shelf = shelf
        self._lock = lock
        self._options = options
        self._progress = progress
        self._before = shelf.serving()
        self._serving = self._before.name if self._before else None
        self._year = 0
        self._choice = Choice("", in_place=False)
        self._documents = 0
        self._downloaded: list[str] = []
        self._loaded: list[LoadedFile] = []
        self._known: list[str] = []
        self._refused: list[RefusedFile] = []
        self._waiting: list[str] = []
        self._faults: list[str] = []
        self._notes: list[str] = []
        self._checks: list[Check] = []
        self._dropped: list[str] = []
        self._unchecked = 0

    def report(self, seconds: float) -> UpdateReport:
        if self._unchecked:
            self._notes.append(
                f"{self._unchecked} files have no .md5 file to verify them; only gzip's checksum was verified"
            )
        return UpdateReport(
            year=self._year,
            release=self._choice.release,
            in_place=self._choice.in_place,
            before=self._before.name if self._before else None,
            serving=self._serving,
            documents=self._documents,
            downloaded=tuple(self._downloaded),
            loaded=tuple(self._loaded),
            known=tuple(self._known),
            refused=tuple(self._refused),
            waiting=tuple(self._waiting),
            faults=tuple(self._faults),
            notes=tuple(self._notes),
            checks=tuple(self._checks),
            dropped=tuple(self._dropped),
            forced=self._options.force,
            seconds=seconds,
        )

    def go(self) -> None:
        listing = self._source.listing()
        self._year = year_of(listing, self._before.year if self._before else None)
        self._choice = choose(
            self._shelf.base, self._shelf.releases(), self._before, self._year, self._options.rebuild
        )
        self._faults += self._choice.faults
        self._notes += self._choice.notes
        if self._choice.in_place:
            assert self._before is not None
            self._update(self._before, listing)
        else:
            self._build(listing)

    def _update(self, serving: Release, listing: Sequence[PublishedFile]) -> None:
        before = self._shelf.stats(serving.name)
        with closing(self._shelf.target(serving.name, before.joiner)) as target:
            plan = make_plan(listing, serving.year, target.loaded)
            self._load(plan.files, target)
            self._finish(plan, listing, target)
        after = self._shelf.stats(serving.name)
        self._documents = after.documents
        if self._loaded:
            self._checks += share_checks(after, before)

    def _build(self, listing: Sequence[PublishedFile]) -> None:
        name, shelf = self._choice.release, self._shelf
        make_plan(listing, self._year, shelf.ledger(name))  # raises before anything is created
        previous = None
        if self._before is not None:
            previous = ReleaseContent(shelf.stats(self._before.name), shelf.ledger(self._before.name))
        with closing(shelf.target(name, previous.stats.joiner if previous else "")) as target:
            listing, plan = self._load_all(listing, target)
            self._finish(plan, listing, target)
            new = ReleaseContent(shelf.stats(name), target.loaded)
        self._documents = new.stats.documents
        self._checks += release_checks(new, *self._baseline(listing, new), previous)
        if self._options.force or all(check.passed for check in self._checks):
            self._switch(name)

    def _load_all(
        self, listing: Sequence[PublishedFile], target: LoadTarget
    ) -> tuple[Sequence[PublishedFile], Plan]:
        """Load until the source lists nothing new: a build may take days, during which files are
        published."""
        while True:
            plan = make_plan(listing, self._year, target.loaded)
            files = [file for file in plan.files if file.name not in self._known]
            if not files or not self._load(files, target):
                return listing, plan
            listing = self._source.listing()

    def _baseline(self, listing: Sequence[PublishedFile], new: ReleaseContent) -> tuple[int, list[str]]:
        """Return the number of the baseline's last file, and the names of its files that were not loaded."""
        files = [file for file in listing if file.directory == "baseline" and file.year == self._year]
        loaded = {entry.name for entry in new.ledger} | set(self._known)
        missing = sorted(file.name for file in files if file.name not in loaded)
        return max((file.number for file in files), default=0), missing

    def _switch(self, name: str) -> None:
        self._lock.check()
        self._shelf.serve(name, self._serving)
        self._serving = name
        releases = self._shelf.releases()
        for old in to_drop(releases, name, self._options.keep):
            self._shelf.drop(old)
            self._dropped.append(old)
        self._notes += [
            f"{other.name} is incomplete; it is kept, and takes up space"
            for other in releases
            if not other.served and other.name != name
        ]

    def _finish(self, plan: Plan, listing: Sequence[PublishedFile], target: LoadTarget) -> None:
        """Finish the target, and note which files are left."""
        if self._loaded or not self._choice.in_place:
            target.finish()
        settled = {entry.name for entry in target.loaded} | {refused.name for refused in self._refused}
        planned = (*(file.name for file in plan.files), *plan.waiting)
        self._waiting += [name for name in planned if name not in settled.union(self._known)]
        self._faults += plan.faults
        self._notes += plan.notes
        self._note_changed_files(listing, target)

    def _note_changed_files(self, listing: Sequence[PublishedFile], target: LoadTarget) -> None:
        """Note which files of earlier runs NLM has published again; those of this run were just compared."""
        new = {entry.name for entry in self._loaded}
        earlier = {entry.name for entry in target.loaded} - new
        try:
            published = self._source.published_md5s([file for file in listing if file.name in earlier])
        except BioqaError as error:
            self._notes.append(f"whether files were published again could not be checked: {error}")
            return
        if changed := changed_files(published, target.loaded):
            self._notes.append(
                f"{len(changed)} files differ from those that were loaded, {changed[0]} first; "
                "--rebuild loads them"
            )

    def _load(self, files: Sequence[PublishedFile], target: LoadTarget) -> bool:
        """Load files in order. Returns False if a file was refused; then the files after it wait."""
        done = 0
        with closing(self._fetch(files)) as fetched:
            while chunk := list(islice(fetched, FILES_PER_LOAD)):
                self._load_chunk(chunk, done, len(files), target)
                done += len(chunk)
                if self._refused:
                    break
        return not self._refused

    def _fetch(self, files: Sequence[PublishedFile]) -> Generator[FetchedFile, None, None]:
        bad = yield from fetch_ahead(self._source, files, PARALLEL_FETCHES, FILES_PER_LOAD)
        if bad is not None:
            self._refused.append(RefusedFile(bad[0].name, str(bad[1])))

    def _load_chunk(self, chunk: Sequence[FetchedFile], done: int, files: int, target: LoadTarget) -> None:
        def report_progress(state: LoadProgress) -> None:
            if self._progress is not None:
                state = replace(state, files_done=done + state.files_done, files=files)
                self._progress(self._choice.release, state)

        self._downloaded += [fetched.file.name for fetched in chunk if fetched.downloaded_bytes]
        report = load(
            [fetched.path for fetched in chunk],
            target,
            workers=self._options.workers,
            progress=report_progress,
            stop_at_refused=True,
            finish=False,
        )
        self._loaded += report.loaded
        self._known += report.known
        self._refused += report.refused
        loaded = {entry.name for entry in report.loaded}
        self._unchecked += sum(f.file.name in loaded and not f.checked for f in chunk)
        if rejections := len(report.rejections) + report.rejections_unlisted:
            name, first = report.rejections[0]
            self._faults.append(
                f"the search engine rejected {rejections} records; the first is "
                f"PMID {first.pmid} in {name}: {first.reason}"
            )
