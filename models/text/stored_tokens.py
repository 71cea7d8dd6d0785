"""The tokens of an index's documents, in a file beside it: a ranker reads them instead of tokenising texts.

A document's are taken only if a digest of its text is the stored one, so that those of revised citations, and
of texts that a ranker gets otherwise, are made as they would be without the file. Scores are the same.

The file (``bioqa.system.arrayfile``) has one array with all records, in ascending order of PMIDs, and arrays
with a number for each document: what finds and checks its record.
"""

import hashlib
import logging
import struct
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Lock

import nltk
import numpy as np
import numpy.typing as npt

from bioqa.bioasq.domain import Document
from bioqa.models.arrays import Ints
from bioqa.models.text.strings import KnownStrings
from bioqa.models.text.tokens import TokenisedDocument, tokenise_documents
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.system.arrayfile import Array, ArrayFileError, open_arrays, write_arrays
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import replacing
from bioqa.system.stamps import Stamp, stamp_of

FORMAT = 3
"""Incremented when the file, or what tokenising makes of a text, changes."""

COLUMNS = {"pmids": "I64", "digests": "U64", "ends": "I64", "checksums": "U32"}
"""Numbers of each document. ``ends``: of its record, in units from the first record's begin."""

ELSEWHERE = (1 << 16) - 1
"""Stands for an id that does not fit into 16 bits, such as an unknown word's; those follow, of 64 bits."""

HEAD = 5
"""Units at a record's begin: the numbers of sentences, title sentences, words, stems and pieces."""

AT_ONCE = 256
"""Documents tokenised together."""

Record = npt.NDArray[np.uint16]

log = logging.getLogger("bioqa")


def fingerprints(vocabulary: Vocabulary) -> dict[str, str]:
    """SHA-256 of what words and stems, and of what pieces depend on: its names, not its other numbers.

    That of pieces is empty if the vocabulary has none.
    """
    # Which characters are letters, and what their lower case is; what Snowball makes of terms.
    libraries = f"{FORMAT} {unicodedata.unidata_version} {nltk.__version__}"
    words = hashlib.sha256("\n".join((libraries, *vocabulary.words, "", *vocabulary.terms)).encode())
    words.update(vocabulary.term_stems.astype("<i8").tobytes())
    names = "\n".join(vocabulary.pieces.names if vocabulary.pieces else ())
    pieces = hashlib.sha256(names.encode()).hexdigest() if names else ""
    return {"words": words.hexdigest(), "pieces": pieces}


def file_name(vocabulary: Vocabulary) -> str:
    """The name of the file in an index's folder: one for all vocabularies that differ in pieces alone."""
    return f"tokens-{fingerprints(vocabulary)['words'][:8]}.bin"


def digests(documents: Sequence[Document]) -> npt.NDArray[np.uint64]:
    """64 bits of all that a document's tokens depend on: its texts, and where its sentences are."""
    values = []
    for document in documents:
        title, spans = document.title, document.sentence_spans()
        numbers = struct.pack(f"<{2 + len(spans)}q", len(title), document.title_sentences, *spans)
        text = (title + document.abstract).encode("utf-8", "surrogatepass")
        values.append(hashlib.sha256(numbers + text).digest()[:8])
    return np.frombuffer(b"".join(values), "<u8")


def pmids(documents: Sequence[Document]) -> Ints:
    """As numbers; -1 for what is none."""
    # One that is longer than any PMID would not fit into 64 bits.
    numbers = (int(d.pmid) if d.pmid.isdecimal() and len(d.pmid) < 19 else -1 for d in documents)
    return np.fromiter(numbers, dtype=np.int64, count=len(documents))


