from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from bioqa.models.text.pieces import FILES, PiecesError, WordPieces, _Splits, as_stored, unit
from bioqa.models.text.words import END
from tests.models.toys import pieces_of

NAMES = ("a", "n", "e", "##a", "##n", "##e", "kid", "##ney", "kidney", "##s", "renal")
PIECES = pieces_of(NAMES)


def _names(term: str) -> list[str]:
    return [NAMES[number] for number in PIECES.splits[term]]


@pytest.mark.parametrize(
    ("term", "names"),
    [
        ("kidney", ["kidney"]),
        ("kidneys", ["kidney", "##s"]),
        ("kidane", ["kid", "##a", "##n", "##e"]),
        ("rénal", ["renal"]),
        ("anζe", ["a", "##n", "##e"]),
        ("ζ∞", []),
        ("", []),
    ],
)
def test_the_longest_piece_comes_first(term: str, names: list[str]) -> None:
    assert _names(term) == names


def test_an_end_has_a_number_of_its_own() -> None:
    assert PIECES.splits[END] == (len(NAMES),)


def _reference(term: str) -> Iterator[str]:
    """All ways of taking pieces from the front, longest first, unknown letters dropped."""
    rest, prefix = term, ""
    while rest:
        fitting = [name for name in NAMES if (prefix + rest).startswith(name) and name.startswith(prefix)]
        whole = [name for name in fitting if prefix or not name.startswith("##")]
        if whole:
            name = max(whole, key=len)
            yield name
            rest = rest[len(name) - len(prefix) :]
        else:
            rest = rest[1:]
        prefix = "##"


@given(st.text("aneskidyrl", max_size=12))
def test_any_term(term: str) -> None:
    assert _names(term) == [*_reference(term)]


def test_only_so_many_terms_are_kept() -> None:
    small = pieces_of(NAMES)
    splits = _Splits(small.names, capacity=2)
    assert [splits[term] for term in ("a", "kidney", "renal", "a")] == [(0,), (8,), (10,), (0,)]
    assert set(splits) == {END, "a"}


def test_saved_and_loaded(tmp_path: Path) -> None:
    PIECES.save(tmp_path)
    loaded = WordPieces.load(tmp_path)
    assert loaded.names == NAMES
    np.testing.assert_array_equal(loaded.vectors, PIECES.vectors)
    np.testing.assert_array_equal(loaded.idf, PIECES.idf)
    assert (tmp_path / FILES[1]).stat().st_size < len(NAMES) * (PIECES.vectors.shape[1] + 2) + 300


def test_stored_directions_are_close_to_the_true_ones() -> None:
    vectors = np.random.default_rng(1).normal(size=(50, 64))
    stored = as_stored(vectors)
    np.testing.assert_allclose(np.linalg.norm(stored, axis=1), 1, rtol=1e-6)
    assert ((stored * unit(vectors)).sum(axis=1) > 0.999).all()
    np.testing.assert_array_equal(as_stored(stored), stored)


def test_nought_has_no_direction() -> None:
    assert not unit(np.zeros((2, 3))).any()
    assert not as_stored(np.zeros((2, 3))).any()


@pytest.mark.parametrize("name", FILES)
def test_a_missing_or_damaged_file_is_named(name: str, tmp_path: Path) -> None:
    PIECES.save(tmp_path)
    (tmp_path / name).write_bytes(b"\xff\xfe")
    with pytest.raises(PiecesError, match=str(tmp_path)):
        WordPieces.load(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(PiecesError, match=str(tmp_path)):
        WordPieces.load(tmp_path)


def test_files_that_do_not_fit_each_other(tmp_path: Path) -> None:
    PIECES.save(tmp_path)
    tensors = load_file(tmp_path / FILES[1])
    for changed in (
        {**tensors, "idf": tensors["idf"][1:]},
        {**tensors, "vectors": tensors["vectors"][1:]},
        {**tensors, "vectors": tensors["vectors"].astype(np.float32)},
    ):
        save_file({name: np.ascontiguousarray(value) for name, value in changed.items()}, tmp_path / FILES[1])
        with pytest.raises(PiecesError, match="do not fit"):
            WordPieces.load(tmp_path)
