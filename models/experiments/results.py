"""The rows of tables: measures of systems on each collection, deviation over seeds, and significance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bioqa.models.answers.calibration import calibrate
from bioqa.models.answers.evaluation import measure
from bioqa.models.answers.selection import Calibration
from bioqa.models.arrays import Floats
from bioqa.models.training.data import Prepared
from bioqa.models.training.development import PoolScores, document_map, gold_areas, gold_auc, rankings_of

MEASURES = (
    "document_map_5",
    "document_map_8",
    "snippet_map_5",
    "snippet_map_8",
    "snippet_f1",
    "recall_at_10",
    "sentence_auc",
)
PAIRED = ("document_map_8", "snippet_f1", "sentence_auc")
RESAMPLES = 10_000

Scored = tuple[Sequence[Prepared], Sequence[PoolScores]]


@dataclass(frozen=True, slots=True)
class Measured:
    """One run on one collection."""

    means: Mapping[str, float]
    paired: Mapping[str, Mapping[str, float]]
    """What is tested, by measure and question id; the AUC by question id and PMID of the gold document."""


@dataclass(frozen=True, slots=True)
class Run:
    """One system from one seed."""

    system: str
    seed: int | None
    calibration: Calibration | None
    """None if documents alone are compared."""
    dev: Mapping[str, float]
    collections: Mapping[str, Measured]


def run_of(system: str, seed: int | None, dev: Scored, tests: Mapping[str, Scored]) -> Run:
    """Calibrate the selection on dev, and measure on each collection."""
    calibration, dev_f1 = calibrate(rankings_of(*dev), [q.response for q in dev[0]])
    on_dev = {
        "document_map": document_map(dev[0], [s.documents for s in dev[1]]),
        "snippet_f1": dev_f1,
        "sentence_auc": gold_auc(dev[0], [s.gold_sentences for s in dev[1]]),
    }
    measured = {name: _measure(scored, calibration) for name, scored in tests.items()}
    return Run(system, seed, calibration, on_dev, measured)


def _measure(scored: Scored, calibration: Calibration) -> Measured:
    rankings, golden = rankings_of(*scored), [q.response for q in scored[0]]
    edition5, edition8 = (measure(rankings, golden, calibration, edition) for edition in (5, 8))
    ids = [q.response.question.id for q in scored[0]]
    values: dict[str, Mapping[str, float]] = {
        name: dict(zip(ids, of_questions, strict=True))
        for name, of_questions in {
            "document_map_5": [q.documents.average_precision for q in edition5],
            "document_map_8": [q.documents.average_precision for q in edition8],
            "snippet_map_5": [q.snippets.average_precision for q in edition5],
            "snippet_map_8": [q.snippets.average_precision for q in edition8],
            "snippet_f1": [q.snippets.f1 for q in edition8],
            "recall_at_10": [q.documents.recall for q in edition8],
        }.items()
    }
    values["sentence_auc"] = gold_areas(scored[0], [s.gold_sentences for s in scored[1]])
    means = {name: _mean([*of_items.values()]) for name, of_items in values.items()}
    return Measured(means, {name: values[name] for name in PAIRED})


@dataclass(frozen=True, slots=True)
class Summary:
    """A system over its seeds, on one collection."""

    mean: Mapping[str, float]
    deviation: Mapping[str, float]
    """Sample standard deviation; 0 for one seed."""
    p: Mapping[str, Mapping[str, float]]
    """By reference and measure; none of a system against itself."""
    best: Mapping[str, float] = field(default_factory=dict)
    """Values of the seed with the highest document MAP on dev, if that is what is tested."""


@dataclass(frozen=True, slots=True)
class Row:
    """A system's row of a table, with a record of its training."""

    system: str
    kind: str
    seeds: int
    dev: Mapping[str, float]
    """Means over seeds."""
    collections: Mapping[str, Summary]
    parts: Sequence[Mapping[str, Any]]
    """Settings, share of the data, parameters, speed, and more: of each component; where documents alone are
    compared, of the one component from each seed."""


def summary(
    runs: Sequence[Run], collection: str, p: Mapping[str, Mapping[str, float]], best: Run | None = None
) -> Summary:
    """``p``: by reference and measure; ``best``: the run that was tested, if it was a single one."""
    measured = [run.collections[collection] for run in runs]
    values = {name: np.array([m.means[name] for m in measured]) for name in measured[0].means}
    return Summary(
        round_all({name: v.mean() for name, v in values.items()}),
        round_all({name: v.std(ddof=1) if len(v) > 1 else 0.0 for name, v in values.items()}),
        {reference: round_all(of_measures) for reference, of_measures in p.items()},
        {} if best is None else round_all(best.collections[collection].means),
    )


def better_p(runs: Sequence[Run], reference: Sequence[Run], collection: str) -> dict[str, float]:
    """p of being better than the reference, of the measures that both have by item."""
    measured, others = ([run.collections[collection] for run in system] for system in (runs, reference))
    paired = [name for name in measured[0].paired if name in others[0].paired]
    return {name: paired_p(*_pairs(measured, others, name)) for name in paired}


def _pairs(measured: Sequence[Measured], others: Sequence[Measured], name: str) -> tuple[Floats, Floats]:
    """Means over seeds, of the questions or gold documents that both systems were measured on."""
    paired = others[0].paired[name]
    shared = [item for item in measured[0].paired[name] if item in paired]
    of_both = [np.array([[m.paired[name][i] for i in shared] for m in runs]) for runs in (measured, others)]
    return of_both[0].mean(axis=0), of_both[1].mean(axis=0)


def paired_p(system: Floats, reference: Floats, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """Single-tailed p of approximate randomisation, which swaps each pair of values at random.

    The probability of a difference at least this much in the system's favour if both were equally good; near
    1 for a system that is worse.
    """
    # Imported here: scipy is in the extra `train`, and printing the published table does not need it.
    from scipy.stats import permutation_test

    result = permutation_test(
        (system, reference),
        lambda a, b, axis: np.mean(a, axis=axis) - np.mean(b, axis=axis),
        permutation_type="samples",
        alternative="greater",
        vectorized=True,
        n_resamples=resamples,
        batch=500,
        rng=np.random.default_rng(seed),
    )
    return float(result.pvalue)


def mean_on_dev(runs: Sequence[Run]) -> dict[str, float]:
    return round_all({name: _mean([run.dev[name] for run in runs]) for name in runs[0].dev})


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else 0.0


def round_all(values: Mapping[str, Any]) -> dict[str, float]:
    """Numbers as tables keep them."""
    return {name: round(float(value), 5) for name, value in values.items()}
