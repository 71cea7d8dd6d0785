import numpy as np
import pytest

from bioqa.models.text.vocabulary import Vocabulary
from tests.models.rankers.building import assert_sums_over_terms, softmax, views_of
from tests.models.reference import Vector, Weights
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
    size = len(vocabulary.words)

    def rows(weights: Weights, question: list[int], unit: list[int]) -> list[Vector]:
        asked, asked_in_context = views_of(weights, question, vocabulary)
        static, context = views_of(weights, unit, vocabulary)
        found = []
        for i, term in enumerate(question):
            row = _product(asked_in_context[i], context)
            if ranker == "abel-mv":
                row = row + np.tile(_product(asked[i], static), 2)
                exact = _product(_one_hot(term, size), [_one_hot(word, size) for word in unit])
                assert np.count_nonzero(np.delete(exact, term)) == 0
                row = np.append(row, exact[term])
            found.append(row.tolist())
        return found

    assert_sums_over_terms(toy_settings(ranker), vocabulary, seed, rows)
