from math import log

import numpy as np
import pytest

from bioqa.models.text.vocabulary import Vocabulary
from tests.models.rankers.building import assert_sums_over_terms, mlp, vectors_of
from tests.models.reference import Vector, Weights, cosine
from tests.models.toys import toy_settings


def _histogram(term: int, vector: Vector, words: list[int], vectors: list[Vector], bins: int) -> list[float]:
    counts = [0] * bins
    for word, of_word in zip(words, vectors, strict=True):
        if word == term:
            counts[-1] += 1
        else:
            counts[min(bins - 2, int((cosine(vector, of_word) + 1) / 2 * (bins - 1)))] += 1
    return [log(1 + count) for count in counts]


@pytest.mark.parametrize("bins", [2, 30])
@pytest.mark.parametrize("seed", range(2))
def test_scores_are_those_of_the_paper(vocabulary: Vocabulary, seed: int, bins: int) -> None:
    def rows(weights: Weights, question: list[int], unit: list[int]) -> list[Vector]:
        return [
            _histogram(term, vector, unit, vectors_of(unit, vocabulary), bins)
            for term, vector in zip(question, vectors_of(question, vocabulary), strict=True)
        ]

    def match(weights: Weights, row: Vector) -> float:
        return float(np.tanh(mlp(weights, "match", row, "tanh")[0]))

    assert_sums_over_terms(toy_settings("drmm", bins=bins), vocabulary, seed, rows, match)
