"""The tokens of an index's documents, in a file beside it: a ranker reads them instead of tokenising texts.

A document's are taken only if a digest of its text is the stored one, so that those of revised citations, and
of texts that a ranker gets otherwise, are made as they would be without the file. Scores are the same.

The file: a header; the records of documents (``token_records.py``) in ascending order of PMIDs; for each
document its PMID, digest, the record's end and checksum; and the dictionary. Numbers are little-endian. It is
mapped into memory: processes share what they read, and a question reads a hundred records.
"""

import hashlib
import json
import logging
import mmap
import struct
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from threading import Lock
from typing import Any, Self

import nltk
import numpy as np
import numpy.typing as npt

from bioqa.bioasq.domain import Document
from bioqa.models.arrays import Ints
from bioqa.models.text.token_records import UNIT, Kinds, read, runs_from
from bioqa.models.text.tokens import TokenisedDocument
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.system.errors import BioqaError

FORMAT = 1
"""Incremented when the file, or what tokenising makes of a text, changes."""

HEADER_BYTES = 4096
MAGIC = b"bioqa tokens\n"

PER_DOCUMENT = {"pmids": "<i8", "digests": "<u8", "ends": "<i8", "checksums": "<u4"}
"""Arrays with a number for each document. ``ends``: of its record, in units from the first record's begin."""

KINDS = ("word", "stem", "piece")
DICTIONARY = {
    name: dtype for kind in KINDS for name, dtype in ((f"{kind}_counts", "u1"), (f"{kind}_ids", "<i8"))
}
"""Runs of ids for each of the dictionary's strings. A checksum in the header is theirs, to the file's end."""

log = logging.getLogger("bioqa")


class StoredTokensError(BioqaError):
    """A file of tokens cannot be used."""


def fingerprint_of_words(vocabulary: Vocabulary) -> str:
    """SHA-256 of what words and stems depend on, in hexadecimal: its names, not its other numbers."""
    # Which characters are letters, and what their lower case is; what Snowball makes of terms.
    libraries = f"{FORMAT} {unicodedata.unidata_version} {nltk.__version__}"
    digest = hashlib.sha256("\n".join((libraries, *vocabulary.words, "", *vocabulary.terms)).encode())
    digest.update(vocabulary.term_stems.astype("<i8").tobytes())
    return digest.hexdigest()


def fingerprint_of_pieces(vocabulary: Vocabulary) -> str:
    """The same for word pieces; empty if the vocabulary has none."""
    if vocabulary.pieces is None:
        return ""
    return hashlib.sha256("\n".join(vocabulary.pieces.names).encode()).hexdigest()


def file_name(vocabulary: Vocabulary) -> str:
    """The name of the file in an index's folder: one for all vocabularies that differ in pieces alone."""
    return f"tokens-{fingerprint_of_words(vocabulary)[:8]}.bin"


def digests(documents: Sequence[Document]) -> npt.NDArray[np.uint64]:
    """64 bits of all that a document's tokens depend on: its texts, and where its sentences are."""
    found = []
    for document in documents:
        title, spans = document.title, document.sentence_spans()
        numbers = struct.pack(f"<{2 + len(spans)}q", len(title), document.title_sentences, *spans)
        text = (title + document.abstract).encode("utf-8", "surrogatepass")
        found.append(hashlib.sha256(numbers + text).digest()[:8])
    return np.frombuffer(b"".join(found), "<u8")


def pmids(documents: Sequence[Document]) -> Ints:
    """As numbers; -1 for what is none."""
    # One that is longer than any PMID would not fit into 64 bits.
    numbers = (int(d.pmid) if d.pmid.isdecimal() and len(d.pmid) < 19 else -1 for d in documents)
    return np.fromiter(numbers, dtype=np.int64, count=len(documents))


