"""The table's rows, measured from stored scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bioqa.models.experiments import baselines, stored_scores
from bioqa.models.experiments.components import Component, Untrained, describe
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.results import (
    PAIRED,
    Row,
    Run,
    Scored,
    better_p,
    mean_on_dev,
    run_of,
    summary,
)
from bioqa.models.experiments.scoring import Log
from bioqa.models.experiments.shares import Share
from bioqa.models.experiments.speed import timing
from bioqa.models.experiments.stored_scores import ComponentScores
from bioqa.models.experiments.systems import Kind, System
from bioqa.models.features.extractor import FeatureExtractor
from bioqa.models.training.baseline import tune_bm25, tuned_bm25
from bioqa.models.training.data import Prepared
from bioqa.models.training.development import PoolScores
from bioqa.models.training.sampling import sample

_Records = Sequence[Mapping[str, Any]]
MeasuredSystem = tuple[System, _Records, list[Run]]


def table_rows(
    data: ExperimentData,
    folder: Path,
    seeds: Sequence[int],
    systems: Iterable[System],
    log: Log = lambda line: None,
) -> tuple[list[Row], str]:
    """Rows of BM25, the oracle and every system with all scores of a seed stored; the reference's name.

    The reference, which the others are tested against, is chosen on dev (``reference_of``).
    """
    measured = []
    for system, records, runs in (
        *_measure_untrained(data),
        *_stored_systems(data, folder, seeds, systems),
        _oracle(data),
    ):
        log(f"{system.name}: dev {mean_on_dev(runs)}")
        measured.append((system, records, runs))
    return compare(measured)


def compare(measured: Sequence[MeasuredSystem]) -> tuple[list[Row], str]:
    """Rows with the differences tested against the reference, chosen on dev; and its name."""
    collections = {name for _, _, runs in measured for name in runs[0].collections}
    # The reference must have been measured on every collection.
    whole = [
        (system, runs)
        for system, _, runs in measured
        if set(runs[0].collections) == collections
        and all(set(PAIRED) <= set(of_one.paired) for of_one in runs[0].collections.values())
    ]
    reference = reference_of(whole)
    against = next(runs for system, _, runs in measured if system.name == reference)
    rows = []
    for system, records, runs in measured:
        summaries = {}
        for name in runs[0].collections:
            p = {} if runs is against else {reference: better_p(runs, against, name)}
            summaries[name] = summary(runs, name, p)
        rows.append(Row(system.name, system.kind, len(runs), mean_on_dev(runs), summaries, records))
    return rows, reference


def _stored_systems(
    data: ExperimentData, folder: Path, seeds: Sequence[int], systems: Iterable[System]
) -> Iterator[MeasuredSystem]:
    for system in systems:
        if any(isinstance(component, Untrained) for component in system.components):
            continue  # BM25 and the oracle are measured in any case
        runs, records = [], []
        for seed in seeds[: system.seeds]:
            files = [stored_scores.file_of(folder, component, seed) for component in system.components]
            if not all(path.is_file() for path in files):
                continue
            kept = [
                (component, stored_scores.load(path, data))
                for component, path in zip(system.components, files, strict=True)
            ]
            runs.append(run_of(system.name, seed, *join(data, kept)))
            records.append([{**describe(component), **scores.brief_record} for component, scores in kept])
        if runs:
            yield system, records[0], runs


def reference_of(measured: Sequence[tuple[System, Sequence[Run]]]) -> str:
    """Name of the pipeline, BM25+BM25 included, with the highest mean of the three measures on dev.

    Systems measured on a share of dev are not comparable and cannot be chosen.
    """
    scores = {
        system.name: sum(mean_on_dev(runs).values())
        for system, runs in measured
        if (system.kind == "pipeline" or system.name.startswith("BM25"))
        and not any(
            component.share.dev_questions or component.share.candidates for component in system.components
        )
    }
    return max(scores, key=lambda name: scores[name])


def join(
    data: ExperimentData, kept: Sequence[tuple[Component, ComponentScores]]
) -> tuple[Scored, dict[str, Scored]]:
    """Questions and scores of one component; of two, sentence scores of the first and document scores of the
    second, on the questions and candidates of both.
    """
    least = {
        name: min((n for component, _ in kept if (n := getattr(component.share, name))), default=0)
        for name in ("dev_questions", "test_questions", "candidates")
    }
    share = Share(**least)

    def both(
        questions: Sequence[Prepared],
        had: str,
        wanted: list[Prepared],
        scores: Sequence[Sequence[PoolScores]],
    ) -> Scored:
        chosen = {id(q.response) for q in wanted}
        of_parts = []
        for (component, _), of_part in zip(kept, scores, strict=True):
            scored = sample(questions, getattr(component.share, had))
            of_parts.append([s for q, s in zip(scored, of_part, strict=True) if id(q.response) in chosen])
        return wanted, _join_scores(wanted, of_parts)

    dev = both(data.dev, "dev_questions", share.dev(data.dev), [scores.dev for _, scores in kept])
    return dev, {
        name: both(
            questions, "test_questions", share.test(questions), [scores.tests[name] for _, scores in kept]
        )
        for name, questions in data.tests.items()
    }


def _join_scores(questions: Sequence[Prepared], of_parts: Sequence[Sequence[PoolScores]]) -> list[PoolScores]:
    return [
        PoolScores(
            of_question[-1].documents[: len(question.retrieved.candidates)],
            of_question[0].sentences[: len(question.retrieved.labels)],
            of_question[0].gold_sentences,
        )
        for question, *of_question in zip(questions, *of_parts, strict=True)
    ]


def _measure_untrained(data: ExperimentData) -> Iterator[MeasuredSystem]:
    """BM25+BM25: the papers', and with constants tuned on dev and stemmed sentences."""
    grid = tune_bm25(data.dev, data.vocabulary)
    tuned = max(grid, key=lambda constants: grid[constants])
    extract = FeatureExtractor(data.vocabulary)
    # Documents are scored by the index; sentence BM25 is one of the features.
    took = timing(lambda q: extract(q.question, q.retrieved.tokens, baselines.first_stage([q])[0]), data, 0)
    for name, constants in (("papers'", None), ("tuned, stemmed", tuned)):

        def scores(questions: Sequence[Prepared], of: tuple[float, float] | None = constants) -> Scored:
            documents = (
                baselines.first_stage(questions)
                if of is None
                else tuned_bm25(questions, data.vocabulary, *of)
            )
            return questions, baselines.with_sentence_bm25(questions, documents, stemmed=of is not None)

        k1, b = constants or (1.2, 0.75)
        yield _without_seed(f"BM25+BM25 ({name})", "baseline", data, scores, {"k1": k1, "b": b, **took})


def _oracle(data: ExperimentData) -> MeasuredSystem:
    return _without_seed("Oracle", "bound", data, lambda questions: (questions, baselines.oracle(questions)))


def _without_seed(
    name: str,
    kind: Kind,
    data: ExperimentData,
    scores: Callable[[Sequence[Prepared]], Scored],
    record: Mapping[str, Any] | None = None,
) -> MeasuredSystem:
    run = run_of(name, None, scores(data.dev), {c: scores(questions) for c, questions in data.tests.items()})
    return (
        System(name, kind, Untrained("first stage")),
        [{"name": name, "parameters": 0, **(record or {})}],
        [run],
    )
