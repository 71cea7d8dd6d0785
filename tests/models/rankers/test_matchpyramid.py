from itertools import product
from math import ceil, floor

import numpy as np
import pytest

from bioqa.models.text.vocabulary import Vocabulary
from tests.models.rankers.building import (
    example_for,
    mlp,
    scores_of,
    text_ranker,
    units_of,
    vectors_of,
    weights_of,
)
from tests.models.reference import cosine
from tests.models.toys import toy_settings


def _cells(length: int, cells: int) -> list[range]:
    return [range(floor(length * c / cells), ceil(length * (c + 1) / cells)) for c in range(cells)]


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_the_paper(vocabulary: Vocabulary, seed: int) -> None:
    settings = toy_settings("matchpyramid", rows=3, columns=5)
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, seed, longest=14)
    weights = weights_of(model)
    filters, bias = weights["convolution.weight"][:, 0], weights["convolution.bias"]
    question = vectors_of(example.question.tolist(), vocabulary)
    expected = []
    for unit in units_of(example):
        words = vectors_of(unit, vocabulary)
        # [m, n], with zeros around.
        matrix = np.array([[cosine(t, w) for t in question] for w in words]).reshape(
            len(words), len(question)
        )
        around = np.pad(matrix, 1)
        maps = np.zeros((len(filters), *matrix.shape))
        for f, i, j in product(*map(range, maps.shape)):
            maps[f, i, j] = max(0.0, (filters[f] * around[i : i + 3, j : j + 3]).sum() + bias[f])
        grid = [
            max((maps[f, i, j] for i in column for j in row), default=0.0)
            for f in range(len(filters))
            for row in _cells(len(question), 3)
            for column in _cells(len(words), 5)
        ]
        expected.append(mlp(weights, "score", grid)[0])
    assert scores_of(model, example, vocabulary) == pytest.approx(expected, abs=1e-5)
