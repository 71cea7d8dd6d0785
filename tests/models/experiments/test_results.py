from collections.abc import Sequence

import numpy as np
import pytest

from bioqa.bioasq.measures import evaluate
from bioqa.models.answers.selection import Calibration, select
from bioqa.models.experiments.baselines import first_stage, oracle, with_sentence_bm25
from bioqa.models.experiments.results import (
    MEASURES,
    PAIRED,
    Measured,
    Run,
    better_p,
    mean_on_dev,
    paired_p,
    run_of,
    summary,
)
from bioqa.models.training.data import Prepared
from bioqa.models.training.development import gold_auc, rankings_of


def _run(seed: int | None, value: float, paired: Sequence[float]) -> Run:
    by_item = {str(place): of_item for place, of_item in enumerate(paired)}
    measured = Measured(dict.fromkeys(MEASURES, value), dict.fromkeys(PAIRED, by_item))
    return Run("system", seed, Calibration(), {"document_map": value / 2}, {"test": measured})


def test_equal_systems_do_not_differ() -> None:
    values = np.linspace(0, 1, 40)
    assert paired_p(values, values, resamples=500) == 1.0


def test_only_a_better_system_is_significant() -> None:
    values = np.linspace(0, 0.3, 40)
    assert paired_p(values + 0.5, values, resamples=2000) < 0.001
    assert paired_p(values, values + 0.5, resamples=2000) > 0.999


def test_a_small_number_of_questions_is_worked_out_exactly() -> None:
    """Of 2^5 ways to swap, only none gives a difference as large."""
    system = np.array([0.5, 0.6, 0.7, 0.8, 0.9])
    assert paired_p(system, np.zeros(5)) == pytest.approx(1 / 32)


def test_noise_is_not_significant() -> None:
    generator = np.random.default_rng(0)
    values = generator.uniform(size=60)
    noisy = values + generator.normal(scale=0.1, size=60)
    p = paired_p(noisy, values, resamples=1000)
    assert 0.05 < p < 0.95
    assert paired_p(noisy, values, resamples=1000) == p


def test_a_summary_is_the_mean_over_seeds_and_their_deviation() -> None:
    same = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    reference = [_run(None, 0.3, same)]
    runs = [_run(1, 0.2, [v + 0.4 for v in same]), _run(2, 0.6, [v + 0.2 for v in same])]
    p = better_p(runs, reference, "test")
    of_runs = summary(runs, "test", {"other": p}, runs[1])
    for name in MEASURES:
        assert of_runs.mean[name] == pytest.approx(0.4)
        assert of_runs.deviation[name] == pytest.approx(0.4 / 2**0.5, abs=1e-5)
    assert p == pytest.approx(dict.fromkeys(PAIRED, 1 / 64))
    assert of_runs.p["other"] == pytest.approx(p, abs=1e-5)
    assert of_runs.best == dict.fromkeys(MEASURES, 0.6)
    # Of questions that only one system was measured on, the comparison takes none.
    assert better_p(runs, [_run(None, 0.3, [*same, 9.0, 9.0])], "test") == p
    alone = summary(reference, "test", {})
    assert (alone.p, alone.best) == ({}, {})
    assert set(alone.deviation.values()) == {0.0}
    assert mean_on_dev(runs) == pytest.approx({"document_map": 0.2})


def test_a_run_holds_the_official_measures_after_calibration_on_dev(prepared: list[Prepared]) -> None:
    dev, test = prepared[:2], prepared[2:]
    scored = [with_sentence_bm25(part, first_stage(part), stemmed=True) for part in (dev, test)]
    run = run_of("BM25", None, (dev, scored[0]), {"test": (test, scored[1])})
    assert run.calibration is not None
    golden = [q.response for q in test]
    answers = [
        select(ranking, run.calibration).response(gold.question)
        for gold, ranking in zip(golden, rankings_of(test, scored[1]), strict=True)
    ]
    measured = run.collections["test"]
    for edition in (5, 8):
        official = evaluate(golden, answers, edition)
        assert measured.means[f"document_map_{edition}"] == pytest.approx(official.documents.map)
        assert measured.means[f"snippet_map_{edition}"] == pytest.approx(official.snippets.map)
        assert measured.means["snippet_f1"] == pytest.approx(official.snippets.f1)
        assert measured.means["recall_at_10"] == pytest.approx(official.documents.recall)
    assert set(measured.means) == set(MEASURES)
    assert measured.means["sentence_auc"] == gold_auc(test, [s.gold_sentences for s in scored[1]])
    assert [len(measured.paired[name]) for name in PAIRED] == [len(test), len(test), 2 * len(test)]
    for name in PAIRED:
        assert np.mean([*measured.paired[name].values()]) == pytest.approx(measured.means[name])
    assert set(run.dev) == {"document_map", "snippet_f1", "sentence_auc"}


def test_the_oracle_is_the_best_run(prepared: list[Prepared]) -> None:
    bm25 = with_sentence_bm25(prepared, first_stage(prepared), stemmed=True)
    pair = [run_of("x", None, (prepared, s), {"x": (prepared, s)}) for s in (oracle(prepared), bm25)]
    best, other = (run.collections["x"].means for run in pair)
    assert best["sentence_auc"] == 1.0
    for name in ("document_map_8", "snippet_f1", "recall_at_10", "sentence_auc"):
        assert best[name] >= other[name]
