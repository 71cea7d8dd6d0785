"""An answer as it is shown: articles by parts, with the selected sentences marked in the text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.newest import fitting_from
from bioqa.app.web.folding import shown_spans
from bioqa.app.web.spans import AskedWords, TextSpan, spans
from bioqa.app.web.spans import TextPart as SetPart
from bioqa.bioasq.domain import Document, Part, Section
from bioqa.indexer.search.questions.reading import Reading
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

    spans: tuple[TextSpan, ...]
    mark: Mark | None = None
    folded: bool = False
    """Shown only when the whole abstract is."""

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A part of an abstract; its label is not repeated in the pieces."""

    label: str
    pieces: tuple[Piece, ...]

    @property
    def folded(self) -> bool:
        return all(piece.folded for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class ShownArticle:
    rank: int
    score: float
    document: Document
    title: tuple[Piece, ...]
    parts: tuple[ShownPart, ...]

    @property
    def folded(self) -> bool:
        """Whether something of the abstract is not shown at first."""
        return any(piece.folded for part in self.parts for piece in part.pieces)


def articles(answer: Answer, first_rank: int = 1) -> list[ShownArticle]:
    """Return the answer's documents, best first, with its sentences and the question's words marked."""
    words = AskedWords(answer.question.body, *_read_as(answer.reading))
    best = max((ranked.score for ranked in answer.ranked_documents), default=0.0)
    floor = fitting_from(best) if answer.calibrated else float("-inf")
    return [
        _article(rank, ranked, answer, words, far_below=ranked.score < floor)
        for rank, ranked in enumerate(answer.ranked_documents, start=first_rank)
    ]


def _read_as(reading: Reading | None) -> Iterator[str]:
    """What was searched for beside the words of the question, or instead of them."""
    if reading is not None:
        yield from (correction.correction for correction in reading.corrections)
        for expansion in reading.expansions:
            yield from expansion.also


def whole(document: Document) -> ShownArticle:
    """Return a document as it is, with nothing marked or folded."""
    return _show(document, _Marks((), ()), None, [(0, len(document.abstract))])


@dataclass(frozen=True, slots=True)
class _Marks:
    """In reading order."""

    title: Sequence[Mark]
    abstract: Sequence[Mark]


def _article(
    rank: int, ranked: RankedDocument, answer: Answer, words: AskedWords, *, far_below: bool
) -> ShownArticle:
    """``far_below`` the first one: its abstract is folded whole if no sentence of it was chosen."""
    document = ranked.document
    chosen = {snippet.sentence for snippet in answer.snippets if snippet.pmid == document.pmid}
    marks = _Marks(_marks(answer, document, "title"), _marks(answer, document, "abstract"))
    hidden = far_below and not marks.abstract
    unfolded = [] if hidden else shown_spans(document, chosen, ranked.sentence_scores)
    return _show(document, marks, words, unfolded, rank, ranked.score)


def _show(
    document: Document,
    marks: _Marks,
    words: AskedWords | None,
    unfolded: Sequence[tuple[int, int]],
    rank: int = 1,
    score: float = 0.0,
) -> ShownArticle:
    title, abstract = _set_parts(document, "title", words), _set_parts(document, "abstract", words)
    parts = document.parts or (Part("", 0, len(document.abstract)),)
    return ShownArticle(
        rank,
        score,
        document,
        pieces(document.title, 0, len(document.title), marks.title, title),
        tuple(
            _part(document.abstract, part, marks.abstract, abstract, unfolded)
            for part in parts
            if part.begin < part.end
        ),
    )


def _set_parts(document: Document, section: Section, words: AskedWords | None) -> list[SetPart]:
    emphasised = words.in_text(document.text(section)) if words else ()
    marked = (m for m in document.metadata.markup if m.section == section)
    return [*emphasised, *(SetPart(m.begin, m.end, m.tag) for m in marked)]


def _marks(answer: Answer, document: Document, section: Section) -> list[Mark]:
    """Return a section's marks in reading order."""
    marks = [
        Mark(snippet.begin, snippet.end, snippet.rank, snippet.score)
        for snippet in answer.snippets
        if snippet.pmid == document.pmid and snippet.section == section
    ]
    return sorted(marks, key=lambda mark: mark.begin)


def _part(
    abstract: str,
    part: Part,
    marks: Sequence[Mark],
    set_parts: Sequence[SetPart],
    unfolded: Sequence[tuple[int, int]],
) -> ShownPart:
    label, begin = part.label, part.begin + len(part.label) + len(": ") if part.label else part.begin
    # A sentence may consist of the label alone: then the label stays in the text, to be marked there.
    if any(part.begin <= mark.begin and mark.end <= begin for mark in marks):
        label, begin = "", part.begin
    return ShownPart(label, pieces(abstract, begin, part.end, marks, set_parts, unfolded))


def pieces(
    text: str,
    begin: int,
    end: int,
    marks: Sequence[Mark],
    set_parts: Sequence[SetPart] = (),
    unfolded: Sequence[tuple[int, int]] | None = None,
) -> tuple[Piece, ...]:
    """Split ``text[begin:end]`` at the bounds of marks and of what is unfolded (None: everything).

    Both are in reading order and may extend beyond.
    """
    shown = [(begin, end)] if unfolded is None else unfolded
    return tuple(
        Piece(spans(text, first, last, set_parts), mark, folded)
        for piece_begin, piece_end, mark in _mark(begin, end, marks)
        for first, last, folded in _fold(piece_begin, piece_end, shown)
        if first < last
    )


def _mark(begin: int, end: int, marks: Sequence[Mark]) -> Iterator[tuple[int, int, Mark | None]]:
    done = begin
    for mark in marks:
        first, last = max(mark.begin, done), min(mark.end, end)
        if first < last:
            yield done, first, None
            yield first, last, mark
            done = last
    yield done, end, None


def _fold(begin: int, end: int, unfolded: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
    done = begin
    for shown_begin, shown_end in unfolded:
        first, last = max(shown_begin, done), min(shown_end, end)
        if first < last:
            yield done, first, True
            yield first, last, False
            done = last
    yield done, end, True
