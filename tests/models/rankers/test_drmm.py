from math import log

import numpy as np
import pytest

from bioqa.models.text.vocabulary import Vocabulary
from tests.models.rankers.building import (
    example_for,
    gate,
    mlp,
    scores_of,
    text_ranker,
    units_of,
    vectors_of,
    weights_of,
)
from tests.models.reference import Vector, cosine
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
    settings = toy_settings("drmm", bins=bins)
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, seed)
    weights, question = weights_of(model), example.question.tolist()
    expected = []
    for unit in units_of(example):
        rows = [
            _histogram(term, vector, unit, vectors_of(unit, vocabulary), bins)
            for term, vector in zip(question, vectors_of(question, vocabulary), strict=True)
        ]
        matches = [np.tanh(mlp(weights, "match", row, "tanh")[0]) for row in rows]
        expected.append(float(np.dot(matches, gate(weights, example, vocabulary))))
    assert scores_of(model, example, vocabulary) == pytest.approx(expected, abs=1e-5)
