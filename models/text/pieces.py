"""Word pieces with static vectors: every word is split into known pieces, so no word lacks a vector.

The vectors come from a sentence encoder that read each piece once, alone, as in model2vec (Tulkens and van
Dongen 2024; bioqa.models.training.pieces). Words are split as WordPiece does: the longest piece first.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from bioqa.models.arrays import Floats
from bioqa.models.text.words import END
from bioqa.system.characters import drop_marks
from bioqa.system.errors import BioqaError

CONTINUES = "##"
"""Prefix of pieces that continue a word rather than begin it."""

LONGEST = 100
"""Only this many characters of a word are split: bounds the work for a text that is one long string."""

FILES = ("pieces.txt", "pieces.safetensors")


class PiecesError(BioqaError):
    """The word pieces' files are missing, damaged or do not fit each other."""


class _Splits(dict[str, tuple[int, ...]]):
    """Piece numbers by term: a dict, for lookups at C speed, that caches the first ``capacity`` terms."""

    def __init__(self, names: tuple[str, ...], capacity: int = 200_000) -> None:
        super().__init__({END: (len(names),)})
        begin = len(CONTINUES)
        self._first = {name: i for i, name in enumerate(names) if not name.startswith(CONTINUES)}
        self._others = {name[begin:]: i for i, name in enumerate(names) if name.startswith(CONTINUES)}
        self._longest = max(map(len, (*self._first, *self._others)), default=0)
        self._known = capacity

    def __missing__(self, term: str) -> tuple[int, ...]:
        split = tuple(self._pieces(drop_marks(term[:LONGEST])))
        if len(self) < self._known:
            self[term] = split
        return split

    def _pieces(self, term: str) -> list[int]:
        ids: list[int] = []
        begin, size, pieces = 0, len(term), self._first
        while begin < size:
            # No generator or function for the search: with them, it would take twice as long.
            end = min(size, begin + self._longest)
            while end > begin and term[begin:end] not in pieces:
                end -= 1
            if end > begin:
                ids.append(pieces[term[begin:end]])
            # A character that is no piece is skipped.
            begin = max(end, begin + 1)
            pieces = self._others
        return ids


@dataclass(frozen=True)
class WordPieces:
    """P pieces; a piece's number is its position."""

    names: tuple[str, ...]
    vectors: Floats
    """[P, dimensions] of length one"""
    idf: Floats
    """[P] ``bioqa.models.text.frequencies.inverse_document_frequencies`` over the corpus."""
    splits: dict[str, tuple[int, ...]] = field(init=False, repr=False)
    """Piece numbers by term (``models.text.words.terms``), any term; ``END`` has number P."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "splits", _Splits(self.names))

    @property
    def fingerprint(self) -> str:
        """SHA-256 of names, vectors (in the steps that files hold) and IDF, in hexadecimal."""
        digest = hashlib.sha256("\n".join(self.names).encode())
        digest.update(_steps(self.vectors).tobytes() + self.idf.astype(np.float16).tobytes())
        return digest.hexdigest()

    def save(self, folder: Path) -> None:
        """Write ``pieces.txt`` and ``pieces.safetensors`` (vectors with eight bits a component)."""
        (folder / FILES[0]).write_text("\n".join(self.names), encoding="utf-8", newline="\n")
        save_file(
            {"vectors": _steps(self.vectors), "idf": self.idf.astype(np.float16)},
            folder / FILES[1],
        )

    @classmethod
    def load(cls, folder: Path) -> "WordPieces":
        """Raises PiecesError, naming the folder and what is wrong."""
        try:
            names = tuple((folder / FILES[0]).read_text(encoding="utf-8").split("\n"))
            tensors = load_file(folder / FILES[1])
            vectors, idf = tensors["vectors"], tensors["idf"].astype(np.float32)
        except (OSError, UnicodeDecodeError, SafetensorError, KeyError) as error:
            raise PiecesError(f"{folder}: the word pieces cannot be read: {error}") from error
        if not (vectors.ndim == 2 and vectors.dtype == np.int8 and len(names) == len(vectors) == len(idf)):
            raise PiecesError(f"{folder}: the word pieces' files do not fit each other")
        return cls(names, unit(vectors.astype(np.float32)), idf)


def unit(vectors: Floats) -> Floats:
    """[…, dimensions] scaled to length one; zero vectors stay zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Floats = vectors / np.maximum(lengths, 1e-9)
    return scaled.astype(np.float32)


def as_stored(vectors: Floats) -> Floats:
    """Rounded as in files, so that a ranker is trained with exactly the numbers that it will load."""
    return unit(_steps(vectors).astype(np.float32))


def _steps(vectors: Floats) -> np.ndarray:
    """Each vector as int8, in units of 1/127 of its largest component."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    steps: np.ndarray = np.rint(127 * vectors / np.maximum(largest, 1e-9)).astype(np.int8)
    return steps
