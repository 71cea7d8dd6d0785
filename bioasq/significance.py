"""Tests over questions: bootstrap intervals, approximate randomisation, and Holm's correction.

Both resample questions, so measures that are means over questions are tested all at once: columns of a matrix
share their draws. Each call draws anew from its seed, so a result does not depend on what else is compared.

Sources: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13 (percentile intervals);
Noreen 1989 and Smucker, Allan and Carterette 2007 (randomisation in information retrieval); Holm 1979.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 10_000
CONFIDENCE = 0.95
SEED = 0

_AT_ONCE = 500
"""Resamples drawn together: bounds memory. Part of the results, as it orders the draws."""

_ROUNDING = 1e-12
"""Relative difference up to which two sums count as equal: they may be added in different orders."""


def resampled_means(values: Floats, resamples: int = RESAMPLES, seed: int = SEED) -> Floats:
    """[questions, measures] → [resamples, measures]: means over as many questions, drawn with replacement."""
    questions = len(values)
    rng = np.random.default_rng(seed)
    return np.concatenate([_counts(rng, questions, size) @ values / questions for size in _chunks(resamples)])


def interval(resampled: Floats, confidence: float = CONFIDENCE) -> tuple[Floats, Floats]:
    """[resamples, measures] → the lower and upper percentiles [measures] of the bootstrap interval."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail], axis=0)
    return low, high


def randomisation_p(differences: Floats, resamples: int = RESAMPLES, seed: int = SEED) -> Floats:
    """Two-tailed p of each measure's mean difference: [questions, measures] → [measures].

    The probability of a mean difference at least as far from 0 if each question's two values were exchanged
    at random. Exact where the questions that differ can be exchanged in at most ``resamples`` ways; else of
    ``resamples`` draws, with the observed one counted among them.
    """
    differing = differences[np.any(differences != 0, axis=1)]
    observed = np.abs(differing.sum(axis=0))
    least = observed - _ROUNDING * np.abs(differing).sum(axis=0)
    exact = 2 ** min(len(differing), 62) <= resamples
    reached = np.zeros(differences.shape[1], dtype=np.int64)
    drawn = 0
    signs_of = _all_signs(len(differing)) if exact else _random_signs(len(differing), resamples, seed)
    for signs in signs_of:
        reached += (np.abs(signs @ differing) >= least).sum(axis=0)
        drawn += len(signs)
    p: Floats = reached / drawn if exact else (reached + 1) / (drawn + 1)
    return p


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p values, in the order given: of several comparisons, the chance of any false one."""
    adjusted = [0.0] * len(p)
    highest = 0.0
    for rank, position in enumerate(sorted(range(len(p)), key=lambda position: p[position])):
        highest = max(highest, min(1.0, (len(p) - rank) * p[position]))
        adjusted[position] = highest
    return adjusted


def _counts(rng: np.random.Generator, questions: int, size: int) -> Floats:
    """[size, questions]: how often each question is drawn in each sample. Faster than multinomial()."""
    drawn = rng.integers(0, questions, size=(size, questions)) + questions * np.arange(size)[:, None]
    return np.bincount(drawn.ravel(), minlength=size * questions).reshape(size, questions).astype(np.float64)


def _all_signs(count: int) -> Iterator[Floats]:
    """Every [2^count, count] matrix row of signs, each once."""
    ones = np.arange(2**count)[:, None] >> np.arange(count) & 1
    yield 1.0 - 2.0 * ones.astype(np.float64)


def _random_signs(count: int, resamples: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    for size in _chunks(resamples):
        yield 1.0 - 2.0 * rng.integers(0, 2, size=(size, count), dtype=np.int8).astype(np.float64)


def _chunks(resamples: int) -> Iterator[int]:
    for begin in range(0, resamples, _AT_ONCE):
        yield min(_AT_ONCE, resamples - begin)
