"""Fitting a ranker's scale on questions with gold, and measuring how far its probabilities can be relied on.

A document's probability is that it is among a question's gold documents; a sentence's, that a gold snippet
covers it; both of what answers show, ten of each. BioASQ's experts judged what systems had found: a relevant
document that nobody showed them counts as irrelevant here, so the truth is rather above the probabilities.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from bioqa.bioasq.domain import DEPTH, Response
from bioqa.bioasq.labels import is_label
from bioqa.models.answers.labels import sentence_labels
from bioqa.models.answers.ranking import Ranking
from bioqa.models.answers.scale import Curve, Scale, sigmoid
from bioqa.models.answers.selection import Calibration, log_weights, select
from bioqa.models.answers.weak import fit_margin
from bioqa.models.arrays import Booleans, Floats

BINS = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """Scores, and whether each is of something relevant."""

    scores: Floats
    relevant: Booleans
    shown: Booleans
    """Whether it is among the ten that an answer has."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Probabilities of about the same size."""

    count: int
    predicted: float
    """Their mean"""
    observed: float
    """The share of them that is relevant"""


@dataclass(frozen=True, slots=True)
class Reliability:
    """How probabilities agree with what is relevant."""

    bins: tuple[Bin, ...]
    """Bins of equal counts, in rising order"""

    @property
    def error(self) -> float:
        """The expected calibration error: |predicted - observed|, weighted by counts."""
        total = sum(bin.count for bin in self.bins)
        return sum(bin.count * abs(bin.predicted - bin.observed) for bin in self.bins) / max(1, total)


def fit_scale(
    rankings: Sequence[Ranking], golden: Sequence[Response], calibration: Calibration
) -> Scale | None:
    """The scale that fits these questions' answers best; None where ``scale_from`` gives none."""
    scale = scale_from(judged_documents(rankings, golden), judged_sentences(rankings, golden, calibration))
    return scale and replace(scale, margin=fit_margin(rankings, golden, calibration))


def scale_from(documents: Judged, sentences: Judged) -> Scale | None:
    """The scale that fits what answers show; None if all their documents or sentences are of one kind.

    Fitted on all candidates it would be wrong where it is read: what is shown was chosen, so that of two
    documents with one score that is likelier to be relevant whose question has no better ones.
    """
    curves = [
        fit_curve(judged.scores[judged.shown], judged.relevant[judged.shown])
        for judged in (documents, sentences)
    ]
    match curves:
        case [Curve() as of_documents, Curve() as of_sentences]:
            return Scale(of_documents, of_sentences)
    return None


def judged_documents(rankings: Sequence[Ranking], golden: Sequence[Response]) -> Judged:
    """All candidates: whether each is among its question's gold documents."""
    rows = [
        (ranked.score, ranked.document.url in gold, position < DEPTH)
        for ranking, gold in _with_gold(rankings, golden)
        for position, ranked in enumerate(ranking.documents)
    ]
    return _judge(rows)


def judged_sentences(
    rankings: Sequence[Ranking], golden: Sequence[Response], calibration: Calibration
) -> Judged:
    """All sentences of the candidates that can be selected: whether a gold snippet covers each."""
    return _judge(
        row
        for ranking, response in zip(rankings, golden, strict=True)
        for row in _sentence_rows(ranking, response, calibration)
    )


def _sentence_rows(
    ranking: Ranking, response: Response, calibration: Calibration
) -> Iterator[tuple[float, bool, bool]]:
    shown = {(s.document.url, s.sentence) for s in select(ranking, calibration).sentences}
    for ranked in ranking.documents:
        document = ranked.document
        labels = sentence_labels(document, response.snippets).tolist()
        weights = log_weights(ranked, calibration).tolist()
        for sentence, weight, relevant in zip(document.sentences, weights, labels, strict=True):
            if not is_label(document, sentence):
                yield weight, relevant, (document.url, sentence) in shown


def _with_gold(
    rankings: Sequence[Ranking], golden: Sequence[Response]
) -> Iterator[tuple[Ranking, frozenset[str]]]:
    for ranking, response in zip(rankings, golden, strict=True):
        yield ranking, frozenset(response.documents)


