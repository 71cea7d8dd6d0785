"""Tuning the selection's three scalars on development questions, in the same way for every system.

For each point of a grid, the snippets that it would select are scored by snippet F1. Sentences of a document
do not overlap, so F1 needs only each sentence's size and its overlap with the gold, and the whole grid takes
a few array operations a question. (The official tool merges two sentences that touch, as at a boundary
between parts joined by nothing; that one shared position is ignored here, but not in reported measures.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from bioqa.bioasq.domain import DEPTH, Response
from bioqa.bioasq.labels import is_label
from bioqa.bioasq.overlap import Span, merged_spans
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.selection import Calibration
from bioqa.models.arrays import Floats

# In units of the scores' standard deviations, so that one grid fits logits, probabilities and BM25.
_SENTENCE_SCALES = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
_SENTENCE_OFFSETS = (-6.0, -4.0, -3.0, -2.0, -1.0, 0.0, 2.0)
_DOCUMENT_SCALES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


@dataclass(frozen=True, slots=True)
class _Case:
    """One question's selectable sentences."""

    sentences: Floats
    """[S] standardised scores"""
    documents: Floats
    """[10] standardised scores"""
    owner: np.ndarray
    """[S] index of the sentence's document"""
    sizes: Floats
    overlaps: Floats
    gold_size: float


def calibrate(rankings: Sequence[Ranking], golden: Sequence[Response]) -> tuple[Calibration, float]:
    """The scalars with the highest mean snippet F1, and that F1. Of equal ones, the first of the grid."""
    top = [ranking.documents[:DEPTH] for ranking in rankings]
    sentence_mean, sentence_deviation = _moments([s for docs in top for d in docs for s in d.sentence_scores])
    document_deviation = _moments([d.score for docs in top for d in docs])[1]
    cases = [
        _case(docs, gold, sentence_mean, sentence_deviation, document_deviation)
        for docs, gold in zip(top, golden, strict=True)
    ]
    grid = list(product(_SENTENCE_SCALES, _SENTENCE_OFFSETS, _DOCUMENT_SCALES))
    f1 = np.mean([_f1_of_grid(case) for case in cases], axis=0)
    best = int(np.argmax(f1))
    scale, offset, document_scale = grid[best]
    return (
        Calibration(
            sentence_scale=scale / sentence_deviation,
            sentence_offset=offset - scale * sentence_mean / sentence_deviation,
            document_scale=document_scale / document_deviation,
        ),
        float(f1[best]),
    )


def _moments(scores: list[float]) -> tuple[float, float]:
    if not scores:
        return 0.0, 1.0
    return float(np.mean(scores)), max(float(np.std(scores)), 1e-6)


def _case(
    documents: Sequence[RankedDocument],
    gold: Response,
    mean: float,
    deviation: float,
    document_deviation: float,
) -> _Case:
    spans = merged_spans(gold.snippets)
    selectable = [
        (owner, document.document.url, sentence, score)
        for owner, document in enumerate(documents)
        for sentence, score in zip(document.document.sentences, document.sentence_scores, strict=True)
        if not is_label(document.document, sentence)
    ]
    owners, urls, sentences, scores = zip(*selectable, strict=True) if selectable else ((), (), (), ())
    overlaps = [
        _overlap(url, s.section, s.begin, s.end, spans) for url, s in zip(urls, sentences, strict=True)
    ]
    return _Case(
        (np.array(scores, dtype=np.float64) - mean) / deviation,
        np.array([d.score for d in documents], dtype=np.float64) / document_deviation,
        np.array(owners, dtype=np.int64),
        np.array([s.end - s.begin + 1 for s in sentences], dtype=np.float64),
        np.array(overlaps, dtype=np.float64),
        float(sum(span.size for span in spans)),
    )


def _overlap(url: str, section: str, begin: int, end: int, gold: Sequence[Span]) -> int:
    """Positions shared with gold spans of the same document and section, ends inclusive."""
    return sum(
        max(0, min(end, span.end) - max(begin, span.begin) + 1)
        for span in gold
        if span.document == url and span.begin_section == span.end_section == section
    )


def _f1_of_grid(case: _Case) -> Floats:
    """[grid] snippet F1 of the ten best sentences under every setting."""
    size = len(_SENTENCE_SCALES) * len(_SENTENCE_OFFSETS) * len(_DOCUMENT_SCALES)
    if not len(case.sentences) or case.gold_size <= 0:
        return np.zeros(size)
    scales, offsets = np.array(_SENTENCE_SCALES), np.array(_SENTENCE_OFFSETS)
    x = (scales[:, None, None] * case.sentences + offsets[:, None]).reshape(-1, 1, len(case.sentences))
    weights = np.array(_DOCUMENT_SCALES)[:, None] * (case.documents - case.documents.max())
    shares = np.exp(weights)
    shares /= shares.sum(axis=1, keepdims=True)
    scores = (0.5 * (1 + np.tanh(x / 2)) * shares[:, case.owner]).reshape(size, -1)
    chosen = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
    shared = case.overlaps[chosen].sum(axis=1)
    precision, recall = shared / case.sizes[chosen].sum(axis=1), shared / case.gold_size
    return np.where(shared > 0, 2 * precision * recall / np.maximum(precision + recall, 1e-12), 0.0)
