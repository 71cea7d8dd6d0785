"""How much closeness in meaning counts for a document's score, where a candidate comes with its cosine.

A ranker compares words, so what says the same in other words has a low score. The cosine of the vectors of
question and document is added to it, with one weight. It was chosen for the scores of ``soft`` and for the
cosines of the bundled encoder; a ranker says by its calibration whether it counts (``counts``).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.selection import Calibration
from bioqa.models.arrays import Floats

WEIGHT = 3.0
"""Chosen on BioASQ's development questions and on ordinary ones, among 0, .5, 1, 2, 3, 4 and 8."""

USUAL = 0.5
"""The cosine that changes nothing: about the mean of the ten best documents of these questions."""


def counts(calibration: Calibration) -> bool:
    """Whether closeness in meaning counts: like the second reading, it was fitted to what ``soft`` scores."""
    return calibration.aptness > 0


def added(candidate: Candidate, calibration: Calibration) -> float:
    """What is added to the document's score; 0 if its cosine is not known."""
    if candidate.cosine is None or not counts(calibration):
        return 0.0
    return WEIGHT * (candidate.cosine - USUAL)


def add_meaning(scores: Floats, candidates: Sequence[Candidate], calibration: Calibration) -> Floats:
    """[candidates] the scores with what is added; the very same if no cosine is known."""
    if not counts(calibration) or all(candidate.cosine is None for candidate in candidates):
        return scores
    with_meaning: Floats = scores + np.array([added(candidate, calibration) for candidate in candidates])
    return with_meaning


def without_cosines(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates for a ranker that was fitted to scores of words alone."""
    return [replace(candidate, cosine=None) for candidate in candidates]
