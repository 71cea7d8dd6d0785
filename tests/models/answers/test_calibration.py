from itertools import product

import numpy as np
import pytest

from bioqa.bioasq.domain import Question, Response, Snippet
from bioqa.bioasq.measures import GoldSnippets
from bioqa.models.answers import calibration
from bioqa.models.answers.calibration import calibrate
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.selection import Calibration, select
from tests.models.toys import document, snippet


def _question(generator: np.random.Generator, number: int) -> tuple[Ranking, Response]:
    """Twelve documents of up to four sentences; the gold is some of them, cut, merged, or elsewhere."""
    documents = [
        document(
            100 * number + i,
            "A title." if generator.random() < 0.5 else "",
            *("x" * int(n) + "." for n in generator.integers(3, 60, generator.integers(0, 4))),
        )
        for i in range(12)
    ]
    scores = -np.sort(-generator.normal(3, 2, len(documents)))
    ranked = tuple(
        RankedDocument(d, float(score), tuple(generator.normal(-1, 2, len(d.sentences)).tolist()))
        for d, score in zip(documents, scores, strict=True)
    )
    snippets = [snippet(d, s) for d in documents for s in d.sentences if generator.random() < 0.3]
    snippets += [Snippet(documents[0].url, "", "abstract", "abstract", 2, 30)]
    return Ranking(ranked), Response(Question(f"q{number}", ""), (documents[0].url,), tuple(snippets))


def _toys(seed: int, questions: int = 4) -> tuple[list[Ranking], list[Response]]:
    generator = np.random.default_rng(seed)
    made = [_question(generator, number) for number in range(1, questions + 1)]
    return [ranking for ranking, _ in made], [gold for _, gold in made]


def _official(rankings: list[Ranking], golden: list[Response], scalars: Calibration) -> float:
    found = [select(r, scalars).response(g.question).snippets for r, g in zip(rankings, golden, strict=True)]
    return float(np.mean([GoldSnippets(g.snippets).f1(f) for g, f in zip(golden, found, strict=True)]))


@pytest.mark.parametrize("seed", range(8))
def test_f1_is_the_official_one_of_what_is_selected(seed: int) -> None:
    rankings, golden = _toys(seed)
    scalars, f1 = calibrate(rankings, golden)
    assert f1 == pytest.approx(_official(rankings, golden, scalars), abs=1e-12)
    assert f1 > 0


@pytest.mark.parametrize("seed", [0, 1])
def test_no_setting_of_the_grid_is_better(seed: int) -> None:
    rankings, golden = _toys(seed, questions=2)
    _, f1 = calibrate(rankings, golden)
    sentences = [s for r in rankings for d in r.documents[:10] for s in d.sentence_scores]
    mean, deviation = float(np.mean(sentences)), float(np.std(sentences))
    of_documents = float(np.std([d.score for r in rankings for d in r.documents[:10]]))
    grid = product(calibration._SENTENCE_SCALES, calibration._SENTENCE_OFFSETS, calibration._DOCUMENT_SCALES)
    brute = max(
        _official(
            rankings,
            golden,
            Calibration(c / deviation, o - c * mean / deviation, a / of_documents),
        )
        for c, o, a in grid
    )
    assert f1 == pytest.approx(brute, abs=1e-12)


def test_better_than_not_calibrating() -> None:
    """BM25-like sentence scores, where a sigmoid of the raw score would say 1 of all."""
    rankings, golden = _toys(3)
    large = [
        Ranking(
            tuple(
                RankedDocument(d.document, 50 + 10 * d.score, tuple(100 + 9 * s for s in d.sentence_scores))
                for d in r.documents
            )
        )
        for r in rankings
    ]
    scalars, f1 = calibrate(large, golden)
    assert f1 > _official(large, golden, Calibration())
    assert f1 == pytest.approx(calibrate(rankings, golden)[1], abs=1e-12)
    assert f1 == pytest.approx(_official(large, golden, scalars), abs=1e-12)


def test_gold_of_another_section_or_document_does_not_count() -> None:
    source = document(1, "", "The sentence.")
    ranking = Ranking((RankedDocument(source, 1.0, (0.0,)),))
    right = snippet(source, source.sentences[0])
    other = document(2, "", "The sentence.")
    for gold, expected in (
        (right, 1.0),
        (snippet(other, other.sentences[0]), 0.0),
        (Snippet(source.url, "", "title", "title", 0, 13), 0.0),
    ):
        response = Response(Question("q", ""), (), (gold,))
        scalars, f1 = calibrate([ranking], [response])
        assert f1 == expected == _official([ranking], [response], scalars)


def test_labels_are_not_counted_as_they_are_not_selected() -> None:
    sources = [document(i, "", "AIMS:", f"Velorin helped {i} people.", "Age was noted.") for i in range(1, 9)]
    ranking = Ranking(tuple(RankedDocument(d, 1.0, (5.0, 2.0, -1.0)) for d in sources))
    gold = Response(Question("q", ""), (), tuple(snippet(d, d.sentences[1]) for d in sources))
    scalars, f1 = calibrate([ranking], [gold])
    found = select(ranking, scalars).response(gold.question).snippets
    assert all(s.text != "AIMS:" for s in found)
    assert f1 == pytest.approx(_official([ranking], [gold], scalars), abs=1e-12)
    assert f1 > 0.8


@pytest.mark.parametrize("rankings", [[Ranking(())], [Ranking((RankedDocument(document(1), 2.0, ()),))]])
def test_nothing_to_select_gives_usable_scalars(rankings: list[Ranking]) -> None:
    gold = Response(Question("q", ""), (), (Snippet("d", "", "abstract", "abstract", 0, 5),))
    scalars, f1 = calibrate(rankings, [gold])
    assert f1 == 0.0
    assert np.isfinite([scalars.sentence_scale, scalars.sentence_offset, scalars.document_scale]).all()


def test_questions_without_golden_snippets_score_nought() -> None:
    rankings, golden = _toys(5, questions=2)
    half = [golden[0], Response(golden[1].question, golden[1].documents, ())]
    scalars, f1 = calibrate(rankings, half)
    assert f1 == pytest.approx(_official(rankings, half, scalars), abs=1e-12)
    assert f1 == pytest.approx(calibrate(rankings[:1], golden[:1])[1] / 2, abs=0.1)


def test_rankings_and_questions_must_be_as_many() -> None:
    rankings, golden = _toys(0, questions=2)
    with pytest.raises(ValueError, match="longer"):
        calibrate(rankings[:1], golden)
