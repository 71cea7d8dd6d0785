"""Sources of NLM's files: a local folder, or NLM's site (``bioqa.indexer.releases.site``)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from bioqa.indexer.loading.ledger import MEDLINE_NAME, md5_of
from bioqa.system.errors import BioqaError

Directory = Literal["baseline", "updatefiles"]
DIRECTORIES: tuple[Directory, ...] = ("baseline", "updatefiles")

CENTURY = 2000
"""File names have the last two digits of the year."""

MAX_MD5_BYTES = 4096

_MD5_LINES = (
    re.compile(r"MD5\s?\((?P<name>[^)]+)\)\s*=\s*(?P<md5>[0-9a-f]{32})", re.IGNORECASE),
    re.compile(r"(?P<md5>[0-9a-f]{32})\s+\*?(?P<name>\S+)", re.IGNORECASE),
    re.compile(r"(?P<name>)(?P<md5>[0-9a-f]{32})", re.IGNORECASE),
)


class BadFile(BioqaError):
    """A single file cannot be used; others may be fine."""


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file listed by a source."""

    name: str
    directory: Directory
    ready: bool = True
    """False while the site does not list the file's ``.md5`` yet."""
    stamp: str = field(default="", compare=False)
    """What the source says of the file and its ``.md5``, such as dates and sizes; another one, or none, means
    that the ``.md5`` may be another, too."""

    @property
    def year(self) -> int:
        return CENTURY + int(self.name[6:8])

    @property
    def number(self) -> int:
        """Number in the year's sequence, which begins at 1 with the baseline and continues with the
        updates."""
        return int(self.name[9:13])


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A local copy of a file, whose MD5 is the published one, if one is published."""

    file: PublishedFile
    path: Path
    md5: str
    checked: bool
    """False if there is no ``.md5`` file to verify it."""
    downloaded_bytes: int = 0
    """0 if there was a local copy already."""


class Source(Protocol):
    """Where NLM's files come from."""

    @property
    def where(self) -> str:
        """The location, for messages."""
        ...

    def listing(self) -> tuple[PublishedFile, ...]:
        """List the files published now. Raises BioqaError if the source cannot be read."""
        ...

    def published_md5s(self, files: Sequence[PublishedFile]) -> dict[str, str]:
        """Return the MD5s that the source gives now, by name, without those that cannot be read.

        Raises BioqaError if the source cannot be read."""
        ...

    def fetch(self, file: PublishedFile) -> FetchedFile:
        """Get a local copy of the file as it is published now; threads may call this concurrently.

        Raises BadFile if the file is broken or missing, BioqaError if the source cannot be read."""
        ...


class FolderSource:
    """A folder with subfolders ``baseline/`` and ``updatefiles/``, such as a mirror of NLM's site."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.where = str(folder)

    def listing(self) -> tuple[PublishedFile, ...]:
        folders = {directory: self._folder / directory for directory in DIRECTORIES}
        if not any(folder.is_dir() for folder in folders.values()):
            raise BioqaError(f"{self._folder} has no folder baseline/ or updatefiles/, as NLM's site has")
        try:
            return tuple(
                PublishedFile(name, directory)
                for directory, folder in folders.items()
                if folder.is_dir()
                for name in medline_names(entry.name for entry in folder.iterdir())
            )
        except OSError as error:
            raise BioqaError(f"cannot read {self._folder}: {error}") from error

    def published_md5s(self, files: Sequence[PublishedFile]) -> dict[str, str]:
        md5s = {file.name: _published_md5(self._folder / file.directory / file.name) for file in files}
        return {name: md5 for name, md5 in md5s.items() if md5 is not None}

    def fetch(self, file: PublishedFile) -> FetchedFile:
        path = self._folder / file.directory / file.name
        try:
            actual = md5_of(path)
            sidecar = md5_path(path)
            published = parse_md5(read_md5(sidecar), file.name, sidecar) if sidecar.is_file() else None
        except OSError as error:
            raise BadFile(f"{path}: cannot be read: {error.strerror or error}") from error
        if published not in (None, actual):
            raise BadFile(f"{path}: its md5 is {actual}, and {sidecar.name} says {published}: copy it again")
        return FetchedFile(file, path, actual, checked=published is not None)


def medline_names(names: Iterable[str]) -> list[str]:
    """Select and sort the names of NLM's files; alphabetical order is their order."""
    return sorted(name for name in names if MEDLINE_NAME.fullmatch(name))


def md5_path(path: Path) -> Path:
    """Path of the file with the MD5 of ``path``."""
    return path.with_name(path.name + ".md5")


def read_md5(path: Path) -> bytes:
    """Read the beginning of a ``.md5`` file, which has a single line. Raises OSError."""
    with path.open("rb") as file:
        return file.read(MAX_MD5_BYTES)


def parse_md5(content: bytes, name: str, where: object) -> str:
    """Parse ``MD5(name)= …``, ``…  name`` or ``…``; returns the MD5 in lower case.

    Raises BadFile, naming ``where``, for any other content, and for the MD5 of another file.
    """
    text = content.decode("ascii", "replace").strip()
    for form in _MD5_LINES:
        if match := form.fullmatch(text):
            if match["name"] and Path(match["name"]).name != name:
                raise BadFile(f"{where}: is for {match['name']}, not for {name}")
            return match["md5"].lower()
    raise BadFile(f"{where}: has no md5, but {text[:60]!r}")


def _published_md5(path: Path) -> str | None:
    sidecar = md5_path(path)
    try:
        return parse_md5(read_md5(sidecar), path.name, sidecar)
    except (BadFile, OSError):  # reported when the file is fetched
        return None
