"""Whether one of the first three sentences answers: a probability, for rankers with a second reading.

A logistic regression over what the ranker says of its best sentences and document, fitted to ordinary
questions whose sentences were judged (bench/data/ordinary-questions.json); sentences that nobody judged count
as not answering. ``bioqa.models.answers.evidence`` says whether documents are about the question at all; that
a biomedical question's words are there does not mean that a sentence answers it. Log-weights have the size
that ``soft`` gives them, so other rankers do without.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np

from bioqa.models.answers.ranking import RankedDocument
from bioqa.models.answers.scale import sigmoid
from bioqa.models.answers.selection import Calibration, log_weights

FITTED = Path(__file__).with_name("answered.json")
LEAST = -14.0
"""Lower log-weights, and those of no sentence, count as this one: few answers that it was fitted to have any
below it."""


@dataclass(frozen=True, slots=True)
class BestSentences:
    """What the estimate is made from: how the best sentences, and their document, stand."""

    sentence_share: float
    """As in ``bioqa.models.answers.evidence.AnswerEvidence``."""
    sentence_score: float
    """The same."""
    first: float
    """The log-weight of the best sentence, and of others in their order."""
    second: float
    third: float
    tenth: float
    document: float
    """The ranker's score of the first document."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The fitted model: the log odds are ``offset`` and the sum of ``weights`` times ``BestSentences``."""

    offset: float
    weights: Mapping[str, float]
    likely_from: float
    """Four in five of the judged questions with this probability or more have an answer among the first
    three sentences, in cross-validation."""

    def probability(self, standing: BestSentences) -> float:
        names = (field.name for field in fields(BestSentences))
        odds = sum(self.weights[name] * getattr(standing, name) for name in names)
        return float(sigmoid(np.array(self.offset + odds)))


@cache
def load() -> Answered:
    """The model that is bundled, read once."""
    return Answered(**json.loads(FITTED.read_text(encoding="utf-8"))["model"])


def standing(
    best: Sequence[RankedDocument], calibration: Calibration, sentence_share: float, sentence_score: float
) -> BestSentences:
    """``best``: the documents that are shown, at least one, best first."""
    weights = np.concatenate([log_weights(ranked, calibration) for ranked in best])
    ordered = np.sort(np.nan_to_num(weights, nan=LEAST).clip(min=LEAST))[::-1].tolist() or [LEAST]
    # A few sentences: the last one stands for those that there are not.
    ordered += [ordered[-1]] * 10
    document = float(np.nan_to_num(best[0].own_score))
    first, second, third, tenth = (ordered[n] for n in (0, 1, 2, 9))
    return BestSentences(sentence_share, sentence_score, first, second, third, tenth, document)