def record_of(tokens: TokenisedDocument) -> Record | None:
    """The record of a document; None for one that does not fit into it, as hardly any does."""
    ids = np.concatenate([tokens.words, tokens.stems, tokens.pieces])
    elsewhere = (ids < 0) | (ids >= ELSEWHERE)
    head = [len(tokens.titles), tokens.titles.sum(), len(tokens.words), len(tokens.stems), len(tokens.pieces)]
    counts = tokens.word_counts, tokens.stem_counts, tokens.piece_counts, tokens.characters
    numbers = np.concatenate([head, *counts, np.where(elsewhere, ELSEWHERE, ids)])
    if numbers.max() > ELSEWHERE:
        return None
    return np.concatenate([numbers.astype("<u2"), ids[elsewhere].astype("<i8").view("<u2")])


def tokens_of(record: Record, *, pieces: bool) -> TokenisedDocument:
    """The inverse of ``record_of``, with or without the word pieces."""
    sentences, titles, words, stems, others = record[:HEAD].tolist()
    begin = HEAD + 4 * sentences
    end = begin + words + stems + others
    numbers = record[:end].astype(np.int64)
    counts, ids = numbers[HEAD:begin].reshape(4, sentences), numbers[begin:]
    ids[ids == ELSEWHERE] = record[end:].view("<i8")
    return TokenisedDocument(
        words=ids[:words],
        word_counts=counts[0],
        stems=ids[words : words + stems],
        stem_counts=counts[1],
        pieces=ids[words + stems :] if pieces else ids[:0],
        piece_counts=counts[2] if pieces else np.zeros_like(counts[2]),
        characters=counts[3],
        titles=np.arange(sentences) < titles,
    )


class TokensBeside:
    """The tokens stored in the folder of an index: none, or those of a file that may appear or be replaced
    while it is in use. Threads may share it.
    """

    def __init__(self, folder: Path, vocabulary: Vocabulary, *, quiet: bool = False) -> None:
        """``quiet``: without a warning of a file that is damaged or made for another vocabulary."""
        self.folder, self.path = folder, folder / file_name(vocabulary)
        self.stored_pieces = ""
        """The fingerprint of the pieces that the file has."""
        self._fingerprints = fingerprints(vocabulary)
        self._lock = Lock()
        self._quiet = quiet
        self._seen: Stamp | str | None = "nothing"
        self._arrays: dict[str, Array] = {}
        self._warned = False

    def __call__(self, documents: Sequence[Document]) -> list[TokenisedDocument | None]:
        """The tokens of each document; None if they are not stored."""
        pieces = self._fingerprints["pieces"] != ""
        records = self.records(documents)
        return [None if record is None else tokens_of(record, pieces=pieces) for record in records]

    def records(self, documents: Sequence[Document]) -> list[Record | None]:
        """The record of each document; None if it is not stored, not of this text, or damaged."""
        arrays = self._current()
        if not arrays or not len(arrays["pmids"]):
            return [None] * len(documents)
        wanted, ends = pmids(documents), arrays["ends"]
        rows = np.minimum(np.searchsorted(arrays["pmids"], wanted), len(ends) - 1)
        is_stored = (arrays["pmids"][rows] == wanted) & (arrays["digests"][rows] == digests(documents))
        begins = np.where(rows > 0, ends[rows - 1], 0)
        columns = (is_stored, begins, ends[rows], arrays["checksums"][rows])
        return [
            self._check(arrays["records"][begin:end], checksum) if stored else None
            for stored, begin, end, checksum in zip(*(column.tolist() for column in columns), strict=True)
        ]

    def _check(self, record: Record, checksum: int) -> Record | None:
        if len(record) and zlib.crc32(record.data) == checksum:
            return record
        self._warn(f"{self.path}: a record's checksum is wrong")
        return None

    def _current(self) -> dict[str, Array]:
        stamp = stamp_of(self.path)
        with self._lock:
            if stamp != self._seen:
                # What is open stays mapped for threads that are reading it.
                self._seen, self._arrays, self._warned = stamp, {}, False
                try:
                    self._arrays = self._open(stamp is not None)
                except (ArrayFileError, OSError) as error:
                    self._warn(str(error))
            return self._arrays

    def _open(self, is_there: bool) -> dict[str, Array]:
        if not is_there:
            if others := sorted(path.name for path in self.folder.glob("tokens-*.bin")):
                self._warn(f"{self.folder}: {', '.join(others)}: not for the ranker's vocabulary")
            return {}
        facts, arrays = open_arrays(self.path)
        if arrays.keys() != {"records", *COLUMNS} or facts.get("words") != self._fingerprints["words"]:
            raise ArrayFileError(f"{self.path}: no tokens that this bioqa can read")
        self.stored_pieces = facts.get("pieces", "")
        if self._fingerprints["pieces"] not in ("", self.stored_pieces):
            raise ArrayFileError(f"{self.path}: made for other word pieces than the ranker's")
        return arrays

    def _warn(self, what: str) -> None:
        if not self._warned and not self._quiet:
            self._warned = True
            log.warning("%s; texts are tokenised instead, which takes longer: run `bioqa tokens`", what)


