"""A file of vectors: what is nearest, and what cannot be used."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.indexer.vectors.file import (
    HEADER_BYTES,
    EncoderRecord,
    VectorFile,
    VectorsError,
    file_name,
    header_of,
    record_type,
    records_of,
)
from tests.indexer.vectors.toys import ENCODER, WIDTH


def made(
    folder: Path, pmids: list[int], seed: int = 0
) -> tuple[Path, np.ndarray[tuple[int, int], np.dtype[np.float32]]]:
    vectors = np.random.default_rng(seed).standard_normal((len(pmids), WIDTH)).astype(np.float32)
    path = folder / file_name(ENCODER)
    path.write_bytes(header_of(ENCODER) + records_of(pmids, [0] * len(pmids), vectors).tobytes())
    return path, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_it_finds_what_is_nearest(tmp_path: Path) -> None:
    pmids = [*range(5000, 7500)]
    path, vectors = made(tmp_path, pmids)
    question = vectors[17] + vectors[1800]
    found = VectorFile.open(path).nearest(question, 50)
    exact = vectors @ (question / np.linalg.norm(question))
    assert {each.pmid for each in found[:2]} == {"5017", "6800"}
    assert [each.cosine for each in found] == sorted((each.cosine for each in found), reverse=True)
    for each in found:
        assert each.cosine == pytest.approx(exact[int(each.pmid) - 5000], abs=0.01)
    overlap = {each.pmid for each in found} & {str(5000 + place) for place in np.argsort(-exact)[:50]}
    assert len(overlap) >= 48


def test_a_citations_own_vector(tmp_path: Path) -> None:
    path, vectors = made(tmp_path, [7, 5, 9])
    opened = VectorFile.open(path)
    own = opened.vector(5)
    assert own is not None
    np.testing.assert_allclose(own, vectors[1], atol=0.01)
    assert opened.vector(6) is None
    assert VectorFile(ENCODER, np.zeros(0, dtype=record_type(WIDTH))).vector(5) is None
    with path.open("r+b") as file:
        file.seek(HEADER_BYTES + record_type(WIDTH).itemsize + 30)
        file.write(b"\x55\xaa")
    with pytest.raises(VectorsError, match="damaged: record 1"):
        VectorFile.open(path).vector(5)


@pytest.mark.parametrize("scale", [np.nan, np.inf, -np.inf])
def test_a_scale_that_is_no_number_is_noticed(tmp_path: Path, scale: float) -> None:
    path, vectors = made(tmp_path, [*range(1, 30)])
    place = HEADER_BYTES + 7 * record_type(WIDTH).itemsize + 16
    content = bytearray(path.read_bytes())
    content[place : place + 4] = np.float32(scale).tobytes()
    path.write_bytes(content)
    opened = VectorFile.open(path)
    found = []
    for sign in (1, -1):
        with suppress(VectorsError):
            found.append(opened.nearest(sign * vectors[3], 5))
    # Infinite, it is the closest one way, and the farthest the other way.
    assert len(found) <= 1
    assert all(len(near) == 5 for near in found)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 70), st.sets(st.integers(0, 40)))
def test_of_several_records_of_a_pmid_the_last_one_counts(
    pmids: list[int], size: int, wanted: set[int]
) -> None:
    vectors = np.random.default_rng(1).standard_normal((len(pmids), WIDTH)).astype(np.float32)
    opened = VectorFile(ENCODER, records_of(pmids, [0] * len(pmids), vectors))
    last = {pmid: vectors[place] for place, pmid in enumerate(pmids)}
    question = vectors[0]
    everything = opened.nearest(question, 1000)
    assert sorted(int(each.pmid) for each in everything) == sorted(last)
    for each in everything:
        own = last[int(each.pmid)]
        cosine = float(own @ question / np.linalg.norm(own) / np.linalg.norm(question))
        assert each.cosine == pytest.approx(cosine, abs=0.02)
    assert opened.nearest(question, size) == everything[:size]
    among = opened.nearest(question, 1000, np.array(sorted(wanted), dtype=np.int64))
    assert [each.pmid for each in among] == [each.pmid for each in everything if int(each.pmid) in wanted]
    assert len(opened) == len(last)
    assert opened.superseded == len(pmids) - len(last)


def test_of_equal_ones_the_lower_pmids_come_first() -> None:
    vectors = np.ones((40, WIDTH), dtype=np.float32)
    pmids = [*range(140, 100, -1)]
    opened = VectorFile(ENCODER, records_of(pmids, [0] * 40, vectors))
    assert [each.pmid for each in opened.nearest(vectors[0], 5)] == ["101", "102", "103", "104", "105"]


def test_an_empty_file_has_nothing(tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    path.write_bytes(header_of(ENCODER))
    opened = VectorFile.open(path)
    assert len(opened) == 0
    assert opened.nearest(np.ones(WIDTH, dtype=np.float32), 10) == []
    assert opened.nearest(np.ones(WIDTH, dtype=np.float32), 10, np.array([4])) == []


def test_a_vector_of_zeros_is_no_error() -> None:
    opened = VectorFile(ENCODER, records_of([1, 2], [0, 0], np.zeros((2, WIDTH), dtype=np.float32)))
    assert [each.cosine for each in opened.nearest(np.zeros(WIDTH, dtype=np.float32), 2)] == [0.0, 0.0]


def test_an_incomplete_last_record_is_not_read(tmp_path: Path) -> None:
    path, _ = made(tmp_path, [1, 2, 3])
    path.write_bytes(path.read_bytes()[:-5])
    assert VectorFile.open(path).pmids.tolist() == [1, 2]


def test_another_width_is_refused(tmp_path: Path) -> None:
    path, _ = made(tmp_path, [1])
    with pytest.raises(VectorsError, match=r"a vector of 7 numbers cannot be compared .* toy, which have 24"):
        VectorFile.open(path).nearest(np.ones(7, dtype=np.float32), 1)


def test_a_damaged_vector_is_noticed_when_it_is_near(tmp_path: Path) -> None:
    path, vectors = made(tmp_path, [1, 2, 3])
    content = bytearray(path.read_bytes())
    content[HEADER_BYTES + 2 * record_type(WIDTH).itemsize - 1] ^= 8
    path.write_bytes(content)
    with pytest.raises(VectorsError, match="damaged: record 1"):
        VectorFile.open(path).nearest(vectors[1], 2)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "begins otherwise"),
        (b"something else" * 500, "begins otherwise"),
        (header_of(ENCODER).replace(b"toy", b"Toy"), "checksum is wrong"),
        (header_of(EncoderRecord("wide", "c" * 64, 5000)), "5000 numbers"),
        (header_of(ENCODER)[:20], "."),
    ],
)
def test_what_is_no_such_file_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "vectors-1.bin"
    path.write_bytes(content)
    with pytest.raises(VectorsError, match=reason) as caught:
        VectorFile.open(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(VectorsError, match="cannot be read"):
        VectorFile.open(tmp_path / "no.bin")


def test_a_name_that_does_not_fit_is_refused() -> None:
    with pytest.raises(VectorsError, match="name is too long"):
        header_of(EncoderRecord("x" * 5000, "d" * 64, 8))
