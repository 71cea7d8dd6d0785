from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.models.features.matching import bm25_scores, match

_IDS = st.integers(-3, 4)


@given(st.lists(_IDS, max_size=7), st.lists(st.lists(_IDS, max_size=9), max_size=5))
def test_as_counted_one_by_one(terms: list[int], units: list[list[int]]) -> None:
    found = match(
        np.array(terms, dtype=np.int64),
        np.array([w for unit in units for w in unit], dtype=np.int64),
        np.array([len(unit) for unit in units], dtype=np.int64),
    )
    distinct = sorted(set(terms))
    bigrams = set(pairwise(terms))
    assert found.distinct.tolist() == distinct
    assert found.distinct_bigrams == len(bigrams)
    assert found.counts.shape == (len(distinct), len(units))
    assert found.counts.tolist() == [[unit.count(term) for unit in units] for term in distinct]
    assert found.bigrams.tolist() == [len(bigrams & set(pairwise(unit))) for unit in units]


def test_a_bigram_does_not_reach_from_one_unit_into_the_next() -> None:
    found = match(np.array([1, 2]), np.array([0, 1, 2, 0]), np.array([2, 2]))
    assert found.bigrams.tolist() == [0, 0]


def test_bm25_of_each_unit() -> None:
    idf = np.array([2.0, 0.5])
    counts = np.array([[1.0, 0.0, 3.0], [0.0, 0.0, 1.0]])
    scores = bm25_scores(counts, np.array([4, 0, 12]), idf, 8.0, 1.2, 0.75)
    short, long = 1.2 * (0.25 + 0.75 * 0.5), 1.2 * (0.25 + 0.75 * 1.5)
    assert scores.tolist() == pytest.approx(
        [2.0 * 2.2 / (1 + short), 0.0, 2.0 * 3 * 2.2 / (3 + long) + 0.5 * 2.2 / (1 + long)]
    )


def test_bm25_is_finite_where_nothing_has_a_length() -> None:
    scores = bm25_scores(np.zeros((1, 2)), np.array([0, 0]), np.array([1.0]), 0.0, 0.0, 1.0)
    assert scores.tolist() == [0.0, 0.0]
