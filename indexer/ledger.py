"""Which files an index holds: one JSON line a file, appended when the file's events are committed.

A crash can leave the last line torn; it is then ignored, and its file is loaded again, which changes nothing.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from bioasq.errors import BioqaError

NAME = "ledger.jsonl"


@dataclass(frozen=True, slots=True)
class LoadedFile:
    name: str
    md5: str
    size_bytes: int
    records: int
    """What the file holds: ``upserted + deleted + stale + skipped + rejected``."""
    upserted: int
    deleted: int
    stale: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Records that are no citations, by kind."""
    rejected: Mapping[str, int] = field(default_factory=dict)
    """Citations that cannot be used, by reason."""
    loaded_at: str = ""
    """UTC, ISO 8601."""


class Ledger:
    def __init__(self, path: Path, entries: list[LoadedFile], good_bytes: int) -> None:
        self._path = path
        self._entries = entries
        self._good_bytes = good_bytes

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The ledger of the index in ``folder``; an empty one if nothing was loaded yet."""
        path = folder / NAME
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
