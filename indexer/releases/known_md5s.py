"""MD5s that NLM's site gave in earlier runs, so that it is not asked for a thousand unchanged files a day."""

from contextlib import suppress
from pathlib import Path

from bioqa.indexer.releases.source import PublishedFile
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import read_json, write_json

KNOWN_MD5S_FILE = "published.json"
"""In the cache: by the name of a file, the stamp that the listing had when its MD5 was read, and the MD5."""


class KnownMd5s:
    """MD5s with the stamps of their time, in a file of the cache; those read now count whatever the stamp."""

    def __init__(self, cache: Path) -> None:
        self._path = cache / KNOWN_MD5S_FILE
        self._known: dict[str, list[str]] = {}
        self._new: dict[str, str] = {}
        with suppress(OSError, BioqaError):
            stored = read_json(self._path)
            # It only saves requests: what is no such file counts as none.
            if isinstance(stored, dict):
                self._known = stored

    def md5(self, file: PublishedFile) -> str | None:
        if md5 := self._new.get(file.name):
            return md5
        entry = self._known.get(file.name)
        return entry[1] if file.stamp and isinstance(entry, list) and entry[:1] == [file.stamp] else None

    def add(self, file: PublishedFile, md5: str | None) -> None:
        if md5 is not None:
            self._new[file.name] = md5
            self._known[file.name] = [file.stamp, md5]

    def write(self) -> None:
        if self._new:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_json(self._path, self._known)