class StoredTokens:
    """An opened file. Threads may share it."""

    def __init__(self, mapped: mmap.mmap, header: dict[str, Any]) -> None:
        self.header = header
        self.damaged = False
        """Whether a record's checksum was wrong."""
        self._mapped = memoryview(mapped)
        arrays = {
            name: np.frombuffer(mapped, kind, *reversed(header["arrays"][name]))
            for name, kind in {**PER_DOCUMENT, **DICTIONARY}.items()
        }
        self._pmids, self._digests, self._ends, self._checksums = (arrays[name] for name in PER_DOCUMENT)
        words, stems, pieces = (
            runs_from(arrays[f"{kind}_ids"].astype(np.int64), arrays[f"{kind}_counts"].astype(np.int64))
            for kind in KINDS
        )
        self.dictionary: Kinds = words, stems, pieces

    @classmethod
    def open(cls, path: Path) -> Self:
        """Map the file. Raises StoredTokensError if it is damaged, cut off, or of another format."""
        try:
            with path.open("rb") as file:
                header = _header(file.read(HEADER_BYTES))
                length = file.seek(0, 2)
                # Reading what is mapped, but not in the file, would end the process.
                if header["bytes"] != length:
                    raise ValueError(f"it has {length:,} bytes of {header['bytes']:,}")
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            begin = header["arrays"][next(iter(DICTIONARY))][0]
            if hashlib.sha256(memoryview(mapped)[begin:]).hexdigest() != header["dictionary"]:
                raise ValueError("the dictionary's checksum is wrong")
            return cls(mapped, header)
        except OSError as error:
            raise StoredTokensError(f"{path}: cannot be read: {error.strerror or error}") from error
        except (ValueError, KeyError, TypeError, IndexError, OverflowError) as error:
            raise StoredTokensError(f"{path}: no tokens that this bioqa can read: {error}") from error

    def __len__(self) -> int:
        return len(self._pmids)

    def fits(self, vocabulary: Vocabulary) -> bool:
        """Whether its tokens are the vocabulary's; if that has no pieces, the file may have any."""
        return self.header["words"] == fingerprint_of_words(vocabulary) and (
            vocabulary.pieces is None or self.header["pieces"] == fingerprint_of_pieces(vocabulary)
        )

    def records(self, documents: Sequence[Document]) -> list[memoryview | None]:
        """The record of each document; None if it is not stored, not of this text, or damaged."""
        if not len(self._pmids):
            return [None] * len(documents)
        wanted = pmids(documents)
        places = np.minimum(np.searchsorted(self._pmids, wanted), len(self._pmids) - 1)
        found = (self._pmids[places] == wanted) & (self._digests[places] == digests(documents))
        ends = self._ends[places]
        begins = np.where(places > 0, self._ends[places - 1], 0)
        columns = (found, begins, ends, self._checksums[places])
        return [
            self._record(begin, end, checksum) if is_stored else None
            for is_stored, begin, end, checksum in zip(*(column.tolist() for column in columns), strict=True)
        ]

    def read(self, documents: Sequence[Document], *, pieces: bool) -> Iterator[TokenisedDocument | None]:
        """The tokens of each document; None if it has no record."""
        records = self.records(documents)
        known = [record for record in records if record is not None]
        tokens = iter(read(known, self.dictionary, pieces=pieces)) if known else repeat(None)
        return (None if record is None else next(tokens) for record in records)

    def _record(self, begin: int, end: int, checksum: int) -> memoryview | None:
        record = self._mapped[HEADER_BYTES + UNIT.itemsize * begin : HEADER_BYTES + UNIT.itemsize * end]
        if zlib.crc32(record) == checksum:
            return record
        self.damaged = True
        return None


def header_of(values: dict[str, Any]) -> bytes:
    """The first bytes of a file."""
    content = json.dumps(values).encode()
    lines = MAGIC + content + b"\n" + hashlib.sha256(content).hexdigest().encode() + b"\n"
    return lines.ljust(HEADER_BYTES, b"\0")


def _header(begin: bytes) -> dict[str, Any]:
    if not begin.startswith(MAGIC):
        raise ValueError("it begins otherwise")
    content, checksum, *_ = begin[len(MAGIC) :].split(b"\n")
    if hashlib.sha256(content).hexdigest().encode() != checksum:
        raise ValueError("the header's checksum is wrong")
    header: dict[str, Any] = json.loads(content)
    if header["format"] != FORMAT:
        raise ValueError(f"format {header['format']}, this one reads {FORMAT}")
    return header


class TokensBeside:
    """The tokens stored in the folder of an index: none, or those of a file that may appear or be replaced
    while it is in use. Threads may share it.
    """

    def __init__(self, folder: Path, vocabulary: Vocabulary) -> None:
        self.folder = folder
        self._vocabulary = vocabulary
        self._path = folder / file_name(vocabulary)
        self._lock = Lock()
        self._seen: tuple[int, int, int] | str | None = "nothing"
        self._reported = False
        """Whether somebody was told of damage to what is open."""
        self._opened: StoredTokens | None = None

    def __call__(self, documents: Sequence[Document]) -> Sequence[TokenisedDocument | None]:
        """The tokens of each document; None if they are not stored."""
        opened = self._current()
        if opened is None:
            return [None] * len(documents)
        found = [*opened.read(documents, pieces=self._vocabulary.pieces is not None)]
        if opened.damaged and not self._reported:
            self._reported = True
            self._warn(f"{self._path}: a record's checksum is wrong")
        return found

    def _current(self) -> StoredTokens | None:
        try:
            status = self._path.stat()
            # The size, too: a file that somebody cut off must not be read where it was.
            state = status.st_ino, status.st_mtime_ns, status.st_size
        except OSError:
            state = None
        with self._lock:
            if state != self._seen:
                self._seen, self._reported = state, False
                # What is open stays mapped for threads that are reading it.
                self._opened = self._open(state is not None)
            return self._opened

    def _open(self, is_there: bool) -> StoredTokens | None:
        try:
            if is_there:
                opened = StoredTokens.open(self._path)
                if opened.fits(self._vocabulary):
                    return opened
                self._warn(f"{self._path}: made for other word pieces than the ranker's")
            elif others := sorted(path.name for path in self.folder.glob("tokens-*.bin")):
                self._warn(f"{self.folder}: {', '.join(others)}: not for the ranker's vocabulary")
        except (StoredTokensError, OSError) as error:
            self._warn(str(error))
        return None

    def _warn(self, what: str) -> None:
        log.warning("%s; texts are tokenised instead, which takes longer: run `bioqa tokens`", what)
