from dataclasses import replace

import numpy as np
import pytest

from bioqa.bioasq.domain import Question, Response
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.reliability import (
    Judged,
    fit_curve,
    fit_scale,
    judged_documents,
    judged_sentences,
    reliability,
    scale_from,
)
from bioqa.models.answers.scale import Curve, sigmoid
from bioqa.models.answers.selection import Calibration
from bioqa.models.answers.weak import fit_margin
from bioqa.models.arrays import Floats
from tests.models.toys import document, snippet

PLAIN = Calibration()


def drawn(odds_of: Curve, count: int, seed: int = 0) -> Judged:
    """Scores, and labels with the probabilities that this curve gives them."""
    generator = np.random.default_rng(seed)
    scores = generator.normal(0.0, 2.0, count)
    return Judged(scores, generator.random(count) < odds_of(scores), generator.random(count) < 0.5)


def distance(found: Curve, true: Curve, at: Floats) -> float:
    return float(np.abs(found(at) - true(at)).max())


def test_platts_curve_is_found_again() -> None:
    true = Curve((0.0, 1.0), (-1.0, 0.5))
    judged = drawn(true, 20_000)
    found = fit_curve(judged.scores, judged.relevant)
    assert found is not None
    assert distance(found, true, np.linspace(-4, 4, 50)) < 0.03


def test_a_curve_that_bends_is_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    true = Curve((-1.0, 0.0, 4.0), (-6.0, -1.0, 0.5))
    judged = drawn(true, 50_000)
    found = fit_curve(judged.scores, judged.relevant)
    assert found is not None
    with monkeypatch.context() as patched:
        patched.setattr("bioqa.models.answers.reliability.MOST_PIECES", 1)
        straight = fit_curve(judged.scores, judged.relevant)
    assert straight is not None
    assert len(straight.scores) == 2 < len(found.scores)
    assert reliability(found, judged).error < 0.6 * reliability(straight, judged).error
    platt = fit_curve(judged.scores[:100], judged.relevant[:100])
    assert platt is not None
    assert len(platt.scores) == 2  # of few labels


def test_it_rises_where_the_labels_fall() -> None:
    judged = drawn(Curve((0.0, 1.0), (-1.0, 0.5)), 5_000)
    falling = fit_curve(-judged.scores, judged.relevant)
    assert falling is not None  # whose class refuses what does not rise
    assert float(np.ptp(falling(judged.scores))) < 0.05
    hump = np.abs(judged.scores) < 1
    assert fit_curve(judged.scores, hump) is not None


def test_separable_and_equal_scores() -> None:
    scores = np.arange(10.0)
    found = fit_curve(scores, scores > 4.5)
    assert found is not None
    assert found(scores)[4] < 0.5 < found(scores)[5]
    flat = fit_curve(np.ones(10), scores > 4.5)
    assert flat is not None
    assert flat(np.ones(1)) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("label", [True, False])
def test_labels_of_one_kind_teach_nothing(label: bool) -> None:
    assert fit_curve(np.arange(5.0), np.full(5, label)) is None


def test_bins_and_the_error() -> None:
    """Half of them at .2 of which all are relevant, half at .7 of which seven in ten are."""
    curve = Curve((0.0, 1.0), (float(np.log(0.25)), float(np.log(7 / 3))))
    judged = Judged(
        np.array([0.0] * 10 + [1.0] * 10), np.array([True] * 17 + [False] * 3), np.array([True, False] * 10)
    )
    found = reliability(curve, judged, bins=2)
    assert [(b.count, b.observed) for b in found.bins] == [(10, 1.0), (10, 0.7)]
    assert [b.predicted for b in found.bins] == pytest.approx([0.2, 0.7])
    assert found.error == pytest.approx(0.5 * 0.8)
    assert sum(b.count for b in reliability(curve, judged, shown=True, bins=2).bins) == 10


def _ranked(pmid: int, score: float) -> RankedDocument:
    made = document(pmid, "A title.", "METHODS:", "It works well.", "We looked at it.")
    return RankedDocument(made, score, (0.0, 9.0, 2.0, -1.0))


def test_what_is_relevant_and_what_is_shown() -> None:
    ranking = Ranking(tuple(_ranked(number, -float(number)) for number in range(1, 13)))
    first = ranking.documents[0].document
    gold = Response(
        Question("q", "Does it work?"),
        (first.url, ranking.documents[11].document.url),
        (snippet(first, first.sentences[2]),),
    )
    documents = judged_documents([ranking], [gold])
    assert documents.scores.tolist() == [-float(number) for number in range(1, 13)]
    assert np.flatnonzero(documents.relevant).tolist() == [0, 11]
    assert documents.shown.sum() == 10
    sentences = judged_sentences([ranking], [gold], PLAIN)
    assert len(sentences.scores) == 3 * 12  # without the label
    assert np.flatnonzero(sentences.relevant).tolist() == [1]
    assert sentences.shown.sum() == 10
    assert sentences.scores[1] == pytest.approx(float(np.log(sigmoid(np.array(2.0)))) - 1.0)
    # Shown are those with the highest of these numbers: they order as the selection does.
    assert sentences.scores[sentences.shown].min() >= sentences.scores[~sentences.shown][:24].max()


def test_the_scale_is_of_what_is_shown() -> None:
    rankings = [Ranking(tuple(_ranked(20 * q + n, float(-n)) for n in range(20))) for q in range(30)]
    golden = [
        Response(
            Question(f"q{q}", "Does it work?"),
            (r.documents[q % 3].document.url,),
            (snippet(r.documents[q % 3].document, r.documents[q % 3].document.sentences[2]),),
        )
        for q, r in enumerate(rankings)
    ]
    scale = fit_scale(rankings, golden, PLAIN)
    assert scale is not None
    documents, sentences = judged_documents(rankings, golden), judged_sentences(rankings, golden, PLAIN)
    assert replace(scale, margin=None) == scale_from(documents, sentences)
    assert scale.margin == fit_margin(rankings, golden, PLAIN)
    assert reliability(scale.documents, documents, shown=True, bins=1).error < 0.02
    assert reliability(scale.sentences, sentences, shown=True, bins=1).error < 0.02
    nothing = [Response(gold.question, (), ()) for gold in golden]
    assert fit_scale(rankings, nothing, PLAIN) is None
