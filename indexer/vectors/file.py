"""A file of vectors beside an index: one record of fixed length for each citation, in eight bits.

After a header come records: PMID, digest of the text that was encoded, scale, checksum, and whole numbers
from -127 to 127, which times the scale are the vector. New records are appended, and of several with one PMID
the last one counts. So a run that is killed loses no record that was written whole, and a citation that was
revised costs its own encoding alone. Numbers are little-endian. The file is mapped into memory.

The header names the encoder by the hash of its weights: vectors of two encoders cannot be compared.
"""

import hashlib
import json
import mmap
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bioqa.bioasq.domain import Document
from bioqa.system.errors import BioqaError

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Records = npt.NDArray[np.void]

FORMAT = 1
MAGIC = b"bioqa vectors\n"
HEADER_BYTES = 4096

MAX_WIDTH = 4096
"""Numbers of a vector: more than any encoder has that anybody would search with."""

_AT_ONCE = 1024
"""Records scored together: as single precision they stay within a processor's second cache."""


class VectorsError(BioqaError):
    """A file of vectors cannot be used."""


@dataclass(frozen=True, slots=True)
class EncoderRecord:
    """The encoder that a file's vectors come from."""

    name: str
    hash: str
    """SHA-256 of all that its vectors depend on, in hexadecimal."""
    width: int
    """Numbers of a vector."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What a program needs besides the name to load the same encoder again."""


@dataclass(frozen=True, slots=True)
class Near:
    """A citation and how close its vector is to the question's: the cosine, from -1 to 1."""

    pmid: str
    cosine: float


def file_name(encoder: EncoderRecord) -> str:
    """The name of an encoder's file in an index's folder."""
    return f"vectors-{encoder.hash[:8]}.bin"


def record_type(width: int) -> np.dtype[np.void]:
    return np.dtype(
        [("pmid", "<i8"), ("digest", "<u8"), ("scale", "<f4"), ("checksum", "<u4"), ("codes", "i1", (width,))]
    )


def digest(document: Document) -> int:
    """64 bits of the text that a citation's vector depends on."""
    text = f"{document.title}\0{document.abstract}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "little")


