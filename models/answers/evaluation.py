"""Measures of a system's rankings against gold: documents, snippets, sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bioqa.bioasq.domain import DEPTH, Response
from bioqa.bioasq.measures import QuestionMeasures, per_question
from bioqa.models.answers.ranking import Ranking
from bioqa.models.answers.selection import Calibration, select
from bioqa.models.arrays import Booleans, Floats


@dataclass(frozen=True, slots=True)
class SentenceCase:
    """A ranker's scores of the sentences of one gold document, and which of them are relevant."""

    scores: Floats
    labels: Booleans


def measure(
    rankings: Sequence[Ranking], golden: Sequence[Response], calibration: Calibration, edition: int = 8
) -> list[QuestionMeasures]:
    """The official measures of each question, in golden order."""
    answers = [
        select(ranking, calibration).response(gold.question)
        for gold, ranking in zip(golden, rankings, strict=True)
    ]
    return per_question(golden, answers, edition)


def mean_average_precision(relevant_by_rank: Sequence[Booleans], gold_counts: Sequence[int]) -> float:
    """Edition 8's document MAP: average precision of the ten best over min(10, gold)."""
    total = 0.0
    for relevant, gold in zip(relevant_by_rank, gold_counts, strict=True):
        top = relevant[:DEPTH]
        hits = np.cumsum(top)
        precision = hits[top] / (np.flatnonzero(top) + 1)
        total += float(precision.sum()) / max(1, min(DEPTH, gold))
    return total / max(1, len(relevant_by_rank))


def sentence_auc(cases: Sequence[SentenceCase]) -> float:
    """Mean over gold documents of the area under the ROC curve of their sentences' scores.

    That is the share of (relevant, irrelevant) pairs in the right order, ties counting half. Documents whose
    sentences are all relevant or all irrelevant have no such pair and are excluded.
    """
    areas = [
        _area(case.scores[case.labels], case.scores[~case.labels])
        for case in cases
        if case.labels.any() and not case.labels.all()
    ]
    return float(np.mean(areas)) if areas else 0.0


def _area(positive: Floats, negative: Floats) -> float:
    difference = positive[:, None] - negative
    return float(((difference > 0) + 0.5 * (difference == 0)).mean())
