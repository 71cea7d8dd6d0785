"""The table of an experiment that compares documents alone, measured from stored scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bioqa.bioasq.significance import randomisation_p
from bioqa.models.arrays import Floats
from bioqa.models.experiments import baselines, stored_scores
from bioqa.models.experiments.components import Untrained, describe
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.document_measures import DocumentScores, means, measure_documents
from bioqa.models.experiments.experiment import Experiment, Test
from bioqa.models.experiments.reranking import Reranked, rerank_runs
from bioqa.models.experiments.results import Measured, Row, Run, mean_on_dev, summary
from bioqa.models.experiments.scoring import Log
from bioqa.models.experiments.stored_scores import ComponentScores
from bioqa.models.experiments.systems import System
from bioqa.models.training.data import Prepared
from bioqa.models.training.development import PoolScores, document_map

DEV = "document_map"
"""What is measured on dev: document MAP of edition 8."""


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """One system from one seed, with what it was measured from."""

    run: Run
    scores: Mapping[str, DocumentScores]
    """By collection."""
    record: Mapping[str, Any]


def document_rows(
    experiment: Experiment, data: ExperimentData, folder: Path, log: Log = lambda line: None
) -> tuple[list[Row], Reranked]:
    """Rows of all systems that have scores or need none, in the paper's order; and the re-ranked runs."""
    scored = {system.name: _scored_runs(experiment, system, data, folder) for system in experiment.systems}
    runs = {name: [result.run for result in of_system] for name, of_system in scored.items() if of_system}
    for name, of_system in runs.items():
        log(f"{name}: {len(of_system)} seeds, dev {mean_on_dev(of_system)[DEV]:.4f}")
    best = {
        name: max(of_system, key=lambda result: result.run.dev[DEV])
        for name, of_system in scored.items()
        if of_system
    }
    rows = []
    for system in experiment.systems:
        if system.name in runs:
            of_system = runs[system.name]
            summaries = {
                name: summary(of_system, name, _test(experiment, system, best, name), best[system.name].run)
                for name in data.tests
            }
            records = [result.record for result in scored[system.name]]
            dev = mean_on_dev(of_system)
            rows.append(Row(system.name, system.kind, len(of_system), dev, summaries, records))
    if experiment.reranked not in best:
        return rows, {}
    share = experiment.system(experiment.reranked).sentences.share
    reranked = {
        name: rerank_runs(
            share.test(questions), {s: result.scores[name] for s, result in best.items()}, experiment.reranked
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

    p_values = np.ones(differences.shape[1])
    different = np.ptp(differences, axis=0) > 0
    alternative: Literal["two-sided", "greater"] = "two-sided" if tails == 2 else "greater"
    p_values[different] = ttest_1samp(differences[:, different], 0.0, alternative=alternative).pvalue
    return p_values


def _scored_runs(
    experiment: Experiment, system: System, data: ExperimentData, folder: Path
) -> list[ScoredRun]:
    """A run for each seed that has scores."""
    (component,) = system.components
    if isinstance(component, Untrained):
        record = {**describe(component), "parameters": 0}
        return [_scored_run(experiment, system, 0, data, _order(component, data), record)]
    runs = []
    for seed in experiment.seeds[: system.seeds]:
        path = stored_scores.file_of(folder, component, seed)
        if path.is_file():
            kept = stored_scores.load(path, data)
            record = {**describe(component), **kept.brief_record, "seed": seed}
            runs.append(_scored_run(experiment, system, seed, data, kept, record))
    return runs


def _order(component: Untrained, data: ExperimentData) -> ComponentScores:
    def score(questions: Sequence[Prepared]) -> list[PoolScores]:
        none = np.zeros(0)
        return [
            PoolScores(candidate, none, none)
            for candidate in baselines.order_candidates(component.order, questions)
        ]

    return ComponentScores(
        score(component.share.dev(data.dev)),
        {name: score(component.share.test(questions)) for name, questions in data.tests.items()},
        {},
    )


def _scored_run(
    experiment: Experiment,
    system: System,
    seed: int,
    data: ExperimentData,
    kept: ComponentScores,
    record: Mapping[str, Any],
) -> ScoredRun:
    share = system.sentences.share
    scores = {name: [s.documents for s in of_test] for name, of_test in kept.tests.items()}
    measured = {}
    for name, questions in data.tests.items():
        values = measure_documents(share.test(questions), scores[name], experiment.measures)
        measured[name] = Measured(means(values), values)
    dev = {DEV: document_map(share.dev(data.dev), [s.documents for s in kept.dev])}
    return ScoredRun(Run(system.name, seed, None, dev, measured), scores, record)


def _test(
    experiment: Experiment, system: System, best: Mapping[str, ScoredRun], collection: str
) -> dict[str, dict[str, float]]:
    """p of the best seed's differences from those of the references."""
    measures = experiment.measures
    values = best[system.name].run.collections[collection].paired
    tested = {}
    for reference in experiment.references:
        if reference in best and reference != system.name:
            others = best[reference].run.collections[collection].paired
            differences = [[values[m][q] - others[m][q] for m in measures] for q in values[measures[0]]]
            p = paired_test(np.array(differences), experiment.test, experiment.tails)
            tested[reference] = dict(zip(measures, p.tolist(), strict=True))
    return tested
