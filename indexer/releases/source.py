"""Where NLM's files come from: a folder here, or NLM's site (``bioqa.indexer.releases.site``)."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.loading.ledger import MEDLINE_NAME

Directory = Literal["baseline", "updatefiles"]
DIRECTORIES: tuple[Directory, ...] = ("baseline", "updatefiles")

CENTURY = 2000
"""Names have two digits of the year."""

_MD5_LINES = (
    re.compile(r"MD5\s?\((?P<name>[^)]+)\)\s*=\s*(?P<md5>[0-9a-f]{32})", re.IGNORECASE),
    re.compile(r"(?P<md5>[0-9a-f]{32})\s+\*?(?P<name>\S+)", re.IGNORECASE),
    re.compile(r"(?P<name>)(?P<md5>[0-9a-f]{32})", re.IGNORECASE),
)


class BadFile(BioqaError):
    """One file that cannot be used as it is; others may be good."""


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file that a source offers."""

    name: str
    directory: Directory
    ready: bool = True
    """False while a site lists the file but not yet its ``.md5``."""
    md5: str | None = None
    """Where the source tells it without being asked for the file."""

    @property
    def year(self) -> int:
        return CENTURY + int(self.name[6:8])

    @property
    def number(self) -> int:
        """In the year's sequence, which begins at 1 with the baseline and goes on with the updates."""
        return int(self.name[9:13])


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file that lies here, and whose md5 is the one that NLM tells, if it tells one."""

    file: PublishedFile
    path: Path
    md5: str
    checked: bool
    """False if there is no ``.md5`` to check it by."""
    downloaded_bytes: int = 0
    """0 if it lay here already."""


class Source(Protocol):
    @property
    def where(self) -> str: ...

    def listing(self) -> tuple[PublishedFile, ...]:
        """What there is at this moment. Raises BioqaError if that cannot be known."""
        ...

    def fetch(self, file: PublishedFile) -> FetchedFile:
        """Have the file here; several threads may call it. Raises BadFile if it is broken or gone, BioqaError
        if the source is."""
        ...


class FolderSource:
    """A folder with ``baseline/`` and ``updatefiles/`` in it, such as a mirror of NLM's site."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.where = str(folder)

    def listing(self) -> tuple[PublishedFile, ...]:
        folders = {directory: self._folder / directory for directory in DIRECTORIES}
        if not any(folder.is_dir() for folder in folders.values()):
            raise BioqaError(f"{self._folder} has no folder baseline/ or updatefiles/, as NLM's site has")
        try:
            return tuple(
                PublishedFile(name, directory, md5=_told_md5(folder / name))
                for directory, folder in folders.items()
                if folder.is_dir()
                for name in medline_names(entry.name for entry in folder.iterdir())
            )
        except OSError as error:
            raise BioqaError(f"cannot read {self._folder}: {error}") from error

    def fetch(self, file: PublishedFile) -> FetchedFile:
        path = self._folder / file.directory / file.name
        try:
            found = md5_of(path)
            sidecar = md5_path(path)
            told = parse_md5(sidecar.read_bytes(), file.name, sidecar) if sidecar.is_file() else None
        except OSError as error:
            raise BadFile(f"{path}: cannot be read: {error.strerror or error}") from error
        if told not in (None, found):
            raise BadFile(f"{path}: its md5 is {found}, and {sidecar.name} says {told}: copy it anew")
        return FetchedFile(file, path, found, checked=told is not None)


def medline_names(names: Iterable[str]) -> list[str]:
    """Those that are NLM's, sorted, which is their order."""
    return sorted(name for name in names if MEDLINE_NAME.fullmatch(name))


def md5_path(path: Path) -> Path:
    return path.with_name(path.name + ".md5")


def md5_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def parse_md5(content: bytes, name: str, where: object) -> str:
    """The md5, in lower case, that ``MD5(name)= …``, ``…  name`` or ``…`` tells.

    Raises BadFile, naming the place, for anything else and for another file's.
    """
    text = content.decode("ascii", "replace").strip()
    for form in _MD5_LINES:
        if match := form.fullmatch(text):
            if match["name"] and Path(match["name"]).name != name:
                raise BadFile(f"{where}: is for {match['name']}, not for {name}")
            return match["md5"].lower()
    raise BadFile(f"{where}: holds no md5 but {text[:60]!r}")


def _told_md5(path: Path) -> str | None:
    sidecar = md5_path(path)
    try:
        return parse_md5(sidecar.read_bytes(), path.name, sidecar)
    except (BadFile, OSError):  # fetching the file tells
        return None
