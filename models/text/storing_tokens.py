"""Write the tokens of all of an index's documents beside it (``stored_tokens.py``)."""

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from bioqa.bioasq.domain import Document
from bioqa.models.arrays import Ints
from bioqa.models.text.stored_tokens import (
    DICTIONARY,
    FORMAT,
    HEADER_BYTES,
    KINDS,
    PER_DOCUMENT,
    StoredTokens,
    StoredTokensError,
    digests,
    file_name,
    fingerprint_of_pieces,
    fingerprint_of_words,
    header_of,
    pmids,
)
from bioqa.models.text.token_records import UNIT, Writer, runs_of, strings_of
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.system.jsonfile import replacing

AT_ONCE = 256
"""Documents tokenised together."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What was written."""

    path: Path
    documents: int
    made: int
    """Of these documents, those that the old file did not have as they are now."""
    bytes: int


class _Unchanged(Exception):
    """The file is as it would be written."""


def store(
    documents: Iterable[Document],
    vocabulary: Vocabulary,
    folder: Path,
    progress: Callable[[int], None] = lambda done: None,
) -> Stored:
    """Store the tokens of documents, which come in ascending order of PMIDs, in the folder of their index.

    What an older file there has of the same texts is copied. The new one replaces it when it is complete;
    if all is the same, it stays. ``progress`` is called with the number of documents done. Takes 28 bytes of
    memory for each. Raises StoredTokensError if the file cannot be written.
    """
    path = folder / file_name(vocabulary)
    old = _opened(path)
    if old is not None and not old.fits(vocabulary):
        old = None
    if old is not None and old.header["pieces"] and vocabulary.pieces is None:
        raise StoredTokensError(
            f"{path} is for rankers with word pieces, and serves those without, too: name one that has them"
        )
    try:
        with replacing(path) as file:
            written = _File(file, vocabulary, old)
            for done in written.add_all(documents):
                progress(done)
            if old is not None and not written.made and len(old) == written.documents:
                raise _Unchanged
            written.finish()
    except _Unchanged:
        pass
    except OSError as error:
        raise StoredTokensError(f"{path}: cannot be written: {error.strerror or error}") from error
    return Stored(path, written.documents, written.made, path.stat().st_size)


def _opened(path: Path) -> StoredTokens | None:
    with suppress(StoredTokensError):  # what cannot be read is replaced
        return StoredTokens.open(path)
    return None


class _File:
    """A file that is being written."""

    def __init__(self, file: BinaryIO, vocabulary: Vocabulary, old: StoredTokens | None) -> None:
        self.documents = self.made = 0
        self._file = file
        self._vocabulary = vocabulary
        self._old = old
        # The old records' numbers must stay what they are.
        self._writer = Writer(vocabulary, [] if old is None else strings_of(old.dictionary))
        self._columns = {name: bytearray() for name in PER_DOCUMENT}
        self._end = 0
        self._digest = hashlib.sha256()
        """Of the arrays written since it began."""
        file.write(bytes(HEADER_BYTES))

    def add_all(self, documents: Iterable[Document]) -> Iterator[int]:
        """Yields the number of documents done."""
        remaining = iter(documents)
        done = 0
        while some := [*islice(remaining, AT_ONCE)]:
            self._add(some)
            yield (done := done + len(some))

    def _add(self, documents: Sequence[Document]) -> None:
        records = [None] * len(documents) if self._old is None else self._old.records(documents)
        new = [document for document, record in zip(documents, records, strict=True) if record is None]
        made = iter(self._writer(new))
        found = [next(made) if record is None else record for record in records]
        # A document that does not fit is tokenised whenever it is read.
        kept = [place for place, record in enumerate(found) if record is not None]
        lengths = [len(record) // UNIT.itemsize for record in found if record is not None]
        values = {
            "pmids": pmids(documents)[kept],
            "digests": digests(documents)[kept],
            "ends": self._end + np.cumsum(lengths, dtype=np.int64),
            "checksums": [zlib.crc32(record) for record in found if record is not None],
        }
        for name, kind in PER_DOCUMENT.items():
            self._columns[name] += np.asarray(values[name]).astype(kind).tobytes()
        for record in found:
            if record is not None:
                self._file.write(record)
        self._end += sum(lengths)
        self.documents += len(kept)
        self.made += sum(records[place] is None for place in kept)

    def finish(self) -> None:
        self._append(b"")
        arrays = {name: self._append(column, PER_DOCUMENT[name]) for name, column in self._columns.items()}
        self._digest = hashlib.sha256()
        known = dict(zip(KINDS, runs_of(self._writer.dictionary), strict=True))
        for kind, runs in known.items():
            arrays[f"{kind}_counts"] = self._append(runs.counts, DICTIONARY[f"{kind}_counts"])
            arrays[f"{kind}_ids"] = self._append(runs.ids, DICTIONARY[f"{kind}_ids"])
        header = {
            "format": FORMAT,
            "words": fingerprint_of_words(self._vocabulary),
            "pieces": fingerprint_of_pieces(self._vocabulary),
            "bytes": self._file.tell(),
            "arrays": arrays,
            "dictionary": self._digest.hexdigest(),
        }
        self._file.seek(0)
        self._file.write(header_of(header))

    def _append(self, content: bytes | bytearray | Ints, kind: str = "u1") -> tuple[int, int]:
        """Where the array begins, and how many numbers it has. What follows begins at a multiple of eight."""
        if isinstance(content, np.ndarray):
            content = content.astype(kind).tobytes()
        begin = self._file.tell()
        written = content + bytes(-(begin + len(content)) % 8)
        self._file.write(written)
        self._digest.update(written)
        return begin, len(content) // np.dtype(kind).itemsize
