"""An answer as it is shown: articles by parts, with the selected sentences marked in the text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bioqa.app.answers.answering import Answer
from bioqa.bioasq.domain import Document, Part, Section
from bioqa.models.answers.ranking import RankedDocument


@dataclass(frozen=True, slots=True)
class Mark:
    """A selected sentence: its span in a section's text, its rank (from 1) in the answer, its score."""

    begin: int
    end: int
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text inside one selected sentence, or outside of all."""

    text: str
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A part of an abstract; its label is not repeated in the pieces."""

    label: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Article:
    rank: int
    score: float
    document: Document
    title: tuple[Piece, ...]
    parts: tuple[ShownPart, ...]


def articles(answer: Answer) -> list[Article]:
    """Return the answer's documents, best first, with its sentences marked."""
    return [_article(rank, ranked, answer) for rank, ranked in enumerate(answer.documents, start=1)]


def _article(rank: int, ranked: RankedDocument, answer: Answer) -> Article:
    document = ranked.document
    title = pieces(document.title, 0, len(document.title), _marks(answer, document, "title"))
    marks = _marks(answer, document, "abstract")
    parts = document.parts or (Part("", 0, len(document.abstract)),)
    shown = tuple(_part(document.abstract, part, marks) for part in parts if part.begin < part.end)
    return Article(rank, ranked.score, document, title, shown)


def _marks(answer: Answer, document: Document, section: Section) -> list[Mark]:
    """Return a section's marks in reading order."""
    marks = [
        Mark(chosen.sentence.begin, chosen.sentence.end, rank, chosen.score)
        for rank, chosen in enumerate(answer.sentences, start=1)
        if chosen.document.pmid == document.pmid and chosen.sentence.section == section
    ]
    return sorted(marks, key=lambda mark: mark.begin)


def _part(abstract: str, part: Part, marks: Sequence[Mark]) -> ShownPart:
    body = part.begin + len(part.label) + len(": ") if part.label else part.begin
    # A sentence may consist of the label alone: then the label stays in the text, to be marked there.
    if any(part.begin <= mark.begin and mark.end <= body for mark in marks):
        return ShownPart("", pieces(abstract, part.begin, part.end, marks))
    return ShownPart(part.label, pieces(abstract, body, part.end, marks))


def pieces(text: str, begin: int, end: int, marks: Sequence[Mark]) -> tuple[Piece, ...]:
    """Split ``text[begin:end]`` at the bounds of marks, which are in reading order and may extend beyond."""
    return tuple(piece for piece in _pieces(text, begin, end, marks) if piece.text)


def _pieces(text: str, begin: int, end: int, marks: Sequence[Mark]) -> Iterator[Piece]:
    done = begin
    for mark in marks:
        first, last = max(mark.begin, done), min(mark.end, end)
        if first < last:
            yield Piece(text[done:first])
            yield Piece(text[first:last], mark)
            done = last
    yield Piece(text[done:end])
