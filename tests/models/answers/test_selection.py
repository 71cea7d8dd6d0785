import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.models.answers.ranking import RankedDocument, Ranking, Selection
from bioqa.models.answers.scale import Curve, Scale
from bioqa.models.answers.selection import Calibration, SelectionLimits, select
from tests.models.toys import document

PLAIN = Calibration()


def ranked(pmid: int, score: float, *sentences: float) -> RankedDocument:
    texts = [f"Sentence number {i} is here." for i in range(len(sentences))]
    return RankedDocument(document(pmid, "", *texts), score, sentences)


def _order(selection: Selection) -> list[tuple[str, int]]:
    """PMID and which of its sentences."""
    return [(s.document.pmid, s.document.sentences.index(s.sentence)) for s in selection.sentences]


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_scores_are_the_sentences_times_the_documents() -> None:
    selection = select(
        Ranking((ranked(1, 2.0, 0.5, -1.0), ranked(2, 1.0, 3.0))),
        Calibration(sentence_scale=2.0, sentence_offset=-0.5, document_scale=1.5),
    )
    first, second = (math.exp(3.0) / (math.exp(3.0) + math.exp(1.5)), 1 / (math.exp(1.5) + 1))
    assert [s.score for s in selection.sentences] == pytest.approx(
        [first * _sigmoid(0.5), first * _sigmoid(-2.5), second * _sigmoid(5.5)][:1]
        + sorted([first * _sigmoid(-2.5), second * _sigmoid(5.5)], reverse=True)
    )
    assert _order(selection) == [("1", 0), ("2", 0), ("1", 1)]
    assert selection.sentences[0].text == "Sentence number 0 is here."


def test_equal_scores_keep_reading_order() -> None:
    selection = select(Ranking((ranked(7, 1.0, 0.0, 0.0), ranked(3, 1.0, 0.0, 0.0))), PLAIN)
    assert _order(selection) == [("7", 0), ("7", 1), ("3", 0), ("3", 1)]


def test_saturated_scores_do_not_overflow() -> None:
    selection = select(Ranking((ranked(1, 1e6, 1e6, -1e6), ranked(2, -1e6, 1e300))), PLAIN)
    assert _order(selection) == [("1", 0), ("1", 1), ("2", 0)]
    assert [s.score for s in selection.sentences] == [1.0, 0.0, 0.0]


def test_counts_are_upper_bounds() -> None:
    ranking = Ranking(tuple(ranked(i, -float(i), 0.0, 1.0) for i in range(1, 15)))
    assert len(select(ranking, PLAIN).documents) == 10
    assert len(select(ranking, PLAIN).sentences) == 10
    small = select(ranking, PLAIN, SelectionLimits(documents=2, snippets=3))
    assert [d.document.pmid for d in small.documents] == ["1", "2"]
    assert _order(small) == [("1", 1), ("1", 0), ("2", 1)]
    assert select(ranking, PLAIN, SelectionLimits(documents=3, snippets=0)).sentences == ()
    assert select(ranking, PLAIN, SelectionLimits(documents=0)) == Selection((), ())


def test_what_is_weaker_than_a_margin_is_left_out() -> None:
    ranking = Ranking((ranked(1, 2.0, 1.0, -1.0, -5.0), ranked(2, 1.5, 1.0, -5.0), ranked(3, -9.0, 5.0)))
    # In nats: the logarithms of sigmoid(s) × exp(d), less the best one's.
    below = {("1", 0): 0.0, ("2", 0): 0.5, ("1", 1): 1.0, ("1", 2): 4.693, ("2", 1): 5.193, ("3", 0): 10.694}
    everything = select(ranking, PLAIN)
    assert _order(everything) == list(below)
    for margin, left in ((0.4, 1), (0.6, 2), (1.1, 3), (5.0, 4), (11.0, 6), (None, 6)):
        found = select(ranking, PLAIN, SelectionLimits(margin=margin))
        assert found.sentences == everything.sentences[:left], margin
        assert found.documents == everything.documents
    scale = Scale(Curve((0.0, 1.0), (0.0, 1.0)), Curve((0.0, 1.0), (0.0, 1.0)))
    assert _order(select(ranking, PLAIN, SelectionLimits(margin=1.1), scale)) == [*below][:3]
    assert select(ranking, PLAIN, SelectionLimits(snippets=0, margin=1.0)).sentences == ()


def test_no_documents_and_documents_without_sentences() -> None:
    assert select(Ranking(()), PLAIN) == Selection((), ())
    bare = ranked(1, 2.0)
    assert select(Ranking((bare,)), PLAIN) == Selection((bare,), ())
    assert _order(select(Ranking((bare, ranked(2, 1.0, 0.3))), PLAIN)) == [("2", 0)]


def test_a_label_is_never_selected() -> None:
    texts = ("BACKGROUND:", "We tried velorin.", "Results and discussion:", "It works:", "RESULTS: It does.")
    labelled = RankedDocument(document(1, "METHODS:", *texts), 1.0, (0.0, 9.0, 1.0, 8.0, 2.0, 3.0))
    selection = select(Ranking((labelled,)), PLAIN)
    assert [s.text for s in selection.sentences] == [texts[4], texts[3], texts[1], "METHODS:"]


def test_an_abstract_of_labels_alone_has_nothing_to_select() -> None:
    only = RankedDocument(document(1, "", "AIMS:", "RESULTS:"), 1.0, (3.0, 2.0))
    assert select(Ranking((only,)), PLAIN) == Selection((only,), ())


