"""The vectors beside an index: none, one file, a newer one, one that is extended or damaged."""

import os
from pathlib import Path

import pytest

from bioqa.indexer.vectors.beside import VectorsBeside
from bioqa.indexer.vectors.file import EncoderRecord, VectorsError
from bioqa.indexer.vectors.writing import write
from tests.indexer.vectors.toys import ENCODER, WIDTH, Toy, some_documents


def test_it_follows_the_folder(tmp_path: Path) -> None:
    beside = VectorsBeside(tmp_path)
    assert beside.current() is None
    path = write(some_documents(3), ENCODER, Toy(), tmp_path).path
    opened = beside.current()
    assert opened is not None
    assert len(opened) == 3
    assert beside.current() is opened
    write(some_documents(5), ENCODER, Toy(), tmp_path)
    extended = beside.current()
    assert extended is not None
    assert len(extended) == 5
    path.unlink()
    assert beside.current() is None


def test_the_file_that_was_written_last_counts(tmp_path: Path) -> None:
    other = EncoderRecord("other", "cd" * 32, WIDTH)
    for age, encoder in enumerate((other, ENCODER)):
        os.utime(write(some_documents(2), encoder, Toy(), tmp_path).path, (100, 100 - age))
    opened = VectorsBeside(tmp_path).current()
    assert opened is not None
    assert opened.encoder == other


def test_a_damaged_file_is_an_error_each_time(tmp_path: Path) -> None:
    (tmp_path / "vectors-00000000.bin").write_bytes(b"rubbish")
    beside = VectorsBeside(tmp_path)
    for _ in range(2):
        with pytest.raises(VectorsError, match="no vectors that this bioqa can read"):
            beside.current()