@dataclass(frozen=True, slots=True)
class Stored:
    """What was written."""

    path: Path
    documents: int
    made: int
    """Number of those that the old file did not have as they are now."""
    bytes: int


def store(
    documents: Iterable[Document],
    vocabulary: Vocabulary,
    folder: Path,
    progress: Callable[[int], None] = lambda done: None,
) -> Stored:
    """Store the tokens of documents, which come in ascending order of PMIDs, in the folder of their index.

    What an older file there has of the same texts is copied; the new one replaces it when it is complete.
    ``progress`` is called with the number of documents done. Takes 28 bytes of memory for each. Raises
    BioqaError if the file cannot be written.
    """
    old = TokensBeside(folder, vocabulary, quiet=True)  # what cannot be read is replaced
    old.records([])
    if old.stored_pieces and vocabulary.pieces is None:
        raise BioqaError(
            f"{old.path} is for rankers with word pieces, and serves those without, too: "
            "name one that has them"
        )
    columns: dict[str, list[Array]] = {name: [] for name in (*COLUMNS, "made")}
    # The columns grow while the records are written, before them.
    arrays: dict[str, tuple[str, Iterable[Array]]] = {
        "records": ("U16", _records(documents, vocabulary, old, columns, progress)),
        **{name: (kind, columns[name]) for name, kind in COLUMNS.items()},
    }
    try:
        with replacing(old.path) as file:
            write_arrays(file, fingerprints(vocabulary), arrays)
    except OSError as error:
        raise BioqaError(f"{old.path}: cannot be written: {error.strerror or error}") from error
    count, elements = (sum(map(len, columns[name])) for name in ("pmids", "made"))
    return Stored(old.path, count, elements, old.path.stat().st_size)


def _records(
    documents: Iterable[Document],
    vocabulary: Vocabulary,
    old: TokensBeside,
    columns: dict[str, list[Array]],
    progress: Callable[[int], None],
) -> Iterator[Record]:
    """Yield records, old or made anew, and add to the columns; "made": the PMIDs of those made anew."""
    strings, remaining = KnownStrings(vocabulary), iter(documents)
    done = end = 0
    while batch := [*islice(remaining, AT_ONCE)]:
        stored = old.records(batch)
        missing = [position for position, record in enumerate(stored) if record is None]
        tokens = tokenise_documents([batch[position] for position in missing], vocabulary, strings)
        for position, tokenised in zip(missing, tokens, strict=True):
            stored[position] = record_of(tokenised)
        # A document that does not fit is tokenised whenever it is read.
        records = [record for record in stored if record is not None]
        kept = [document for document, record in zip(batch, stored, strict=True) if record is not None]
        new = [batch[position] for position in missing if stored[position] is not None]
        columns["pmids"].append(pmids(kept))
        columns["digests"].append(digests(kept))
        columns["ends"].append(end + np.cumsum([*map(len, records)], dtype=np.int64))
        columns["checksums"].append(np.array([zlib.crc32(record.data) for record in records]))
        columns["made"].append(pmids(new))
        yield from records
        end += sum(map(len, records))
        progress(done := done + len(batch))
    yield np.zeros(-end % 4, dtype="<u2")  # so that the columns are aligned
