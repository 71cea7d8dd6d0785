"""The table of an experiment that compares documents alone, measured from stored scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bioqa.bioasq.significance import randomisation_p
from bioqa.models.arrays import Floats
from bioqa.models.experiments import baselines, stored_scores
from bioqa.models.experiments.components import Component, Untrained, described
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.document_measures import DocumentScores, means, measure_documents
from bioqa.models.experiments.experiment import Experiment, Test
from bioqa.models.experiments.reranking import Reranked, rerank_runs
from bioqa.models.experiments.scoring import Log
from bioqa.models.experiments.stored_scores import ComponentScores
from bioqa.models.experiments.systems import System
from bioqa.models.training.data import Prepared
from bioqa.models.training.development import PoolScores, document_map

Values = Mapping[str, Mapping[str, float]]
"""By measure and question id."""


@dataclass(frozen=True, slots=True)
class DocumentRun:
    """One system from one seed."""

    seed: int
    dev: float
    """Document MAP of edition 8 on dev."""
    scores: Mapping[str, DocumentScores]
    """By collection."""
    values: Mapping[str, Values]
    """By collection."""
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """A system over its seeds, on one collection."""

    mean: Mapping[str, float]
    deviation: Mapping[str, float]
    """Sample standard deviation; 0 for one seed."""
    best: Mapping[str, float]
    """Of the seed with the highest document MAP on dev."""
    p: Mapping[str, Mapping[str, float]]
    """By reference and measure, of that seed."""


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A system's row of a table."""

    system: str
    kind: str
    seeds: int
    dev: float
    """Mean document MAP of edition 8 on dev."""
    collections: Mapping[str, DocumentSummary]
    parts: Sequence[Mapping[str, Any]]
    """For each seed: settings, share of the data, parameters, speed, hash of the weights, code's version."""


def document_rows(
    experiment: Experiment, data: ExperimentData, folder: Path, log: Log = lambda line: None
) -> tuple[list[DocumentRow], Reranked]:
    """Rows of all systems that have scores or need none, in the paper's order; and the re-ranked runs."""
    runs: dict[str, list[DocumentRun]] = {}
    for system in experiment.systems:
        if of_system := _runs(experiment, system, data, folder):
            runs[system.name] = of_system
            log(f"{system.name}: {len(of_system)} seeds, dev {_mean_dev(of_system):.4f}")
    best = {name: max(of_system, key=lambda run: run.dev) for name, of_system in runs.items()}
    rows = [
        _row(experiment, system, runs[system.name], best)
        for system in experiment.systems
        if system.name in runs
    ]
    if experiment.reranked not in best:
        return rows, {}
    share = experiment.system(experiment.reranked).sentences.share
    reranked = {
        name: rerank_runs(
            share.test(questions), {s: run.scores[name] for s, run in best.items()}, experiment.reranked
        )
        for name, questions in data.tests.items()
    }
    return rows, reranked


def paired_test(differences: Floats, test: Test, tails: int) -> Floats:
    """p of mean differences of pairs from 0: [questions, measures] → [measures].

    ``tails`` 1: of a mean above 0. Approximate randomisation is two-tailed only. Equal values have p 1.
    """
    if test == "randomisation":
        if tails != 2:
            raise ValueError("randomisation over documents is two-tailed")
        return randomisation_p(differences.astype(np.float64))
    # Imported here: scipy is in the extra `train`, and printing published tables does not need it.
    from scipy.stats import ttest_1samp

    found = np.ones(differences.shape[1])
    different = np.ptp(differences, axis=0) > 0
    alternative: Literal["two-sided", "greater"] = "two-sided" if tails == 2 else "greater"
    found[different] = ttest_1samp(differences[:, different], 0.0, alternative=alternative).pvalue
    return found


def _runs(experiment: Experiment, system: System, data: ExperimentData, folder: Path) -> list[DocumentRun]:
    (component,) = system.components
    if isinstance(component, Untrained):
        record = {**described(component), "parameters": 0}
        return [_run(experiment, component, 0, data, _ordered(component, data), record)]
    made = []
    for seed in experiment.seeds[: system.seeds]:
        path = stored_scores.file_of(folder, component, seed)
        if not path.is_file():
            continue
        kept = stored_scores.load(path, data)
        record = {name: value for name, value in kept.record.items() if name != "epochs"}
        record = {**described(component), **record, "seed": seed}
        made.append(_run(experiment, component, seed, data, kept, record))
    return made


def _ordered(component: Untrained, data: ExperimentData) -> ComponentScores:
    def scored(questions: Sequence[Prepared]) -> list[PoolScores]:
        none = np.zeros(0)
        return [PoolScores(each, none, none) for each in baselines.ordered(component.order, questions)]

    return ComponentScores(
        scored(component.share.dev(data.dev)),
        {name: scored(component.share.test(questions)) for name, questions in data.tests.items()},
        {},
    )


def _run(
    experiment: Experiment,
    component: Component,
    seed: int,
    data: ExperimentData,
    kept: ComponentScores,
    record: Mapping[str, Any],
) -> DocumentRun:
    share = component.share
    scores = {name: [s.documents for s in of_test] for name, of_test in kept.tests.items()}
    values = {
        name: measure_documents(share.test(questions), scores[name], experiment.measures)
        for name, questions in data.tests.items()
    }
    dev = document_map(share.dev(data.dev), [s.documents for s in kept.dev])
    return DocumentRun(seed, dev, scores, values, record)


def _row(
    experiment: Experiment, system: System, runs: Sequence[DocumentRun], best: Mapping[str, DocumentRun]
) -> DocumentRow:
    summaries = {}
    for name in runs[0].values:
        of_seeds = [means(run.values[name]) for run in runs]
        values = {m: np.array([of_seed[m] for of_seed in of_seeds]) for m in experiment.measures}
        chosen = best[system.name].values[name]
        summaries[name] = DocumentSummary(
            {m: _rounded(v.mean()) for m, v in values.items()},
            {m: _rounded(v.std(ddof=1)) if len(v) > 1 else 0.0 for m, v in values.items()},
            {m: _rounded(v) for m, v in means(chosen).items()},
            {
                other: _tested(experiment, chosen, best[other].values[name])
                for other in experiment.references
                if other in best and other != system.name
            },
        )
    return DocumentRow(
        system.name,
        system.kind,
        len(runs),
        _rounded(_mean_dev(runs)),
        summaries,
        [run.record for run in runs],
    )


def _tested(experiment: Experiment, values: Values, others: Values) -> dict[str, float]:
    differences = np.array(
        [[values[m][q] - others[m][q] for m in experiment.measures] for q in values[experiment.measures[0]]]
    )
    p = paired_test(differences, experiment.test, experiment.tails)
    return {m: _rounded(value) for m, value in zip(experiment.measures, p, strict=True)}


def _mean_dev(runs: Sequence[DocumentRun]) -> float:
    return float(np.mean([run.dev for run in runs]))


def _rounded(value: float) -> float:
    return round(float(value), 5)
