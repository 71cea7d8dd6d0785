from math import exp, log

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


def test_there_is_nothing_to_learn(vocabulary: Vocabulary) -> None:
    for name in ("ql", "uqlm"):
        settings = toy_settings(name)
        assert settings.training is None
        assert not [*text_ranker(settings, vocabulary).parameters()]
