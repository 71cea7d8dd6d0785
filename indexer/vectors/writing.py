"""Writing the vectors of an index's citations, so that a run that is killed loses nothing.

A file that is made for the first time has the ending ``.part`` until every citation has its vector: an index
is searched by all of its vectors or by none. Later runs append to the complete file.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from bioqa.bioasq.domain import Document
from bioqa.indexer.vectors.file import (
    HEADER_BYTES,
    EncoderRecord,
    Floats,
    VectorFile,
    VectorsError,
    checksum,
    digest,
    file_name,
    header_of,
    record_type,
    records_of,
)
from bioqa.system.jsonfile import replacing
from bioqa.system.locks import FileLock, LockTaken

AT_ONCE = 512
"""Citations encoded together: enough to put texts of one length together, few enough to lose little."""

MOST_UNUSED = 0.2
"""Share of records that nothing refers to any more, from which the file is written anew without them."""

Encode = Callable[[Sequence[Document]], Floats]
"""Makes the vectors [citations, width] of citations."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a run did."""

    path: Path
    citations: int
    encoded: int
    """Those of them without a vector of their text as it is now."""
    withdrawn: int
    """Citations that the index no longer has."""
    bytes: int


def write(
    documents: Iterable[Document],
    encoder: EncoderRecord,
    encode: Encode,
    folder: Path,
    progress: Callable[[int, int], None] = lambda done, encoded: None,
) -> Written:
    """Write the vectors that are missing into the folder of the documents' index.

    ``progress`` is called with the numbers of citations done and of those encoded. Takes some 300 bytes of
    memory a citation. Raises VectorsError if the file cannot be written, or if another process is writing it.
    """
    path = folder / file_name(encoder)
    part = path.with_suffix(".part")
    try:
        with FileLock(path.with_suffix(".lock")):
            growing = path if path.exists() else part
            wanted, encoded = _extend(growing, documents, encoder, encode, progress)
            withdrawn = _compact(growing, wanted)
            if growing is part:
                part.replace(path)
    except LockTaken as error:
        raise VectorsError(f"{path}: another process is writing it") from error
    except OSError as error:
        raise VectorsError(
            f"{path}: cannot be written: {error.strerror or error}; what is written stays, "
            "and the next run continues there"
        ) from error
    return Written(path, len(wanted), encoded, withdrawn, path.stat().st_size)


def _extend(
    path: Path,
    documents: Iterable[Document],
    encoder: EncoderRecord,
    encode: Encode,
    progress: Callable[[int, int], None],
) -> tuple[dict[int, int], int]:
    """Append records of what is new or revised. Returns each PMID's digest, and how many were encoded."""
    records = _begin(path, encoder)
    wanted: dict[int, int] = {}
    remaining, encoded = iter(documents), 0
    waiting: list[tuple[int, Document]] = []
    with path.open("ab") as file:

        def flush() -> None:
            nonlocal encoded
            if waiting:
                vectors = _check(encode([document for _, document in waiting]), encoder, len(waiting))
                pmids = [pmid for pmid, _ in waiting]
                file.write(records_of(pmids, [wanted[pmid] for pmid in pmids], vectors).tobytes())
                file.flush()
                os.fsync(file.fileno())
                encoded += len(waiting)
                waiting.clear()

        while some := [*islice(remaining, AT_ONCE)]:
            for document in some:
                pmid = int(document.pmid)
                wanted[pmid] = digest(document)
                if records.get(pmid) != wanted[pmid]:
                    waiting.append((pmid, document))
            if len(waiting) >= AT_ONCE:
                flush()
            progress(len(wanted), encoded)
        flush()
        progress(len(wanted), encoded)
    return wanted, encoded


def _begin(path: Path, encoder: EncoderRecord) -> dict[int, int]:
    """Make the file ready for appending. Returns the digests of its undamaged records by PMID."""
    try:
        opened = VectorFile.open(path)
        if opened.encoder != encoder:
            raise VectorsError(f"{path} is of another encoder: {opened.encoder.name}")
    except VectorsError:
        # There is none, or it cannot be used: nothing of it is worth keeping.
        with replacing(path) as file:
            file.write(header_of(encoder))
        return {}
    size = record_type(encoder.width).itemsize
    whole = (path.stat().st_size - HEADER_BYTES) // size
    records = {}
    for position in opened.places(opened.pmids).tolist():
        record = opened.record(position)
        if checksum(record) == record["checksum"]:
            records[int(record["pmid"])] = int(record["digest"])
    # A record that a killed run left incomplete. What is mapped by others ends before it.
    os.truncate(path, HEADER_BYTES + whole * size)
    return records


def _check(vectors: Floats, encoder: EncoderRecord, count: int) -> Floats:
    if vectors.shape != (count, encoder.width):
        raise VectorsError(
            f"{encoder.name} made vectors of the shape {vectors.shape}, expected {(count, encoder.width)}"
        )
    if not np.isfinite(vectors).all():
        raise VectorsError(f"{encoder.name} made a vector with a number that is not finite")
    return np.asarray(vectors, dtype=np.float32)


def _compact(path: Path, wanted: dict[int, int]) -> int:
    """Write the file anew if too much of it is not used. Returns how many citations it has no longer."""
    opened = VectorFile.open(path)
    places = opened.places(opened.pmids)
    kept = np.fromiter((pmid in wanted for pmid in opened.pmids.tolist()), dtype=bool, count=len(opened))
    withdrawn = int((~kept).sum())
    if withdrawn + opened.superseded > MOST_UNUSED * len(opened):
        with replacing(path) as file:
            file.write(header_of(opened.encoder))
            for position in places[kept].tolist():
                file.write(opened.record(position).tobytes())
    return withdrawn
