from math import exp, log

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
from tests.models.reference import Vector, cosine
from tests.models.toys import toy_settings

CENTRES = (1.0, 0.9, 0.7, 0.5, 0.3, 0.1, -0.1, -0.3, -0.5, -0.7, -0.9)
"""Of Xiong et al. 2017, Section 4.4."""


def _counts(question: list[Vector], document: list[Vector]) -> Vector:
    found = []
    for centre in CENTRES:
        width = 0.001 if centre == 1.0 else 0.1
        sums = [
            sum(exp(-((cosine(term, word) - centre) ** 2) / (2 * width**2)) for word in document)
            for term in question
        ]
        found.append(sum(log(max(1e-10, each)) / 100 for each in sums))
    return found


@pytest.mark.parametrize("hidden", [0, 30])
@pytest.mark.parametrize("seed", range(2))
def test_scores_are_those_of_the_paper(vocabulary: Vocabulary, seed: int, hidden: int) -> None:
    settings = toy_settings("knrm", hidden=hidden)
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, seed)
    question = vectors_of(example.question.tolist(), vocabulary)
    expected = [
        mlp(weights_of(model), "score", _counts(question, vectors_of(unit, vocabulary)), "tanh")[0]
        for unit in units_of(example)
    ]
    assert scores_of(model, example, vocabulary) == pytest.approx(expected, abs=1e-5)


def test_no_number_of_kernels_but_a_positive_one(vocabulary: Vocabulary) -> None:
    settings = toy_settings("knrm", kernels=1)
    example = example_for(settings, vocabulary, 0)
    assert np.isfinite(scores_of(text_ranker(settings, vocabulary), example, vocabulary)).all()
