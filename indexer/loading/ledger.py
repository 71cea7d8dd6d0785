"""The ledger: which files an index was loaded from.

One JSON line per file, appended after the file's events are committed. A crash may leave the last line
incomplete; it is then ignored, and the file is loaded again, which changes nothing.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from bioqa.system.errors import BioqaError
from bioqa.system.plain import require_plain

LEDGER_FILE = "ledger.jsonl"

MEDLINE_NAME = re.compile(r"pubmed(\d\d)n(\d{4})\.xml(?:\.gz)?", re.ASCII)
"""NLM's file names: the year of the baseline, and the number of the file in that year."""

RECORDS_BITS = 26
"""A file has fewer than 2**26 records."""

FILES_BITS = 22
"""A file's number is below 2**22. Together with the record's number it fits into 48 bits of a version
number."""

NUMBERS_PER_NLM_FILE = 4
"""NLM's files take every fourth number, which leaves room for a lab's own files between them."""


def file_number(name: str, loaded: Sequence["LoadedFile"]) -> int:
    """Return a file's rank in the order of precedence: events of a higher number override lower ones.

    For NLM's files the number follows from the name, so that a file loaded late takes its proper place. Any
    other file gets a number above those of all loaded files.
    """
    if match := MEDLINE_NAME.fullmatch(name):
        year, number = map(int, match.groups())
        return NUMBERS_PER_NLM_FILE * (10_000 * year + number)
    return 1 + max((entry.number for entry in loaded), default=0)


def noted_name(path: Path) -> str:
    """A file's name as the ledger has it. Bytes that are not UTF-8, as in names from old archives, are
    escaped."""
    return os.fsencode(path.name).decode("utf-8", "backslashreplace")


def order(number: int, record: int) -> int:
    """Return the position of a file's record among all events of an index; below 2**48."""
    return (number << RECORDS_BITS) + record


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """An entry of the ledger."""

    name: str
    md5: str
    size_bytes: int
    records: int
    """The sum of upserted, deleted, stale, skipped and rejected, where the last includes records that the
    search engine rejected."""
    upserted: int
    deleted: int
    stale: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Records that are not citations, by kind."""
    rejected: Mapping[str, int] = field(default_factory=dict)
    """Citations that cannot be used, by reason."""
    loaded_at: str = ""
    """UTC, ISO 8601."""
    number: int = 0
    """See ``file_number``."""


class Ledger:
    """The ledger of an embedded index, a file in its folder."""

    def __init__(self, path: Path, entries: list[LoadedFile], good_bytes: int) -> None:
        self._path = path
        self._entries = entries
        self._good_bytes = good_bytes

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Read the ledger of the index in ``folder``; it is empty if nothing was loaded yet."""
        path = folder / LEDGER_FILE
        entries: list[LoadedFile] = []
        good_bytes = 0
        for number, line in enumerate(_lines(path), 1):
            if not line.endswith(b"\n"):
                break  # written by a process that was killed; the next append truncates it
            try:
                entries.append(LoadedFile(**json.loads(line)))
            except (ValueError, TypeError) as error:
                raise BioqaError(f"{path}, line {number}: not an entry of a ledger ({error})") from error
            good_bytes += len(line)
        return cls(path, entries, good_bytes)

    @property
    def entries(self) -> tuple[LoadedFile, ...]:
        """In the order of loading."""
        return tuple(self._entries)

    def append(self, entry: LoadedFile) -> None:
        line = json.dumps(asdict(entry), ensure_ascii=False).encode() + b"\n"
        try:
            with self._path.open("ab") as stream:
                stream.truncate(self._good_bytes)
                stream.write(line)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise BioqaError(f"cannot write {self._path}: {error}; fix this and run it again") from error
        self._entries.append(entry)
        self._good_bytes += len(line)


def md5_of(path: Path) -> str:
    """Return a file's MD5 in hexadecimal digits. Raises ``OSError``."""
    with path.open("rb") as stream:
        # usedforsecurity: it compares files with NLM's checksums, and must work where FIPS forbids MD5.
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _lines(path: Path) -> list[bytes]:
    try:
        require_plain(path)
        return path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BioqaError(f"cannot read {path}: {error}") from error
