"""Bootstrap and randomisation against plain implementations that enumerate everything, at toy size."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.significance import Floats, holm, interval, randomisation_p, resampled_means

VALUES = [0.1, 0.45, 0.5, 1.0]


def column(*values: float) -> Floats:
    return np.array(values, dtype=np.float64)[:, None]


def test_resampled_means_have_the_exact_distribution_of_the_bootstrap() -> None:
    """All 4⁴ samples of four values, each as likely as the other."""
    exact = [sum(sample) / len(sample) for sample in product(VALUES, repeat=len(VALUES))]
    drawn = resampled_means(column(*VALUES), resamples=40_000)[:, 0]
    assert drawn.shape == (40_000,)
    for point in np.linspace(0.1, 1.0, 19):
        share = sum(mean <= point + 1e-9 for mean in exact) / len(exact)
        assert np.mean(drawn <= point + 1e-9) == pytest.approx(share, abs=0.01)


def test_measures_are_resampled_together() -> None:
    values = np.array([[0.1, 0.2], [0.5, 1.0], [0.3, 0.6]])
    drawn = resampled_means(values, resamples=200)
    assert drawn[:, 1] == pytest.approx(2 * drawn[:, 0])
    assert resampled_means(values, resamples=200).tolist() == drawn.tolist()
    assert resampled_means(values, resamples=200, seed=1).tolist() != drawn.tolist()


def test_an_interval_cuts_both_tails() -> None:
    """Of the numbers 0 to 1000 in any order: 25 are below it and 25 above."""
    numbers = np.random.default_rng(3).permutation(1001).astype(np.float64)
    low, high = interval(np.stack([numbers, -numbers], axis=1), confidence=0.95)
    assert low.tolist() == pytest.approx([25.0, -975.0])
    assert high.tolist() == pytest.approx([975.0, -25.0])


def plain_p(differences: list[float]) -> float:
    """Every way to exchange the two values of each question."""
    observed = abs(sum(differences))
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(each >= observed - 1e-9 for each in sums) / len(sums)


@given(st.lists(st.sampled_from([-0.5, -0.25, -0.1, 0.0, 0.1, 0.3, 1 / 3]), min_size=1, max_size=9))
def test_few_questions_give_the_exact_p(differences: list[float]) -> None:
    assert randomisation_p(column(*differences))[0] == pytest.approx(plain_p(differences))


def test_many_questions_give_nearly_the_exact_p() -> None:
    differences = np.random.default_rng(5).normal(0.02, 0.1, size=16).round(3).tolist()
    assert 0.05 < plain_p(differences) < 0.95
    drawn = randomisation_p(column(*differences), resamples=20_000)[0]
    assert drawn == pytest.approx(plain_p(differences), abs=0.01)
    assert randomisation_p(column(*differences), resamples=20_000)[0] == drawn


def test_p_is_that_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(7)
    ours, theirs = rng.random((2, 60))
    found = stats.permutation_test(
        (ours, theirs + 0.04),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(1),
    )
    p = randomisation_p((ours - theirs - 0.04)[:, None], resamples=20_000)[0]
    assert p == pytest.approx(found.pvalue, abs=0.015)


def test_p_of_each_measure_is_its_own() -> None:
    rng = np.random.default_rng(2)
    differences = rng.normal(0.05, 0.1, size=(40, 3))
    together = randomisation_p(differences, resamples=2000)
    alone = [randomisation_p(differences[:, [place]], resamples=2000)[0] for place in range(3)]
    assert together.tolist() == pytest.approx(alone)


def test_equal_systems_and_very_different_ones() -> None:
    assert randomisation_p(np.zeros((50, 2))).tolist() == [1.0, 1.0]
    # The observed one counts, so no p of draws is 0.
    assert randomisation_p(np.ones((50, 1)), resamples=999)[0] == pytest.approx(1 / 1000)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_as_its_steps_do(p: list[float]) -> None:
    """Step down: the smallest p at level/m, the next at level/(m - 1), …, until one is not rejected."""
    adjusted = holm(p)
    for level in (0.01, 0.05, 0.2):
        rejected = set()
        for rank, place in enumerate(sorted(range(len(p)), key=lambda each: p[each])):
            if p[place] * (len(p) - rank) > level:
                break
            rejected.add(place)
        assert {place for place, each in enumerate(adjusted) if each <= level} == rejected
    assert all(math.isfinite(each) and each >= given for each, given in zip(adjusted, p, strict=True))
