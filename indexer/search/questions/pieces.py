"""A question cut into pieces: texts, and what may be written otherwise, which a ranker reads in one way."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ways:
    """Ways to write a word, as texts that a document may have; the first is the question's."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Abbreviated:
    """An abbreviation and its long form, one of which the question has."""

    short: Ways
    long: "tuple[str | Ways, ...]"
    asked_long: bool
    """Whether the question has the long form."""
    read_long: bool
    """Whether a ranker reads the long form."""
    dominant: bool
    """Whether the abbreviation nearly always has this long form."""


Piece = str | Ways | Abbreviated


def join(pieces: Iterable[Piece]) -> str:
    """The text of the question that was cut."""
    return "".join(map(_text, pieces))


def _text(piece: Piece) -> str:
    match piece:
        case str():
            return piece
        case Ways(texts):
            return texts[0]
        case Abbreviated(short, long, asked_long):
            return join(long if asked_long else (short,))
