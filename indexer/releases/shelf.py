"""The interface to a set of releases, one of which serves; which release an update works on."""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from bioqa.indexer.loading.ledger import LoadedFile
from bioqa.indexer.loading.target import LoadTarget
from bioqa.indexer.search.base import IndexStats


class Lock(Protocol):
    """A lock that keeps other updates away."""

    def check(self) -> None:
        """Raise BioqaError if another process took the lock over."""
        ...


@dataclass(frozen=True, slots=True)
class Release:
    """An index of a year's baseline and updates."""

    name: str
    """``<base>-2025``; ``<base>-2025-2`` for the second release of a year."""
    year: int
    serial: int = 1
    """Number of the release within its year."""
    served: bool = False
    """False while it is being built. A release that served, and does not now, was replaced or rolled back."""
    previous: str | None = None
    """Name of the release that served before it."""


class Shelf(Protocol):
    """The releases at one location."""

    @property
    def where(self) -> str:
        """The location, for messages."""
        ...

    @property
    def base(self) -> str:
        """The common beginning of the releases' names."""
        ...

    def lock(self) -> AbstractContextManager[Lock]:
        """Keep other updates away. Raises BioqaError if one is under way."""
        ...

    def releases(self) -> tuple[Release, ...]:
        """All releases, sorted by year and serial."""
        ...

    def serving(self) -> Release | None:
        """The release that serves, if any."""
        ...

    def target(self, name: str, joiner: str) -> LoadTarget:
        """Open a release to load files into; it is created if it does not exist."""
        ...

    def ledger(self, name: str) -> tuple[LoadedFile, ...]:
        """The files loaded into a release; empty if it does not exist."""
        ...

    def stats(self, name: str) -> IndexStats: ...

    def serve(self, name: str, previous: str | None) -> None:
        """Switch atomically to this release; ``previous`` is the name of the one that serves until now."""
        ...

    def go_back(self, name: str) -> None:
        """Switch back to a release that served before."""
        ...

    def drop(self, name: str) -> None:
        """Remove a release. Raises BioqaError if it serves."""
        ...


def release_name(base: str, year: int, serial: int) -> str:
    return f"{base}-{year}" + (f"-{serial}" if serial > 1 else "")


def parse_release_name(base: str, name: str) -> tuple[int, int] | None:
    """Parse a release's name into year and serial; None for other names."""
    match = re.fullmatch(re.escape(base) + r"-(\d{4})(?:-(\d{1,6}))?", name, re.ASCII)
    return (int(match[1]), int(match[2] or 1)) if match else None


@dataclass(frozen=True, slots=True)
class Choice:
    """The release that an update works on."""

    release: str
    in_place: bool
    """True if it serves already, and is only brought up to date."""
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def choose(
    base: str, releases: Sequence[Release], serving: Release | None, year: int, rebuild: bool
) -> Choice:
    """Choose the release that serves, unless it is of another year or to be rebuilt; else one to build or
    resume."""
    same_year = [release for release in releases if release.year == year]
    unfinished = [release.name for release in same_year if not release.served]
    replaced = [release.name for release in same_year if release.served]
    if serving is not None and not rebuild and serving.year == year:
        notes = [f"{name} is incomplete; --rebuild resumes building it" for name in unfinished]
        return Choice(serving.name, in_place=True, notes=tuple(notes))
    if serving is not None and not rebuild and replaced:
        fault = (
            f"{serving.name} serves since {replaced[-1]} was rolled back; "
            f"files of {year} wait until --rebuild makes a new release"
        )
        return Choice(serving.name, in_place=True, faults=(fault,))
    if unfinished:
        return Choice(unfinished[-1], in_place=False, notes=(f"resuming {unfinished[-1]}",))
    serial = 1 + max((release.serial for release in same_year), default=0)
    return Choice(release_name(base, year, serial), in_place=False)


def to_drop(releases: Sequence[Release], serving: str, keep: int) -> list[str]:
    """Return old releases to drop, except ``keep`` of them: first the predecessor is kept, then the
    newest."""
    previous = {release.previous for release in releases if release.name == serving}
    old = [release for release in releases if release.served and release.name != serving]
    old.sort(key=lambda release: (release.name in previous, release.year, release.serial), reverse=True)
    return [release.name for release in old[keep:]]
