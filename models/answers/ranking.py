"""Rankings and selections: a ranker's output for one question."""

from dataclasses import dataclass

from bioqa.bioasq.domain import Document, Question, Response, Sentence


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A candidate with the ranker's score, and one score for each of ``document.sentences``."""

    document: Document
    score: float
    sentence_scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """``score`` is the selection score: in [0, 1], comparable within one answer."""

    document: Document
    sentence: Sentence
    score: float

    @property
    def text(self) -> str:
        return self.document.sentence_text(self.sentence)


@dataclass(frozen=True, slots=True)
class Ranking:
    """All candidates, best first; equal scores stay in the candidates' order."""

    documents: tuple[RankedDocument, ...]
    truncated_sentences: int = 0
    """Number of sentences that the ranker read only in part."""


@dataclass(frozen=True, slots=True)
class Selection:
    """An answer's documents and sentences, best first. Every sentence's document is among the documents."""

    documents: tuple[RankedDocument, ...]
    sentences: tuple[RankedSentence, ...]

    def response(self, question: Question) -> Response:
        """The answer in the form of a submission."""
        documents = tuple(ranked.document.url for ranked in self.documents)
        return Response(question, documents, tuple(s.document.snippet(s.sentence) for s in self.sentences))