def records_of(pmids: Sequence[int], digests: Sequence[int], vectors: Floats) -> Records:
    """Records of vectors [citations, width], which become vectors of length 1."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.maximum(lengths, np.float32(1e-12))
    scales = np.maximum(np.abs(unit).max(axis=1), np.float32(1e-12)) / np.float32(127)
    records: Records = np.zeros(len(pmids), dtype=record_type(vectors.shape[1]))
    records["pmid"], records["digest"], records["scale"] = pmids, digests, scales
    records["codes"] = np.rint(unit / scales[:, None])
    records["checksum"] = [checksum(record) for record in records]
    return records


def checksum(record: Any) -> int:
    """The checksum of a record without the checksum itself."""
    content = record.tobytes()
    begin = record.dtype.fields["checksum"][1]
    return zlib.crc32(content[begin + 4 :], zlib.crc32(content[:begin]))


def header_of(encoder: EncoderRecord) -> bytes:
    content = json.dumps({"format": FORMAT, "encoder": asdict(encoder)}).encode()
    lines = MAGIC + content + b"\n" + hashlib.sha256(content).hexdigest().encode() + b"\n"
    if len(lines) > HEADER_BYTES:
        raise VectorsError(f"the encoder's name is too long: {encoder.name[:100]}…")
    return lines.ljust(HEADER_BYTES, b"\0")


def encoder_of(header: bytes) -> EncoderRecord:
    """The encoder that a header names. Raises ValueError, KeyError or TypeError."""
    if not header.startswith(MAGIC):
        raise ValueError("it begins otherwise")
    if len(header) < HEADER_BYTES:
        raise ValueError(f"its header of {HEADER_BYTES:,} bytes is cut")
    content, expected, *_ = header[len(MAGIC) :].split(b"\n")
    if hashlib.sha256(content).hexdigest().encode() != expected:
        raise ValueError("the header's checksum is wrong")
    values = json.loads(content)
    if values["format"] != FORMAT:
        raise ValueError(f"format {values['format']}, this one reads {FORMAT}")
    encoder = EncoderRecord(**values["encoder"])
    if not 1 <= encoder.width <= MAX_WIDTH:
        raise ValueError(f"{encoder.width} numbers in a vector, at most {MAX_WIDTH} are possible")
    return encoder


class VectorFile:
    """An opened file. Threads may share it."""

    def __init__(self, encoder: EncoderRecord, records: Records) -> None:
        self.encoder = encoder
        self._records = records
        places, self.pmids = _last_of_each(records["pmid"])
        self._superseded = np.setdiff1d(np.arange(len(records)), places, assume_unique=True)
        self._places = places

    @classmethod
    def open(cls, path: Path) -> Self:
        """Map the file. Raises VectorsError if it is damaged, or of another format.

        A last record that is not complete is one that is being written, or was when its writer was killed.
        """
        try:
            with path.open("rb") as file:
                encoder = encoder_of(file.read(HEADER_BYTES))
                kind = record_type(encoder.width)
                count = (file.seek(0, 2) - HEADER_BYTES) // kind.itemsize
                if count < 1:
                    return cls(encoder, np.zeros(0, dtype=kind))
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise VectorsError(f"{path}: cannot be read: {error.strerror or error}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise VectorsError(f"{path}: no vectors that this bioqa can read: {error}") from error
        return cls(encoder, np.frombuffer(mapped, kind, count, HEADER_BYTES))

    def __len__(self) -> int:
        """Number of citations."""
        return len(self.pmids)

    @property
    def superseded(self) -> int:
        """Number of records that later ones replace."""
        return len(self._superseded)

    def record(self, position: int) -> Any:
        return self._records[position]

    def places(self, pmids: Ints) -> Ints:
        """Where the records of PMIDs are; -1 for those without one."""
        if not len(self.pmids):
            return np.full(len(pmids), -1)
        at = np.minimum(np.searchsorted(self.pmids, pmids), len(self.pmids) - 1)
        return np.where(self.pmids[at] == pmids, self._places[at], -1)

    def vector(self, pmid: int) -> Floats | None:
        """A citation's vector [width]; None if it has none. Raises VectorsError if its record is damaged."""
        place = int(self.places(np.array([pmid], dtype=np.int64))[0])
        if place < 0:
            return None
        self._check(place)
        codes = self._records["codes"][place].astype(np.float32)
        vector: Floats = codes * self._records["scale"][place]
        return vector

    def nearest(self, question: Floats, size: int, pmids: Ints | None = None) -> list[Near]:
        """The ``size`` citations whose vectors are closest to the question's [width], closest first; ties in
        ascending order of PMIDs. Compared with all of them, or with those of ``pmids``.

        Raises VectorsError if the question's vector is of another width, or if a record is damaged.
        """
        if question.shape != (self.encoder.width,):
            raise VectorsError(
                f"a vector of {question.shape[-1]} numbers cannot be compared with those of "
                f"{self.encoder.name}, which have {self.encoder.width}"
            )
        question = question / max(float(np.linalg.norm(question)), 1e-12)
        if pmids is None:
            places, scores = np.arange(len(self._records)), self._scores(self._records, question)
            scores[self._superseded] = -np.inf
        else:
            places = self.places(np.unique(pmids))
            places = places[places >= 0]
            scores = self._scores(self._records[places], question)
        size = min(size, len(places) if pmids is not None else len(self))
        if size < 1:
            return []
        # Of equal ones at the edge all, as the order among them is by PMID.
        edge = np.partition(scores, len(scores) - size)[len(scores) - size]
        near = np.flatnonzero(scores >= edge)
        numbers = self._records["pmid"][places[near]]
        order = np.lexsort((numbers, -scores[near]))[:size]
        for position in places[near[order]].tolist():
            self._check(position)
        return [Near(str(numbers[row]), float(scores[near[row]])) for row in order]

    def _check(self, position: int) -> None:
        if checksum(self._records[position]) != self._records[position]["checksum"]:
            raise VectorsError(f"a vector of {self.encoder.name} is damaged: record {position:,}")

    def _scores(self, records: Records, question: Floats) -> Floats:
        scores = np.empty(len(records), dtype=np.float32)
        codes = records["codes"]
        for begin in range(0, len(records), _AT_ONCE):
            some = codes[begin : begin + _AT_ONCE].astype(np.float32)
            scores[begin : begin + _AT_ONCE] = some @ question
        scores *= records["scale"]
        # Only a damaged record has a score that is no number. It must be looked at, not hide the others.
        scores[np.isnan(scores)] = np.inf
        return scores


def _last_of_each(pmids: Ints) -> tuple[Ints, Ints]:
    """The place of each number's last occurrence, in ascending order of numbers; and the numbers."""
    numbers, from_behind = np.unique(pmids[::-1], return_index=True)
    return len(pmids) - 1 - from_behind, numbers
