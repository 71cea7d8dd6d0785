"""How much closeness in meaning counts for a document's score, where a candidate comes with its cosine.

A ranker compares words, so what says the same in other words has a low score. The cosine of the vectors of
question and document is added to it, with one weight. It was chosen for the scores of ``soft`` and for the
cosines of the bundled encoder; a ranker says by its calibration whether it counts (``counts``).

Cosines are higher for one question than for another, which says nothing of a document. So they count from the
mean of the ten documents that are best without them: the ten best keep their level, and probabilities fit.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bioqa.bioasq.domain import DEPTH, Candidate
from bioqa.models.answers.selection import Calibration
from bioqa.models.arrays import Floats

WEIGHT = 3.0
"""Chosen on BioASQ's development questions and on ordinary ones, among 0, .5, 1, 2, 3, 4 and 8."""


def counts(candidates: Sequence[Candidate], calibration: Calibration) -> bool:
    """Whether closeness in meaning counts: where a cosine is known, and for rankers whose second reading
    does, which was fitted to the scores of ``soft``, too."""
    return calibration.aptness > 0 and any(candidate.cosine is not None for candidate in candidates)


def add_meaning(scores: Floats, candidates: Sequence[Candidate], calibration: Calibration) -> Floats:
    """[candidates] the scores with what is added; the very same if meaning does not count.

    Nothing is added for a document whose cosine is not known.
    """
    if not counts(candidates, calibration):
        return scores
    cosines = np.array([np.nan if each.cosine is None else each.cosine for each in candidates])
    known = ~np.isnan(cosines)
    best = np.argsort(-scores[known], kind="stable")[:DEPTH]
    usual = cosines[known][best].mean()
    with_meaning: Floats = scores + np.where(known, WEIGHT * (cosines - usual), 0.0)
    return with_meaning


def without_cosines(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates for a ranker that was fitted to scores of words alone."""
    return [replace(candidate, cosine=None) for candidate in candidates]
