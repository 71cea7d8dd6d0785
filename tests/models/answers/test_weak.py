"""Which snippets are weak: fitted on toy answers whose best margin is known."""

from dataclasses import replace
from math import log

import pytest

from bioqa.bioasq.domain import Question, Response
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.selection import Calibration, SelectionLimits, select
from bioqa.models.answers.weak import AGREEMENTS, fit_agreement, fit_margin
from tests.models.toys import document, snippet

CALIBRATION = Calibration()
LIKELY, POSSIBLE, WEAK = 2.0, 0.0, -3.0
"""Sentence scores: probabilities of .88, .5 and .05."""


def _ranked(number: int, *scores: float) -> RankedDocument:
    texts = [f"Sentence number {i} is here." for i in range(len(scores))]
    return RankedDocument(document(number, "", *texts), 0.0, scores)


def _gold(number: int, ranked: RankedDocument, relevant: int) -> Response:
    sentences = ranked.document.sentences[:relevant]
    snippets = tuple(snippet(ranked.document, sentence) for sentence in sentences)
    return Response(Question(f"q{number}", "Does it work?"), (ranked.document.url,), snippets)


def _case(relevant: int, *scores: float) -> tuple[list[Ranking], list[Response]]:
    ranked = [_ranked(number, *scores) for number in range(1, 6)]
    golden = [_gold(number, each, relevant) for number, each in enumerate(ranked)]
    return [Ranking((each,)) for each in ranked], golden


@pytest.mark.parametrize(
    ("relevant", "left"),
    [(1, 1), (3, 3), (6, 6)],
    ids=["the best alone", "the best and the possible ones", "all"],
)
def test_as_many_are_left_as_are_relevant(relevant: int, left: int) -> None:
    scores = (LIKELY, POSSIBLE - 0.7, POSSIBLE - 0.7, WEAK, WEAK, WEAK)
    rankings, golden = _case(relevant, *scores)
    margin = fit_margin(rankings, golden, CALIBRATION)
    assert {
        len(select(ranking, CALIBRATION, SelectionLimits(margin=margin)).sentences) for ranking in rankings
    } == {left}
    assert (margin is None) == (left == len(scores))


def test_no_more_are_left_out_than_must_be() -> None:
    rankings, golden = _case(1, LIKELY, WEAK)
    # The weak sentences have .054 of the best one's score: any margin from here on leaves them out.
    assert fit_margin(rankings, golden, CALIBRATION) == -log(0.07)


def test_without_gold_nothing_is_weak() -> None:
    rankings, golden = _case(0, LIKELY, WEAK)
    assert fit_margin(rankings, golden, CALIBRATION) is None
    assert fit_margin([], [], CALIBRATION) is None


def _supported(ranking: Ranking, *support: float) -> Ranking:
    return Ranking(tuple(replace(ranked, support=support) for ranked in ranking.documents))


def test_agreement_counts_where_it_tells_what_is_relevant() -> None:
    # The relevant sentence scores less than the other one, but is what other documents say.
    rankings, golden = _case(1, POSSIBLE, LIKELY)
    rankings = [_supported(ranking, 0.9, 0.0) for ranking in rankings]
    fitted = fit_agreement(rankings, golden, CALIBRATION)
    assert fitted == replace(CALIBRATION, agreement=fitted.agreement)
    assert fitted.agreement in AGREEMENTS[1:]
    for ranking in rankings:
        best = select(ranking, fitted).sentences[0]
        assert best.sentence == best.document.sentences[0]


def test_agreement_that_tells_nothing_does_not_count() -> None:
    rankings, golden = _case(1, LIKELY, POSSIBLE)
    assert fit_agreement(rankings, golden, CALIBRATION) == CALIBRATION
    assert (
        fit_agreement([_supported(each, 0.4, 0.4) for each in rankings], golden, CALIBRATION) == CALIBRATION
    )
    assert fit_agreement([], [], CALIBRATION) == CALIBRATION
