"""Where releases stand side by side, one of them serving."""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from bioqa.indexer.loading.ledger import LoadedFile
from bioqa.indexer.loading.target import LoadTarget
from bioqa.indexer.search.base import IndexStats


class Lock(Protocol):
    def check(self) -> None:
        """Raises BioqaError if another process has taken the lock meanwhile."""
        ...


@dataclass(frozen=True, slots=True)
class Release:
    """The index of a year's baseline and updates."""

    name: str
    """``<shelf>-2025``; ``<shelf>-2025-2`` if it is the second of its year."""
    year: int
    serial: int = 1
    """Which of its year."""
    served: bool = False
    """False while it is being built. One that served and does not now was replaced, or rolled back from."""
    previous: str | None = None
    """The release that served before it."""


class Shelf(Protocol):
    @property
    def where(self) -> str: ...

    @property
    def base(self) -> str:
        """What the names of its releases begin with."""
        ...

    def lock(self) -> AbstractContextManager[Lock]:
        """Keep every other update away. Raises BioqaError if one is under way."""
        ...

    def releases(self) -> tuple[Release, ...]:
        """By year and serial."""
        ...

    def serving(self) -> Release | None: ...

    def target(self, name: str, joiner: str) -> LoadTarget:
        """To load into the release of that name, made if need be."""
        ...

    def ledger(self, name: str) -> tuple[LoadedFile, ...]:
        """Empty if nothing was loaded into it yet, or if there is no such release."""
        ...

    def stats(self, name: str) -> IndexStats: ...

    def serve(self, name: str, previous: str | None) -> None:
        """From now on this one serves, and not the other, in one step."""
        ...

    def go_back(self, name: str) -> None:
        """Let one serve that served before."""
        ...

    def drop(self, name: str) -> None:
        """Remove a release that is not serving."""
        ...


def release_name(base: str, year: int, serial: int) -> str:
    return f"{base}-{year}" + (f"-{serial}" if serial > 1 else "")


def parse_release_name(base: str, name: str) -> tuple[int, int] | None:
    """Year and serial; None if it is no release's name."""
    match = re.fullmatch(re.escape(base) + r"-(\d{4})(?:-(\d{1,6}))?", name, re.ASCII)
    return (int(match[1]), int(match[2] or 1)) if match else None


@dataclass(frozen=True, slots=True)
class Choice:
    """Which release an update works at."""

    release: str
    in_place: bool
    """True if that one is serving and is only brought up to date."""
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def choose(
    base: str, releases: Sequence[Release], serving: Release | None, year: int, rebuild: bool
) -> Choice:
    """The one serving if it is of that year, and not to be rebuilt; else one to build, from where it is."""
    same_year = [release for release in releases if release.year == year]
    unfinished = [release.name for release in same_year if not release.served]
    replaced = [release.name for release in same_year if release.served]
    if serving is not None and not rebuild and serving.year == year:
        notes = [f"{name} was not finished being built; --rebuild goes on with it" for name in unfinished]
        return Choice(serving.name, in_place=True, notes=tuple(notes))
    if serving is not None and not rebuild and replaced:
        fault = (
            f"{serving.name} serves since {replaced[-1]} was rolled back from; "
            f"files of {year} wait until --rebuild makes a new release"
        )
        return Choice(serving.name, in_place=True, faults=(fault,))
    if unfinished:
        return Choice(unfinished[-1], in_place=False, notes=(f"going on with {unfinished[-1]}",))
    serial = 1 + max((release.serial for release in same_year), default=0)
    return Choice(release_name(base, year, serial), in_place=False)


def to_drop(releases: Sequence[Release], serving: str, keep: int) -> list[str]:
    """Those that served, but for ``keep``: the one that served before this one, then the newest."""
    previous = {release.previous for release in releases if release.name == serving}
    old = [release for release in releases if release.served and release.name != serving]
    old.sort(key=lambda release: (release.name in previous, release.year, release.serial), reverse=True)
    return [release.name for release in old[keep:]]
