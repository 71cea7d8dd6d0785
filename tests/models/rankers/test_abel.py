import numpy as np
import pytest

from bioqa.models.text.vocabulary import Vocabulary
from tests.models.rankers.building import (
    example_for,
    gate,
    mlp,
    scores_of,
    softmax,
    text_ranker,
    units_of,
    vectors_of,
    weights_of,
)
from tests.models.rankers.test_posit import contexts
from tests.models.reference import Vector, under
from tests.models.toys import toy_settings


def _product(term: Vector, words: list[Vector]) -> np.ndarray:
    """Equations 2 to 4."""
    q = np.array(term)
    if not words:
        return np.zeros_like(q)
    rows = np.array(words)
    seen = np.array(softmax((rows @ q).tolist())) @ rows
    return np.asarray(seen / np.linalg.norm(seen) * q / np.linalg.norm(q))


def _one_hot(word: int, size: int) -> Vector:
    return [float(word == each) for each in range(size)]


@pytest.mark.parametrize("ranker", ["abel", "abel-mv"])
@pytest.mark.parametrize("seed", range(2))
def test_scores_are_those_of_the_paper(vocabulary: Vocabulary, seed: int, ranker: str) -> None:
    """The view of exact matches is multiplied out, one-hot vector by one-hot vector."""
    settings = toy_settings(ranker)
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, seed)
    weights, question = weights_of(model), example.question.tolist()
    size = len(vocabulary.words)
    static_q = vectors_of(question, vocabulary)
    context_q = contexts(under(weights, "context."), static_q)
    expected = []
    for unit in units_of(example):
        static = vectors_of(unit, vocabulary)
        context = contexts(under(weights, "context."), static)
        matches = []
        for i, term in enumerate(question):
            row = _product(context_q[i], context)
            if ranker == "abel-mv":
                row = row + np.tile(_product(static_q[i], static), 2)
                exact = _product(_one_hot(term, size), [_one_hot(word, size) for word in unit])
                assert np.count_nonzero(np.delete(exact, term)) == 0
                row = np.append(row, exact[term])
            matches.append(mlp(weights, "match", row.tolist(), "leaky")[0])
        expected.append(float(np.dot(matches, gate(weights, example, vocabulary))))
    assert scores_of(model, example, vocabulary) == pytest.approx(expected, abs=1e-5)
