from dataclasses import replace
from math import exp, log

import numpy as np
import pytest

from bioqa.models.text.vocabulary import Vocabulary
from tests.models.rankers.building import example_for, scores_of, text_ranker, units_of
from tests.models.toys import toy_settings


@pytest.mark.parametrize("ranker", ["ql", "uqlm"])
@pytest.mark.parametrize("mu", [1.0, 2500.0])
def test_scores_are_those_of_the_paper(vocabulary: Vocabulary, ranker: str, mu: float) -> None:
    settings = toy_settings(ranker, mu=mu)
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, 1)
    idf = dict(zip(example.question.tolist(), vocabulary.idf_of(example.question).tolist(), strict=True))
    collection = {term: exp(-value) / vocabulary.means.document_words for term, value in idf.items()}
    expected = [
        sum(
            log((unit.count(term) + mu * collection[term]) / (len(unit) + mu))
            for term in example.question.tolist()
        )
        for unit in units_of(example)
    ]
    assert scores_of(model, example, vocabulary) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("ranker", ["ql", "uqlm"])
def test_a_vocabulary_with_frequencies_says_how_often_a_word_occurs(
    vocabulary: Vocabulary, ranker: str
) -> None:
    shares = np.random.default_rng(0).dirichlet(np.ones(len(vocabulary.words))).astype(np.float32)
    counted = replace(vocabulary, frequencies=shares)
    settings = toy_settings(ranker, mu=7.0)
    model, example = text_ranker(settings, counted), example_for(settings, counted, 1)
    example.question[-1] = -5  # unknown
    found = [float(shares[word]) if word >= 0 else float(shares.min()) for word in example.question]
    expected = [
        sum(
            log((unit.count(term) + 7 * share) / (len(unit) + 7))
            for term, share in zip(example.question.tolist(), found, strict=True)
        )
        for unit in units_of(example)
    ]
    assert scores_of(model, example, counted) == pytest.approx(expected, rel=1e-5)
    assert scores_of(model, example, vocabulary) != pytest.approx(expected, rel=1e-3)


def test_there_is_nothing_to_learn(vocabulary: Vocabulary) -> None:
    for name in ("ql", "uqlm"):
        settings = toy_settings(name)
        assert settings.training is None
        assert not [*text_ranker(settings, vocabulary).parameters()]
