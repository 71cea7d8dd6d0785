"""Tables of experiments that compare documents alone, in Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

from bioqa.app.reports.cells import assign_letters, cell, remarks
from bioqa.app.reports.tables import markdown
from bioqa.models.experiments.experiment import Experiment
from bioqa.models.experiments.published import Results
from bioqa.models.experiments.reranking import DEPTH
from bioqa.models.experiments.results import Row, Summary

TITLES = {"document_map_8": "MAP ed. 8", "pair_accuracy": "PairAccuracy"}
"""Titles of measures that are not named by what they are."""
SIGNIFICANT = 0.05
NOT_TRAINED = "not trained here"
_TESTS = {"randomisation": "approximate randomisation over questions", "t": "Student's t, paired by question"}


def document_tables(experiment: Experiment, results: Results) -> str:
    """For each collection means over seeds, and the best seeds with what their differences are worth."""
    marks = assign_letters(words for row in results.rows for words in _shares(row))
    rows = {row.system: row for row in results.rows}
    blocks = []
    for name in _collections(results):
        blocks += [
            f"**{name}: means over seeds**\n\n{_means(experiment, rows, name, marks)}",
            f"**{name}: the best seed on dev**\n\n{_best(experiment, rows, name)}",
        ]
        if of_collection := results.reranked.get(name):
            blocks.append(f"**{name}: re-ranking**\n\n{_name_reranked(experiment, of_collection)}")
    return "\n\n".join([*blocks, "\n".join(_notes(experiment, marks, reranked=bool(results.reranked)))])


def _collections(results: Results) -> list[str]:
    return list(dict.fromkeys(name for row in results.rows for name in row.collections))


def _means(experiment: Experiment, rows: Mapping[str, Row], name: str, marks: Mapping[str, str]) -> str:
    lines = [["system", "seeds", "share", *map(_title, experiment.measures), "parameters", "ms"]]
    for system in experiment.systems:
        row = rows.get(system.name)
        if row is None:
            lines.append([system.name, "", "", NOT_TRAINED, *[""] * (len(experiment.measures) + 1)])
            continue
        summary = row.collections[name]
        values = [cell(summary.mean[m], summary.deviation[m], row.seeds) for m in experiment.measures]
        share = "".join(marks[words] for words in _shares(row))
        lines.append([row.system, str(row.seeds), share, *values, *cost(row.parts)])
    return markdown(lines)


def _shares(row: Row) -> list[str]:
    """What all seeds have seen, which is the same."""
    return list(dict.fromkeys(words for part in row.parts if (words := remarks(part, documents_only=True))))


def cost(parts: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Parameters, and milliseconds of the fastest seed, as the machine had other work too."""
    times = [part["thread_milliseconds"] for part in parts if "thread_milliseconds" in part]
    return f"{parts[0].get('parameters', 0):,}", f"{min(times):.0f}" if times else ""


def _best(experiment: Experiment, rows: Mapping[str, Row], name: str) -> str:
    lines = [["", "system", *map(_title, experiment.measures)]]
    for system in experiment.systems:
        if (row := rows.get(system.name)) is None:
            continue
        number = experiment.references.index(system.name) + 1 if system.name in experiment.references else ""
        summary = row.collections[name]
        values = [
            f"{summary.best[m]:.3f}{_significance(experiment, rows, summary, name, m)}"
            for m in experiment.measures
        ]
        lines.append([str(number), row.system, *values])
    return markdown(lines)


def _significance(
    experiment: Experiment,
    rows: Mapping[str, Row],
    summary: Summary,
    collection: str,
    measure: str,
) -> str:
    """Numbers of the references that the system is significantly above (>) or below (<)."""
    sides: dict[str, list[int]] = {">": [], "<": []}
    for number, reference in enumerate(experiment.references, start=1):
        if summary.p.get(reference, {}).get(measure, 1.0) < SIGNIFICANT:
            other = rows[reference].collections[collection].best[measure]
            sides[">" if summary.best[measure] > other else "<"].append(number)
    shown = [sign + _ranges(numbers) for sign, numbers in sides.items() if numbers]
    return f" ({' '.join(shown)})" if shown else ""


def _ranges(numbers: Sequence[int]) -> str:
    """``[1, 2, 3, 5]``: "1-3,5"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _name_reranked(experiment: Experiment, measures: Mapping[str, Mapping[str, float]]) -> str:
    heads = ["system", "RerankSimple, ERR@20", f"over {experiment.reranked}", "rank"]
    lines = [[*heads, "RerankALL: runs improved", "on average by"]]
    for system in experiment.systems:
        if (values := measures.get(system.name)) is not None:
            lines.append(
                [
                    system.name,
                    f"{values['simple']:.3f}",
                    f"{values['gain']:+.0%}",
                    f"{values['rank']:.0f}",
                    f"{values['improved']:.0%}",
                    f"{values['average_gain']:+.0%}",
                ]
            )
    return markdown(lines)


def _notes(experiment: Experiment, marks: Mapping[str, str], *, reranked: bool) -> list[str]:
    numbered = ", ".join(f"{n} {name}" for n, name in enumerate(experiment.references, start=1))
    tails = {1: "single-tailed", 2: "two-tailed"}[experiment.tails]
    lines = [
        f"Best seeds: > significantly above, < significantly below (p < .05, {tails}, "
        f"{_TESTS[experiment.test]}): {numbered}.",
        "ms: CPU time of one question with 100 candidates, one thread.",
    ]
    if reranked:
        lines.append(
            f"Rank: among the runs of all systems. RerankALL: the {DEPTH} best documents of each other "
            "system, re-ranked."
        )
    return [*lines, *(f"- {mark}: {words}" for words, mark in marks.items())]


def _title(measure: str) -> str:
    return TITLES.get(measure, measure)
