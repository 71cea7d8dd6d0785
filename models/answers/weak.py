"""What the selection is fitted for by F1, after its three scalars: which snippets are weak, so far below
their question's best that leaving them out makes F1 higher, and how much agreement counts.

A submission may have ten snippets a question, and gold has four in the median. The mean F1, BioASQ's official
measure of snippets since its ninth year, counts every snippet beyond the relevant ones against a system.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import log

import numpy as np

from bioqa.bioasq.domain import Response
from bioqa.bioasq.measures import per_question
from bioqa.models.answers.ranking import Ranking
from bioqa.models.answers.selection import Calibration, SelectionLimits, select

SHARES = (0.02, 0.03, 0.05, 0.07, *(step / 20 for step in range(2, 19)))
"""Shares of the best sentence's selection score: candidates for what a sentence must have."""

TOLERANCE = 0.003
"""Differences of F1 that are taken for noise: the fewest snippets are left out within it."""


def fit_margin(
    rankings: Sequence[Ranking], golden: Sequence[Response], calibration: Calibration
) -> float | None:
    """The widest margin of log-weights whose mean snippet F1 is within TOLERANCE of the highest.

    None, which is wider than any, if leaving snippets out gains no more.
    """
    margins: list[float | None] = [None, *(-log(share) for share in SHARES)]
    f1 = [snippet_f1(rankings, golden, calibration, margin) for margin in margins]
    return next(margin for margin, value in zip(margins, f1, strict=True) if value >= max(f1) - TOLERANCE)


AGREEMENTS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
LEAST_GAIN = 0.005
"""Least gain in F1 that counts: the best of seven weights gains a little by chance."""


def fit_agreement(
    rankings: Sequence[Ranking], golden: Sequence[Response], calibration: Calibration
) -> Calibration:
    """The calibration with the weight of agreement whose snippet F1 is highest, each with its best share.

    0 if that gains less than LEAST_GAIN. ``rankings`` with support (``bioqa.models.answers.agreement``).
    """
    margins = (None, *(-log(share) for share in (0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6)))
    tried = [replace(calibration, agreement=weight) for weight in AGREEMENTS]
    f1 = [max(snippet_f1(rankings, golden, tuned, margin) for margin in margins) for tuned in tried]
    best = int(np.argmax(f1))
    return tried[best] if f1[best] >= f1[0] + LEAST_GAIN else tried[0]


def snippet_f1(
    rankings: Sequence[Ranking],
    golden: Sequence[Response],
    calibration: Calibration,
    margin: float | None,
) -> float:
    """The mean of the answers that are selected so."""
    answers = [
        select(ranking, calibration, SelectionLimits(margin=margin)).response(gold.question)
        for ranking, gold in zip(rankings, golden, strict=True)
    ]
    return float(np.mean([measures.snippets.f1 for measures in per_question(golden, answers, 8)] or [0.0]))
