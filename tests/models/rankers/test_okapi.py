import pytest

from bioqa.models.text.vocabulary import Vocabulary
from tests.models.rankers.building import example_for, scores_of, text_ranker, units_of
from tests.models.toys import toy_settings


@pytest.mark.parametrize(("k1", "b"), [(2.0, 0.75), (0.0, 1.0), (1.2, 1.0)])
def test_scores_are_those_of_the_paper(vocabulary: Vocabulary, k1: float, b: float) -> None:
    settings = toy_settings("bm25-title", k1=k1, b=b, mean_words=5.0)
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, 1)
    idf = vocabulary.idf_of(example.question).tolist()
    expected = []
    for unit in units_of(example):
        score = 0.0
        for term, rarity in zip(example.question.tolist(), idf, strict=True):
            if count := unit.count(term):
                score += rarity * count * (k1 + 1) / (count + k1 * (1 - b + b * len(unit) / 5.0))
        expected.append(score)
    assert scores_of(model, example, vocabulary) == pytest.approx(expected, rel=1e-5)
