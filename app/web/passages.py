"""An answer as it is shown: articles with their parts apart, and the chosen sentences where they stand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bioqa.app.answers.answering import Answer
from bioqa.bioasq.domain import Document, Part, Section
from bioqa.models.answers.ranking import RankedDocument


@dataclass(frozen=True, slots=True)
class Mark:
    """A chosen sentence: its place in a section's text, its rank (from 1) in the answer, its score."""

    begin: int
    end: int
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text that is in a chosen sentence, or in none."""

    text: str
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A part of an abstract; the label is not in the pieces again."""

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
    """The answer's documents, best first, with its sentences marked."""
    return [_article(rank, ranked, answer) for rank, ranked in enumerate(answer.documents, start=1)]


def _article(rank: int, ranked: RankedDocument, answer: Answer) -> Article:
    document = ranked.document
    title = pieces(document.title, 0, len(document.title), _marks(answer, document, "title"))
    marks = _marks(answer, document, "abstract")
    parts = document.parts or (Part("", 0, len(document.abstract)),)
    shown = tuple(_part(document.abstract, part, marks) for part in parts if part.begin < part.end)
    return Article(rank, ranked.score, document, title, shown)


def _marks(answer: Answer, document: Document, section: Section) -> list[Mark]:
    """In reading order."""
    marks = [
        Mark(chosen.sentence.begin, chosen.sentence.end, rank, chosen.score)
        for rank, chosen in enumerate(answer.sentences, start=1)
        if chosen.document.pmid == document.pmid and chosen.sentence.section == section
    ]
    return sorted(marks, key=lambda mark: mark.begin)


def _part(abstract: str, part: Part, marks: Sequence[Mark]) -> ShownPart:
    body = part.begin + len(part.label) + len(": ") if part.label else part.begin
    # A sentence may be a label and no more: then the label stays in the text, so that there is what to mark.
    if any(part.begin <= mark.begin and mark.end <= body for mark in marks):
        return ShownPart("", pieces(abstract, part.begin, part.end, marks))
    return ShownPart(part.label, pieces(abstract, body, part.end, marks))


def pieces(text: str, begin: int, end: int, marks: Sequence[Mark]) -> tuple[Piece, ...]:
    """``text[begin:end]`` cut where marks begin and end; marks are in reading order and may reach beyond."""
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
