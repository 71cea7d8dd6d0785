"""Systems without training: BM25 of documents and of sentences, and the oracle."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from bioqa.models.arrays import Floats
from bioqa.models.features.extractor import SENTENCE_FEATURES
from bioqa.models.training.data import Pool, Prepared
from bioqa.models.training.development import PoolScores

_PAPER = SENTENCE_FEATURES.index("bm25")
_STEMMED = SENTENCE_FEATURES.index("stemmed_bm25")


def first_stage(questions: Sequence[Prepared]) -> list[Floats]:
    """The index's own scores: BM25 with k1 1.2 and b .75."""
    return [
        np.array([candidate.score for candidate in q.retrieved.candidates], dtype=np.float64)
        for q in questions
    ]


def order_candidates(
    order: Literal["first stage", "reverse id", "oracle"], questions: Sequence[Prepared]
) -> list[Floats]:
    """Document scores of orders that need no ranker, as of bioqa.models.experiments.components.Untrained."""
    if order == "first stage":
        return first_stage(questions)
    if order == "reverse id":
        return [np.array([float(c.document.pmid) for c in q.retrieved.candidates]) for q in questions]
    return [scores.documents for scores in oracle(questions)]


def with_sentence_bm25(
    questions: Sequence[Prepared], documents: Sequence[Floats], *, stemmed: bool
) -> list[PoolScores]:
    """Documents in the order given, sentences by BM25: the papers' (not stemmed) or stemmed."""
    column = _STEMMED if stemmed else _PAPER
    return [
        PoolScores(scores, q.retrieved.features.sentences[:, column], q.gold.features.sentences[:, column])
        for q, scores in zip(questions, documents, strict=True)
    ]


def oracle(questions: Sequence[Prepared]) -> list[PoolScores]:
    """Relevant candidates first, relevant sentences first; BM25 breaks ties."""
    return [
        PoolScores(
            q.retrieved.relevant + _within_one(first),
            _relevant_first(q.retrieved),
            _relevant_first(q.gold),
        )
        for q, first in zip(questions, first_stage(questions), strict=True)
    ]


def _relevant_first(pool: Pool) -> Floats:
    return pool.labels + _within_one(pool.features.sentences[:, _STEMMED])


def _within_one(scores: Floats) -> Floats:
    """Scaled to [0, 1/2], so that they only break ties between labels."""
    highest = float(scores.max()) if len(scores) else 0.0
    return scores / (2 * highest) if highest > 0 else scores
