import numpy as np
import pytest

from bioqa.models.rankers.settings import RankerSettingsError
from bioqa.models.text.vocabulary import Vocabulary
from tests.models.rankers.building import example_for, mlp, scores_of, text_ranker, units_of, weights_of
from tests.models.toys import toy_settings


@pytest.mark.parametrize("seed", range(2))
def test_scores_are_those_of_the_paper(vocabulary: Vocabulary, seed: int) -> None:
    settings = toy_settings("duet-local", question_words=6, unit_words=20, hidden=7)
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, seed)
    weights, question = weights_of(model), example.question.tolist()
    places, bias = weights["convolution.weight"], weights["convolution.bias"]
    expected = []
    for unit in units_of(example):
        rows = np.zeros((6, len(places)))
        for i, term in enumerate(question):
            for f, of_filter in enumerate(places):
                found = sum(of_filter[place] for place, word in enumerate(unit) if word == term)
                rows[i, f] = np.tanh(found + bias[f])
        expected.append(mlp(weights, "score", rows.flatten().tolist(), "tanh")[0])
    assert scores_of(model, example, vocabulary) == pytest.approx(expected, abs=1e-5)


def test_the_number_of_places_must_be_set(vocabulary: Vocabulary) -> None:
    with pytest.raises(RankerSettingsError, match="unit_words 0"):
        text_ranker(toy_settings("duet-local", unit_words=0), vocabulary)
