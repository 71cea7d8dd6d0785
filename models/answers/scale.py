"""One scale for every ranker: what its scores mean, as calibrated probabilities.

A ranker's scores order one question's candidates. A curve that only rises maps them onto probabilities, so
orders never change. ``bioqa.models.answers.reliability`` fits it, and says of what the probabilities are.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import isfinite, log
from typing import Any

import numpy as np

from bioqa.models.arrays import Floats


@dataclass(frozen=True, slots=True)
class Curve:
    """A rising line of straight pieces from scores to log-odds; beyond its ends the outer pieces go on.

    With two points it is Platt's.
    """

    scores: tuple[float, ...]
    log_odds: tuple[float, ...]

    def __post_init__(self) -> None:
        """Raises ValueError."""
        if not 2 <= len(self.scores) == len(self.log_odds):
            raise ValueError(f"a curve through {len(self.scores)} scores and {len(self.log_odds)} log-odds")
        for values in (self.scores, self.log_odds):
            if not all(map(isfinite, values)) or not all(low < high for low, high in pairwise(values)):
                raise ValueError(f"a curve that does not rise: {list(values)}")

    def __call__(self, scores: Floats) -> Floats:
        """Their probabilities, in the same order."""
        at = np.asarray(scores, dtype=np.float64)
        given, odds = np.array(self.scores), np.array(self.log_odds)
        piece = np.clip(np.searchsorted(given, at, side="right") - 1, 0, len(given) - 2)
        slope = np.diff(odds) / np.diff(given)
        return sigmoid(odds[piece] + slope[piece] * (at - given[piece]))

    def score_of(self, probability: float) -> float:
        """The score with this probability, which is above 0 and below 1."""
        odds = log(probability / (1 - probability))
        piece = min(max(bisect_right(self.log_odds, odds) - 1, 0), len(self.scores) - 2)
        (low, high), (below, above) = self.scores[piece : piece + 2], self.log_odds[piece : piece + 2]
        return low + (odds - below) * (high - low) / (above - below)


@dataclass(frozen=True, slots=True)
class Scale:
    """What a ranker's scores of documents, and the selection's of sentences, mean."""

    documents: Curve
    """From a document's score"""
    sentences: Curve
    """From a sentence's log-weight: ``bioqa.models.answers.selection.log_weights``"""
    margin: float | None = None
    """Sentences whose log-weight is further below their question's best are weak; None: none is. Fitted by
    ``bioqa.models.answers.weak``."""

    def __post_init__(self) -> None:
        """Raises ValueError."""
        if self.margin is not None and not (isfinite(self.margin) and self.margin > 0):
            raise ValueError(f"scale: margin is {self.margin!r}, not a positive number")

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        curves = {
            unit: {name: list(values) for name, values in asdict(curve).items()}
            for unit, curve in (("documents", self.documents), ("sentences", self.sentences))
        }
        return curves if self.margin is None else {**curves, "margin": self.margin}

    @classmethod
    def from_dict(cls, value: object) -> "Scale | None":
        """None for None: checkpoints had no scale at first. Raises ValueError."""
        if value is None:
            return None
        if not isinstance(value, Mapping) or value.keys() - {"margin"} != {"documents", "sentences"}:
            raise ValueError(f"scale: not the curves of documents and sentences: {value!r}")
        margin = value.get("margin")
        if not isinstance(margin, int | float | None) or isinstance(margin, bool):
            raise ValueError(f"scale: margin is {margin!r}, not a number")
        documents, sentences = (_curve(unit, value[unit]) for unit in ("documents", "sentences"))
        return cls(documents, sentences, margin)


def without_scale(content: bytes) -> bytes:
    """A ranker's config.json as it was before a scale was fitted, for its hash: scores and orders stay."""
    config = json.loads(content)
    training = config.get("training") if isinstance(config, dict) else None
    parts = [part for part in (config, training) if isinstance(part, dict) and "scale" in part]
    for part in parts:
        del part["scale"]
    end = content[len(content.rstrip()) :]
    return json.dumps(config, indent=1).encode() + end if parts else content


def _curve(unit: str, value: object) -> Curve:
    if not isinstance(value, Mapping) or value.keys() != {"scores", "log_odds"}:
        raise ValueError(f"scale: {unit}: not scores and log_odds: {value!r}")
    try:
        return Curve(*(tuple(map(float, value[name])) for name in ("scores", "log_odds")))
    except (TypeError, ValueError) as error:
        raise ValueError(f"scale: {unit}: {error}") from error


def sigmoid(x: Floats) -> Floats:
    """By way of tanh, which does not overflow where exp would."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))