_SCORE = st.floats(-1e9, 1e9)
_SCALE = st.floats(0, 1e3)


@given(
    st.lists(st.tuples(_SCORE, st.lists(_SCORE, max_size=4)), max_size=14),
    st.builds(Calibration, _SCALE, _SCORE, _SCALE),
    st.integers(0, 12),
    st.integers(0, 12),
)
def test_every_selection_is_an_answer(
    scores: list[tuple[float, list[float]]], calibration: Calibration, documents: int, snippets: int
) -> None:
    made = [ranked(i, score, *sentences) for i, (score, sentences) in enumerate(scores, 1)]
    ranking = Ranking(tuple(sorted(made, key=lambda d: -d.score)))
    selection = select(ranking, calibration, SelectionLimits(documents, snippets))
    assert selection.documents == ranking.documents[:documents]
    found = [s.score for s in selection.sentences]
    assert all(0.0 <= score <= 1.0 for score in found)
    assert found == sorted(found, reverse=True)
    held = {d.document.pmid for d in selection.documents}
    assert {s.document.pmid for s in selection.sentences} <= held
    assert len(set(_order(selection))) == len(selection.sentences)
    available = sum(len(d.sentence_scores) for d in selection.documents)
    assert len(selection.sentences) == min(snippets, available)
    assert select(ranking, calibration, SelectionLimits(documents, snippets)) == selection


RISING = Scale(Curve((-2.0, 2.0), (-3.0, 3.0)), Curve((-4.0, 0.0), (-2.0, 1.0)))


@given(
    st.lists(st.tuples(_SCORE, st.lists(_SCORE, max_size=4)), max_size=14),
    st.builds(Calibration, _SCALE, _SCORE, _SCALE),
)
def test_a_scale_changes_scores_alone(
    scores: list[tuple[float, list[float]]], calibration: Calibration
) -> None:
    made = [ranked(i, score, *sentences) for i, (score, sentences) in enumerate(scores, 1)]
    ranking = Ranking(tuple(sorted(made, key=lambda d: -d.score)))
    plain, scaled = select(ranking, calibration), select(ranking, calibration, scale=RISING)
    assert _order(scaled) == _order(plain)
    assert [d.raw_score for d in scaled.documents] == [d.score for d in plain.documents]
    assert [s.raw_score for s in scaled.sentences] == [s.score for s in plain.sentences]
    for shown in ([d.score for d in scaled.documents], [s.score for s in scaled.sentences]):
        assert shown == sorted(shown, reverse=True)
        assert all(0 <= score <= 1 for score in shown)


def test_probabilities_do_not_depend_on_how_many_documents_are_selected() -> None:
    ranking = Ranking((ranked(1, 1.0, 2.0), ranked(2, 0.5, 1.0), ranked(3, 0.0, 3.0)))
    calibration = Calibration(1.0, -0.5, 0.7)
    alone = select(ranking, calibration, SelectionLimits(documents=1), RISING)
    together = select(ranking, calibration, scale=RISING)
    assert alone.documents[0] == together.documents[0]
    scores = {s.document.pmid: s.score for s in together.sentences}
    assert alone.sentences[0].score == scores["1"]
    weight = math.log(_sigmoid(1.5)) + 0.7
    assert scores["1"] == pytest.approx(_sigmoid(0.75 * weight + 1.0))
    assert together.documents[0].score == pytest.approx(_sigmoid(1.5))


def test_documents_in_another_order_keep_their_probabilities() -> None:
    best, other = ranked(1, 1.0, 2.0), ranked(2, -0.5, 1.0)
    usual = select(Ranking((best, other)), PLAIN, scale=RISING).documents
    by_date = select(Ranking((other, best)), PLAIN, scale=RISING).documents
    assert by_date == usual[::-1]
    assert usual[0].score > usual[1].score


def _read_again(aptness: tuple[float, ...], relevance: tuple[float, ...]) -> RankedDocument:
    return replace(ranked(1, 0.0, 3.0, 2.0, 1.0, 0.0), aptness=aptness, relevance=relevance)


def test_a_second_reading_orders_and_decides_what_is_shown() -> None:
    ranking = Ranking((_read_again((-9.0, 0.0, -9.0, 0.0), (0.0, -9.0, 0.0, 0.0)),))
    again = Calibration(aptness=1.0)
    # The most apt one, whatever the first reading was, and then those that would be shown.
    assert _order(select(ranking, again)) == [("1", 1), ("1", 3), ("1", 0), ("1", 2)]
    assert _order(select(ranking, again, SelectionLimits(snippets=3))) == [("1", 1), ("1", 0), ("1", 2)]
    assert _order(select(ranking, again, SelectionLimits(margin=0.1))) == [("1", 1), ("1", 0)]
    assert _order(select(ranking, again, SelectionLimits(snippets=1))) == [("1", 1)]
    assert _order(select(ranking, PLAIN)) == [("1", 0), ("1", 1), ("1", 2), ("1", 3)]


def test_scores_of_a_second_reading_keep_its_order() -> None:
    ranking = Ranking((_read_again((-3.0, 0.0, -1.0, -2.0), (0.0,) * 4),))
    scale = Scale(Curve((0.0, 1.0), (0.0, 1.0)), Curve((0.0, 1.0), (0.0, 1.0)))
    for found in (
        select(ranking, Calibration(aptness=2.0)),
        select(ranking, Calibration(aptness=2.0), scale=scale),
    ):
        scores = [each.score for each in found.sentences]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
