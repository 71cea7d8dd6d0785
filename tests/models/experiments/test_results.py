from collections.abc import Sequence

import numpy as np
import pytest

from bioasq.measures import evaluate
from models.experiments.baselines import first_stage, oracle, with_sentence_bm25
from models.experiments.results import MEASURES, PAIRED, Run, paired_p, rows_of, run_of
from models.selection import Calibration, select
from models.training.data import Prepared
from models.training.run import rankings_of


def _run(system: str, seed: int | None, value: float, by_question: Sequence[float]) -> Run:
    return Run(
        system,
        seed,
        Calibration(),
        {"document_map": value / 2},
        dict.fromkeys(MEASURES, value),
        dict.fromkeys(PAIRED, tuple(by_question)),
    )


def test_equal_systems_do_not_differ() -> None:
    values = np.linspace(0, 1, 40)
    assert paired_p(values, values, resamples=500) == 1.0


def test_hugely_different_systems_differ() -> None:
    values = np.linspace(0, 0.3, 40)
    assert paired_p(values + 0.5, values, resamples=2000) < 0.002
    assert paired_p(values, values + 0.5, resamples=2000) < 0.002


def test_a_small_number_of_questions_is_worked_out_exactly() -> None:
    """Of 2^5 ways to swap, only none and all give a difference as large."""
    system = np.array([0.5, 0.6, 0.7, 0.8, 0.9])
    assert paired_p(system, np.zeros(5)) == pytest.approx(2 / 32)


def test_noise_is_not_significant() -> None:
    generator = np.random.default_rng(0)
    values = generator.uniform(size=60)
    noisy = values + generator.normal(scale=0.1, size=60)
    p = paired_p(noisy, values, resamples=1000)
    assert 0.05 < p < 1
    assert paired_p(noisy, values, resamples=1000) == p


def test_rows_are_means_over_seeds_in_order_of_appearance() -> None:
    same = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    runs = [
        _run("reference", None, 0.3, same),
        _run("b", 1, 0.2, same),
        _run("a", 1, 0.5, [v + 0.4 for v in same]),
        _run("b", 2, 0.6, same),
        _run("a", 2, 0.5, [v + 0.2 for v in same]),
    ]
    reference, b, a = rows_of(runs, "reference")
    assert [row.system for row in (reference, b, a)] == ["reference", "b", "a"]
    assert [row.seeds for row in (reference, b, a)] == [1, 2, 2]
    for name in MEASURES:
        assert reference.mean[name] == pytest.approx(0.3)
        assert reference.deviation[name] == 0.0
        assert b.mean[name] == pytest.approx(0.4)
        assert b.deviation[name] == pytest.approx(0.4 / 2**0.5)
        assert a.deviation[name] == 0.0
    assert b.dev == pytest.approx({"document_map": 0.2})
    assert reference.p == {}
    assert b.p == dict.fromkeys(PAIRED, 1.0)
    assert a.p == pytest.approx(dict.fromkeys(PAIRED, 2 / 64))


def test_a_missing_reference_leaves_no_p() -> None:
    assert [row.p for row in rows_of([_run("a", 1, 0.5, [0.5])], "reference")] == [{}]
    assert rows_of([], "reference") == []


def test_a_run_holds_the_official_measures_after_calibration_on_dev(prepared: list[Prepared]) -> None:
    dev, test = prepared[:2], prepared[2:]
    scored = [with_sentence_bm25(part, first_stage(part), stemmed=True) for part in (dev, test)]
    run = run_of("BM25", None, (dev, scored[0]), (test, scored[1]))
    golden = [q.response for q in test]
    answers = [
        select(ranking, run.calibration).response(gold.question)
        for gold, ranking in zip(golden, rankings_of(test, scored[1]), strict=True)
    ]
    for edition in (5, 8):
        official = evaluate(golden, answers, edition)
        assert run.means[f"document_map_{edition}"] == pytest.approx(official.documents.map)
        assert run.means[f"snippet_map_{edition}"] == pytest.approx(official.snippets.map)
        assert run.means["snippet_f1"] == pytest.approx(official.snippets.f1)
    assert set(run.means) == set(MEASURES)
    assert [len(run.by_question[name]) for name in PAIRED] == [len(test)] * 2
    assert np.mean(run.by_question["snippet_f1"]) == pytest.approx(run.means["snippet_f1"])
    assert set(run.dev) == {"document_map", "snippet_f1", "sentence_auc"}


def test_the_oracle_is_the_best_run(prepared: list[Prepared]) -> None:
    bm25 = with_sentence_bm25(prepared, first_stage(prepared), stemmed=True)
    pair = [run_of("x", None, (prepared, s), (prepared, s)) for s in (oracle(prepared), bm25)]
    assert pair[0].means["sentence_auc"] == 1.0
    for name in ("document_map_8", "snippet_f1", "sentence_auc"):
        assert pair[0].means[name] >= pair[1].means[name]
