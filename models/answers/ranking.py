"""Rankings and selections: a ranker's output for one question."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bioqa.bioasq.domain import Candidate, Document, Question, Response, Sentence
from bioqa.models.answers.roles import Role
from bioqa.models.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A candidate with the ranker's score, and one score for each of ``document.sentences``.

    In an answer by a ranker with a scale, ``score`` is a calibrated probability; ``sentence_scores`` are the
    ranker's own in any case.
    """

    document: Document
    score: float
    sentence_scores: tuple[float, ...]
    raw_score: float | None = None
    """The ranker's own score, where ``score`` is a probability."""
    support: tuple[float, ...] = ()
    """Support of each sentence by other documents (bioqa.models.answers.agreement); empty if not known."""
    aptness: tuple[float, ...] = ()
    """What a second reading adds to log-weights that order sentences (bioqa.models.answers.aptness); empty if
    that is not known."""
    relevance: tuple[float, ...] = ()
    """What it adds to those that decide which sentences are shown."""

    first: "RankedDocument | None" = None
    """As the first ranker of a cascade scored it; None for other rankers."""

    @property
    def own_score(self) -> float:
        """The ranker's own score in any case."""
        return self.score if self.raw_score is None else self.raw_score


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """``score``: with a scale, a calibrated probability; without, the selection score, which is in [0, 1]
    and comparable within one answer.
    """

    document: Document
    sentence: Sentence
    score: float
    raw_score: float | None = None
    """The selection score, where ``score`` is a probability."""
    role: Role | None = None
    """What it does in its abstract; None for titles, and where nobody asked."""

    @property
    def own_score(self) -> float:
        """The selection score in any case."""
        return self.score if self.raw_score is None else self.raw_score

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


def ranking(candidates: Sequence[Candidate], documents: Floats, sentences: Floats) -> Ranking:
    """Sort candidates by their scores [D], with their sentences' scores [S]; ties keep the order given."""
    counts: Ints = np.array([c.document.sentence_count for c in candidates], dtype=np.int64)
    ends = np.cumsum(counts)
    all_scores = sentences.tolist()
    ranked = [
        RankedDocument(candidate.document, score, tuple(all_scores[end - count : end]))
        for candidate, score, count, end in zip(
            candidates, documents.tolist(), counts.tolist(), ends.tolist(), strict=True
        )
    ]
    ranked.sort(key=lambda document: -document.score)
    return Ranking(tuple(ranked))
