"""Releases of the embedded index: a folder for each, and a file that names the one that serves."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bioqa.indexer.loading.folder_target import FolderTarget
from bioqa.indexer.loading.ledger import Ledger, LoadedFile
from bioqa.indexer.loading.target import LoadTarget
from bioqa.indexer.releases.shelf import Release, parse_release_name
from bioqa.indexer.search.base import IndexStats
from bioqa.indexer.search.tantivy.folder import DESCRIPTION
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import read_json, write_json
from bioqa.system.locks import FileLock, LockTaken
from bioqa.system.plain import require_plain
from bioqa.system.stamps import stamp_of

RELEASES_FILE = "releases.json"
LOCK_FILE = "update.lock"
BASE = "medline"
FORMAT = 1

_DROPPED = ".dropped-"


class FolderShelf:
    """``Shelf`` in a folder."""

    base = BASE

    def __init__(self, folder: Path) -> None:
        """Raises BioqaError if the folder is an index itself, or has other files."""
        if folder.exists() and not folder.is_dir():
            raise BioqaError(f"{folder} is a file; releases need a folder")
        if (folder / DESCRIPTION).exists():
            raise BioqaError(
                f"{folder} is an index made by `bioqa index`, not a folder of releases; "
                "give `bioqa update` another folder"
            )
        if folder.is_dir() and not (folder / RELEASES_FILE).exists() and _foreign(folder):
            raise BioqaError(f"{folder} has other files and no releases; choose an empty folder")
        self._folder = folder
        self.where = str(folder)

    @contextmanager
    def lock(self) -> Iterator["FolderShelf"]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._folder / LOCK_FILE)
        except LockTaken as error:
            raise BioqaError(f"another update of {self._folder} is under way; wait for it to end") from error
        except OSError as error:
            raise BioqaError(f"cannot write to {self._folder}: {error.strerror or error}") from error
        with lock:
            yield self

    def check(self) -> None:
        """Nothing to check: no process can take over a lock of the operating system."""

    def releases(self) -> tuple[Release, ...]:
        notes = self._read()["releases"]
        releases = []
        names = sorted(entry.name for entry in self._folder.iterdir()) if self._folder.is_dir() else []
        for name in names:
            if (parsed := parse_release_name(BASE, name)) is not None:
                note = notes.get(name, {})
                releases.append(Release(name, *parsed, note.get("served", False), note.get("previous")))
        return tuple(sorted(releases, key=lambda release: (release.year, release.serial)))

    def serving(self) -> Release | None:
        name = self._read()["serving"]
        current = next((release for release in self.releases() if release.name == name), None)
        if name is not None and current is None:
            raise BioqaError(
                f"{self._folder / RELEASES_FILE} says that {name} serves, and there is no such folder"
            )
        return current

    def target(self, name: str, joiner: str) -> LoadTarget:
        if not (self._folder / RELEASES_FILE).exists():
            write_json(self._folder / RELEASES_FILE, self._read())
        return FolderTarget(self._folder / name, joiner)

    def ledger(self, name: str) -> tuple[LoadedFile, ...]:
        return Ledger.open(self._folder / name).entries

    def stats(self, name: str) -> IndexStats:
        with TantivyIndex.open(self._folder / name) as index:
            return index.stats()

    def serve(self, name: str, previous: str | None) -> None:
        state = self._read()
        state["releases"] = {**state["releases"], name: {"served": True, "previous": previous}}
        write_json(self._folder / RELEASES_FILE, {**state, "serving": name})

    def go_back(self, name: str) -> None:
        write_json(self._folder / RELEASES_FILE, {**self._read(), "serving": name})

    def drop(self, name: str) -> None:
        state = self._read()
        if name == state["serving"]:
            raise BioqaError(f"{name} is serving; it is not dropped")
        try:
            # Renamed first, in one step: after a crash the rest does not count as a release.
            (self._folder / name).rename(self._folder / (_DROPPED + name))
            for left in self._folder.glob(_DROPPED + "*"):
                shutil.rmtree(left)
        except OSError as error:
            raise BioqaError(f"cannot remove {self._folder / name}: {error.strerror or error}") from error
        kept = {other: note for other, note in state["releases"].items() if other != name}
        write_json(self._folder / RELEASES_FILE, {**state, "releases": kept})

    def _read(self) -> dict[str, Any]:
        return _read(self._folder)


class CurrentFolder:
    """The folder of the release that serves at ``path``, and whether another one serves since.

    A running service calls ``has_moved`` before each question, which costs a single ``stat``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = stamp_of(path / RELEASES_FILE)
        self.folder = current_folder(path)

    def has_moved(self) -> bool:
        """Whether the list of releases has been written since."""
        return stamp_of(self._path / RELEASES_FILE) != self._seen


def current_folder(path: Path) -> Path:
    """Return the folder of the release that serves; ``path`` itself if it is not a folder of releases.

    Raises BioqaError if no release serves yet.
    """
    if not (path / RELEASES_FILE).exists():
        return path
    name: str | None = _read(path)["serving"]
    if name is None:
        raise BioqaError(f"no release in {path} is complete yet; run `bioqa update` to resume")
    return path / name


def _read(folder: Path) -> dict[str, Any]:
    path = folder / RELEASES_FILE
    if not path.exists():
        return {"format": FORMAT, "serving": None, "releases": {}}
    require_plain(path)
    state = read_json(path)
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise BioqaError(f"{path} is not a list of releases that this bioqa can read")
    serving, releases = state.get("serving"), state.get("releases")
    named = serving is None or (isinstance(serving, str) and Path(serving).name == serving)
    if (
        not named
        or not isinstance(releases, Mapping)
        or not all(isinstance(n, Mapping) for n in releases.values())
    ):
        raise BioqaError(f"{path} is damaged: 'serving' must name a release, 'releases' describe them")
    return state


def _foreign(folder: Path) -> bool:
    return any(entry.name != LOCK_FILE and not entry.name.endswith(".tmp") for entry in folder.iterdir())