def _judge(rows: Iterable[tuple[float, bool, bool]]) -> Judged:
    table = np.array([*rows], dtype=np.float64).reshape(-1, 3)
    return Judged(table[:, 0], table[:, 1] > 0, table[:, 2] > 0)


def fit_curve(scores: Floats, relevant: Booleans) -> Curve | None:
    """The rising curve under which the labels are likeliest; None if all are the same.

    The outer pieces end, and the inner ones meet, at scores that relevant things have, as the curve must be
    exact where those are. Where the labels would have a piece fall, its neighbours are joined; few labels are
    given fewer pieces, at least one.
    """
    if relevant.all() or not relevant.any():
        return None
    middle, spread = float(scores.mean()), max(float(scores.std()), 1e-9)
    x = (scores - middle) / spread
    positive = x[relevant]
    pieces = 1 if len(positive) < LABELS_PER_PIECE else min(MOST_PIECES, len(positive) // LABELS_PER_PIECE)
    inner = np.unique(np.quantile(positive, np.arange(1, pieces) / pieces))
    while True:
        base, slopes = _likeliest(_pieces(x, inner), relevant)
        falling = np.flatnonzero(slopes < LEAST_SLOPE)
        if not len(falling) or not len(inner):
            break
        inner = np.delete(inner, min(int(falling[0]), len(inner) - 1))
    slopes = np.maximum(slopes, LEAST_SLOPE)
    ends = (min(float(positive.min()), *inner, 0.0) - 1.0, max(float(positive.max()), *inner, 0.0) + 1.0)
    points = np.array([ends[0], *inner, ends[1]])
    odds = base + _pieces(points, inner) @ slopes
    return Curve(tuple((middle + spread * points).tolist()), tuple(odds.tolist()))


MOST_PIECES = 5
LABELS_PER_PIECE = 100
LEAST_SLOPE = 1e-3
"""In log-odds for a standard deviation of the scores"""


def _pieces(x: Floats, inner: Floats) -> Floats:
    """[scores, pieces] how much of each piece lies below a score, from zero; the outer ones have no end."""
    bounds = pairwise([-np.inf, *inner, np.inf])
    from_zero = [np.clip(x, low, high) - np.clip(0.0, low, high) for low, high in bounds]
    return np.stack(from_zero, axis=1)


def _likeliest(columns: Floats, relevant: Booleans) -> tuple[float, Floats]:
    """Logistic regression by Newton's method: base and slopes.

    A weak prior, worth one label in each, keeps the slopes finite where the labels are separable.
    """
    rows = np.hstack([np.ones((len(columns), 1)), columns])
    prior = np.diag([1e-3, *np.ones(columns.shape[1])])
    coefficients = np.zeros(rows.shape[1])
    loss = _loss(rows, relevant, coefficients, prior)
    for _ in range(100):
        p = sigmoid(rows @ coefficients)
        gradient = rows.T @ (p - relevant) + prior @ coefficients
        step = np.linalg.solve((rows * (p * (1 - p))[:, None]).T @ rows + prior, gradient)
        for _ in range(30):
            tried = _loss(rows, relevant, coefficients - step, prior)
            if tried <= loss:
                break
            step = step / 2
        if loss - tried < 1e-9 * max(1.0, loss):
            break
        coefficients, loss = coefficients - step, tried
    return float(coefficients[0]), coefficients[1:]


def _loss(rows: Floats, relevant: Booleans, weights: Floats, prior: Floats) -> float:
    odds = rows @ weights
    return float((np.logaddexp(0.0, odds) - odds * relevant).sum() + 0.5 * weights @ prior @ weights)


def reliability(curve: Curve, judged: Judged, *, shown: bool = False, bins: int = BINS) -> Reliability:
    """In bins of equal counts; ``shown``: of what answers have alone."""
    chosen = judged.shown if shown else np.ones(len(judged.scores), dtype=np.bool_)
    p, relevant = curve(judged.scores[chosen]), judged.relevant[chosen]
    parts = np.array_split(np.argsort(p, kind="stable"), bins)
    return Reliability(
        tuple(
            Bin(len(part), float(p[part].mean()), float(relevant[part].mean())) for part in parts if len(part)
        )
    )
