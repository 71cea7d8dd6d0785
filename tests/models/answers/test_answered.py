"""Whether one of the first sentences answers."""

from dataclasses import replace

import pytest

from bioqa.models.answers import answered
from bioqa.models.answers.answered import Answered, BestSentences, standing
from bioqa.models.answers.evidence import confidence
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.selection import Calibration
from tests.models.toys import document

AGAIN = Calibration(aptness=1.0)
QUESTION = "Does aspirin lower mortality in zelosis?"


def ranked(score: float, *sentences: float) -> RankedDocument:
    texts = ["Aspirin lowers mortality in zelosis." for _ in sentences]
    found = RankedDocument(document(1, "", *texts), score, sentences)
    return replace(found, aptness=(0.0,) * len(sentences), relevance=(0.0,) * len(sentences))


def test_what_stands_first() -> None:
    found = standing([ranked(2.0, 900.0, 900.0), ranked(1.0, 900.0)], AGAIN, 0.5, 0.25)
    assert found == BestSentences(0.5, 0.25, 2.0, 2.0, 1.0, 1.0, 2.0)


def test_documents_without_sentences() -> None:
    found = standing([ranked(1.0)], AGAIN, 0.0, 0.0)
    assert found.first == answered.LEAST
    assert 0 < answered.load().probability(found) < answered.load().likely_from


def test_the_probability_is_of_a_logistic_regression() -> None:
    weights = dict.fromkeys(("sentence_share", "sentence_score", "first", "second", "third", "tenth"), 0.0)
    model = Answered(1.0, {**weights, "document": 0.5}, 0.6)
    assert model.probability(BestSentences(0, 0, 0, 0, 0, 0, -2.0)) == pytest.approx(0.5)


@pytest.mark.parametrize("probability", [0.2, 0.9])
def test_documents_that_fit_are_not_enough(probability: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Answered, "probability", lambda *_: probability)
    ranking = Ranking((ranked(2.0, 3.0, 2.0),))
    plain = confidence(QUESTION, ranking, Calibration())
    found = confidence(QUESTION, ranking, AGAIN)
    assert plain.level == "likely"
    assert found.level == ("likely" if probability > 0.5 else "doubtful")
    assert found.probability == min(plain.probability, probability)


def test_other_subjects_stay_unlikely() -> None:
    off = confidence("How do I win at tennis on wet grass?", Ranking((ranked(2.0, 3.0),)), AGAIN)
    assert off == confidence(
        "How do I win at tennis on wet grass?", Ranking((ranked(2.0, 3.0),)), Calibration()
    )
    assert off.level == "unlikely"
