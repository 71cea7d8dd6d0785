"""A system's numbers on the test questions, their spread over seeds, and significance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from models.arrays import Floats
from models.calibration import calibrate
from models.evaluation import measure
from models.selection import Calibration
from models.training.data import Prepared
from models.training.run import PoolScores, document_map, gold_auc, rankings_of

MEASURES = (
    "document_map_5",
    "document_map_8",
    "snippet_f1",
    "snippet_map_5",
    "snippet_map_8",
    "sentence_auc",
)
PAIRED = ("document_map_8", "snippet_f1")
RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Run:
    """One system from one seed: means over the test questions, and what is compared question by question."""

    system: str
    seed: int | None
    calibration: Calibration
    dev: Mapping[str, float]
    means: Mapping[str, float]
    by_question: Mapping[str, tuple[float, ...]]
    """PAIRED measures in the order of the test questions."""


def run_of(
    system: str,
    seed: int | None,
    dev: tuple[Sequence[Prepared], Sequence[PoolScores]],
    test: tuple[Sequence[Prepared], Sequence[PoolScores]],
) -> Run:
    """Calibrates the selection on dev and measures on test."""
    calibration, dev_f1 = calibrate(rankings_of(*dev), [q.response for q in dev[0]])
    on_dev = {
        "document_map": document_map(dev[0], [s.documents for s in dev[1]]),
        "snippet_f1": dev_f1,
        "sentence_auc": gold_auc(dev[0], [s.gold_sentences for s in dev[1]]),
    }
    rankings, golden = rankings_of(*test), [q.response for q in test[0]]
    edition5, edition8 = (measure(rankings, golden, calibration, edition) for edition in (5, 8))
    by_question = {
        "document_map_8": tuple(q.documents.average_precision for q in edition8),
        "snippet_f1": tuple(q.snippets.f1 for q in edition8),
    }
    means = {
        "document_map_5": _mean([q.documents.average_precision for q in edition5]),
        "document_map_8": _mean(by_question["document_map_8"]),
        "snippet_f1": _mean(by_question["snippet_f1"]),
        "snippet_map_5": _mean([q.snippets.average_precision for q in edition5]),
        "snippet_map_8": _mean([q.snippets.average_precision for q in edition8]),
        "sentence_auc": gold_auc(test[0], [s.gold_sentences for s in test[1]]),
    }
    return Run(system, seed, calibration, on_dev, means, by_question)


@dataclass(frozen=True, slots=True)
class Row:
    """A system over its seeds: mean and sample deviation of each measure, p against the reference system."""

    system: str
    seeds: int
    mean: Mapping[str, float]
    deviation: Mapping[str, float]
    dev: Mapping[str, float]
    p: Mapping[str, float]
    """PAIRED measures; empty for the reference system itself."""


def rows_of(runs: Sequence[Run], reference: str) -> list[Row]:
    """One row a system, in order of first appearance; differences are tested against ``reference``."""
    systems = list(dict.fromkeys(run.system for run in runs))
    of_reference = [run for run in runs if run.system == reference]
    return [
        _row([run for run in runs if run.system == system], [] if system == reference else of_reference)
        for system in systems
    ]


def _row(runs: Sequence[Run], reference: Sequence[Run]) -> Row:
    values = {name: np.array([run.means[name] for run in runs]) for name in MEASURES}
    return Row(
        runs[0].system,
        len(runs),
        {name: float(v.mean()) for name, v in values.items()},
        {name: float(v.std(ddof=1)) if len(v) > 1 else 0.0 for name, v in values.items()},
        {name: _mean([run.dev[name] for run in runs]) for name in runs[0].dev},
        {name: paired_p(_by_question(runs, name), _by_question(reference, name)) for name in PAIRED}
        if reference
        else {},
    )


def _by_question(runs: Sequence[Run], name: str) -> Floats:
    """[questions] means over seeds."""
    mean: Floats = np.array([run.by_question[name] for run in runs]).mean(axis=0)
    return mean


def paired_p(system: Floats, reference: Floats, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """Two-sided p of approximate randomisation: each question's two values swapped at random."""
    # Only measuring needs scipy (the extra ``train``).
    from scipy.stats import permutation_test

    result = permutation_test(
        (system, reference),
        lambda a, b: np.mean(a) - np.mean(b),
        permutation_type="samples",
        n_resamples=resamples,
        rng=np.random.default_rng(seed),
    )
    return float(result.pvalue)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
