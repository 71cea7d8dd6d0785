"""Which files an index holds: one JSON line a file, appended when the file's events are committed.

A crash can leave the last line torn; it is then ignored, and its file is loaded again, which changes nothing.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from bioqa.bioasq.errors import BioqaError

LEDGER_FILE = "ledger.jsonl"

MEDLINE_NAME = re.compile(r"pubmed(\d\d)n(\d{4})\.xml(?:\.gz)?", re.ASCII)
"""NLM's names: the year of the baseline, and the file's number in that year."""

RECORDS_BITS = 26
"""A file holds fewer than 2**26 records."""

FILES_BITS = 22
"""A file's number is below 2**22."""


NUMBERS_PER_NLM_FILE = 4
"""How many numbers there are for each of NLM's: a lab's own files find room behind the file they follow."""


def file_number(name: str, loaded: Sequence["LoadedFile"]) -> int:
    """A file's place in the order in which files count: below 2**22.

    NLM's names tell it, so that a file that comes late takes its proper place. Any other file comes after
    all that were loaded before it.
    """
    if match := MEDLINE_NAME.fullmatch(name):
        year, number = map(int, match.groups())
        return NUMBERS_PER_NLM_FILE * (10_000 * year + number)
    return 1 + max((entry.number for entry in loaded), default=0)


def order(number: int, record: int) -> int:
    """The place of a file's record among all events, below 2**48."""
    return (number << RECORDS_BITS) + record


@dataclass(frozen=True, slots=True)
class LoadedFile:
    name: str
    md5: str
    size_bytes: int
    records: int
    """What the file holds: ``upserted + deleted + stale + skipped + rejected``; what the search engine
    rejected counts among the last."""
    upserted: int
    deleted: int
    stale: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Records that are no citations, by kind."""
    rejected: Mapping[str, int] = field(default_factory=dict)
    """Citations that cannot be used, by reason."""
    loaded_at: str = ""
    """UTC, ISO 8601."""
    number: int = 0
    """The file's place in the order in which files count: see ``file_number``."""


class Ledger:
    def __init__(self, path: Path, entries: list[LoadedFile], good_bytes: int) -> None:
        self._path = path
        self._entries = entries
        self._good_bytes = good_bytes

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The ledger of the index in ``folder``; an empty one if nothing was loaded yet."""
        path = folder / LEDGER_FILE
        entries: list[LoadedFile] = []
        good_bytes = 0
        for number, line in enumerate(_lines(path), 1):
            if not line.endswith(b"\n"):
                break
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

    def md5s(self) -> set[str]:
        return {entry.md5 for entry in self._entries}

    def append(self, entry: LoadedFile) -> None:
        line = json.dumps(asdict(entry), ensure_ascii=False).encode() + b"\n"
        try:
            with self._path.open("ab") as stream:
                stream.truncate(self._good_bytes)
                stream.write(line)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise BioqaError(f"cannot write {self._path}: {error}; mend this and run it again") from error
        self._entries.append(entry)
        self._good_bytes += len(line)


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BioqaError(f"cannot read {path}: {error}") from error
