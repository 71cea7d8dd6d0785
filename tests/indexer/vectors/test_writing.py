"""Writing vectors: what is new is encoded, whatever happened to the run before."""

import os
import resource
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bioqa.bioasq.domain import Document
from bioqa.indexer.vectors import writing
from bioqa.indexer.vectors.file import (
    HEADER_BYTES,
    EncoderRecord,
    Floats,
    VectorFile,
    VectorsError,
    file_name,
    record_type,
)
from bioqa.indexer.vectors.writing import write
from bioqa.system.locks import FileLock
from tests.indexer.vectors.toys import ENCODER, WIDTH, Toy, some_documents, vector_of


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "AT_ONCE", 4)


def test_a_second_run_encodes_what_is_new_or_revised(tmp_path: Path) -> None:
    documents, toy = some_documents(30), Toy()
    first = write(documents, ENCODER, toy, tmp_path)
    assert (first.citations, first.encoded, first.withdrawn) == (30, 30, 0)
    assert first.path == tmp_path / file_name(ENCODER)
    assert first.bytes == HEADER_BYTES + 30 * record_type(WIDTH).itemsize

    toy.encoded.clear()
    documents[4] = replace(documents[4], abstract="Another text.")
    second = write([*documents[:-1], *some_documents(2, 50)], ENCODER, toy, tmp_path)
    assert toy.encoded == ["5", "50", "51"]
    assert (second.citations, second.encoded, second.withdrawn) == (31, 3, 1)
    revised = vector_of(documents[4].title + documents[4].abstract)
    (nearest,) = VectorFile.open(second.path).nearest(revised, 1)
    assert nearest.pmid == "5"
    assert nearest.cosine == pytest.approx(1, abs=0.01)

    toy.encoded.clear()
    assert write([*documents[:-1], *some_documents(2, 50)], ENCODER, toy, tmp_path).encoded == 0
    assert toy.encoded == []


@pytest.mark.parametrize("whole", [0, 1, 9, 16])
def test_a_killed_run_loses_nothing_that_was_written(tmp_path: Path, whole: int) -> None:
    class Killed(BaseException):
        pass

    class Dying(Toy):
        def __call__(self, documents: Sequence[Document]) -> Floats:
            if len(self.encoded) >= whole:
                raise Killed
            return super().__call__(documents)

    documents, dying = some_documents(20), Dying()
    with pytest.raises(Killed):
        write(documents, ENCODER, dying, tmp_path)
    assert not (tmp_path / file_name(ENCODER)).exists()  # an index is searched by all vectors or by none
    part = (tmp_path / file_name(ENCODER)).with_suffix(".part")
    part.write_bytes(part.read_bytes() + b"half a record")
    toy = Toy()
    result = write(documents, ENCODER, toy, tmp_path)
    assert dying.encoded + toy.encoded == [each.pmid for each in documents]
    assert VectorFile.open(result.path).pmids.tolist() == [int(each.pmid) for each in documents]
    assert not part.exists()


def test_damaged_records_are_encoded_again(tmp_path: Path) -> None:
    documents = some_documents(9)
    path = write(documents, ENCODER, Toy(), tmp_path).path
    content = bytearray(path.read_bytes())
    content[HEADER_BYTES + 3 * record_type(WIDTH).itemsize - 1] ^= 1
    path.write_bytes(content)
    toy = Toy()
    assert write(documents, ENCODER, toy, tmp_path).encoded == 1
    assert toy.encoded == ["3"]
    near = VectorFile.open(path).nearest(vector_of(documents[2].title + documents[2].abstract), 9)
    assert near[0].pmid == "3"


def test_what_is_no_longer_used_is_left_out_when_it_is_much(tmp_path: Path) -> None:
    documents = some_documents(20)
    path = write(documents, ENCODER, Toy(), tmp_path).path
    few = write(documents[2:], ENCODER, Toy(), tmp_path)
    assert few.withdrawn == 2
    assert len(VectorFile.open(path)) == 20
    write(documents[10:], ENCODER, Toy(), tmp_path)
    assert VectorFile.open(path).pmids.tolist() == [int(each.pmid) for each in documents[10:]]


def test_a_file_that_cannot_be_read_is_replaced(tmp_path: Path) -> None:
    (tmp_path / file_name(ENCODER)).write_bytes(b"rubbish")
    assert write(some_documents(3), ENCODER, Toy(), tmp_path).encoded == 3


def test_two_encoders_have_two_files(tmp_path: Path) -> None:
    other = EncoderRecord("other", "cd" * 32, WIDTH)
    paths = {write(some_documents(3), each, Toy(), tmp_path).path for each in (ENCODER, other)}
    assert len(paths) == 2


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    lock = (tmp_path / file_name(ENCODER)).with_suffix(".lock")
    with FileLock(lock), pytest.raises(VectorsError, match="another process is writing"):
        write(some_documents(3), ENCODER, Toy(), tmp_path)


@pytest.mark.parametrize(
    ("vectors", "reason"),
    [
        (np.ones((3, WIDTH + 1), dtype=np.float32), "of the shape"),
        (np.full((3, WIDTH), np.nan, dtype=np.float32), "not finite"),
    ],
)
def test_vectors_that_cannot_be_right_are_refused(tmp_path: Path, vectors: Floats, reason: str) -> None:
    with pytest.raises(VectorsError, match=reason):
        write(some_documents(3), ENCODER, lambda documents: vectors, tmp_path)


def test_a_full_disk_is_named_and_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, synced = Toy(), os.fsync

    def full(descriptor: int) -> None:
        if first.encoded:
            raise OSError(28, "No space left on device")
        synced(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(VectorsError, match="No space left on device"):
            write(some_documents(6), ENCODER, first, tmp_path)
    toy = Toy()
    assert write(some_documents(6), ENCODER, toy, tmp_path).citations == 6
    assert toy.encoded == ["5", "6"]


def test_a_file_that_may_not_grow_is_named_and_nothing_is_lost(tmp_path: Path) -> None:
    """As on a full disk, a part of what is written gets there."""
    documents, size = some_documents(12), record_type(WIDTH).itemsize
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (HEADER_BYTES + 5 * size + 7, hard))
    try:
        with pytest.raises(VectorsError, match="File too large; what is written stays"):
            write(documents, ENCODER, Toy(), tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    toy = Toy()
    result = write(documents, ENCODER, toy, tmp_path)
    assert toy.encoded == [document.pmid for document in documents[5:]]
    assert VectorFile.open(result.path).pmids.tolist() == [int(document.pmid) for document in documents]


def test_progress_is_reported(tmp_path: Path) -> None:
    reports: list[tuple[int, int]] = []
    write(some_documents(9), ENCODER, Toy(), tmp_path, lambda done, encoded: reports.append((done, encoded)))
    assert reports[-1] == (9, 9)
    assert reports == sorted(reports)
