"""The command that compares systems."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bioqa.app.cli.console import echo, print_file, print_json, say
from bioqa.app.cli.files import EditionOption, PerQuestionOption, say_irregularities
from bioqa.app.cli.options import JsonOption
from bioqa.app.reports.report import SHOWN_QUESTIONS, html_report
from bioqa.app.reports.tables import as_json, csv_rows, markdown, remarks, text_table
from bioqa.bioasq.comparison import ComparedSystem, Comparison
from bioqa.bioasq.comparison import compare as compare_systems
from bioqa.bioasq.inputs import read_answers, read_gold, system_names
from bioqa.bioasq.measures import LATEST
from bioqa.bioasq.roles import check_golden, check_pair, check_submission
from bioqa.bioasq.significance import RESAMPLES, SEED
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import write_bytes


def compare(
    golden: Annotated[Path, typer.Argument(help="The golden file, or TREC judgements.", show_default=False)],
    systems: Annotated[
        list[Path],
        typer.Argument(metavar="SYSTEM…", help="Submissions, or TREC runs.", show_default=False),
    ],
    edition: EditionOption = LATEST,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="System to compare the others with; by default the first."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a report with charts, too.")
    ] = None,
    questions: Annotated[
        int, typer.Option(min=0, help="Questions that are shown side by side: those that differ most.")
    ] = SHOWN_QUESTIONS,
    per_question: PerQuestionOption = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, for spreadsheets.")] = False,
    json: JsonOption = False,
    resamples: Annotated[
        int, typer.Option(help="Samples of the bootstrap, and draws of the test of significance.")
    ] = RESAMPLES,
    seed: Annotated[int, typer.Option("--seed", help="Seed of both.")] = SEED,
) -> None:
    """Compare systems: each measure with its interval, difference from a baseline, and significance."""
    if csv and json:
        raise BioqaError("--csv and --json: choose one")
    names = system_names(systems)
    gold = read_gold(golden)
    check_golden(gold.responses, str(golden))
    read = {name: read_answers(path) for name, path in zip(names, systems, strict=True)}
    for path, answers in zip(systems, read.values(), strict=True):
        check_submission(answers, str(path))
        check_pair(gold.responses, answers.responses, str(golden), str(path))
    if baseline is not None and baseline not in read:
        baseline = dict(zip(map(str, systems), names, strict=True)).get(baseline, baseline)
    comparison = compare_systems(
        gold.responses,
        {name: answers.responses for name, answers in read.items()},
        edition,
        baseline=baseline,
        resamples=resamples,
        seed=seed,
    )
    for path, answers in zip((golden, *systems), (gold, *read.values()), strict=True):
        say_irregularities(path, answers)
    if html is not None:
        write_bytes(html, html_report(comparison, f"{golden.name}: {', '.join(names)}", questions).encode())
        say(f"{html}: report written")
    _print(comparison, questions, per_question=per_question, csv=csv, json=json)


def _print(comparison: Comparison, questions: int, *, per_question: bool, csv: bool, json: bool) -> None:
    if json:
        of_questions = {"per_question": comparison.question_rows()} if per_question else {}
        print_json(as_json(comparison, questions) | of_questions)
    elif csv:
        print_file(csv_rows(comparison.question_rows() if per_question else comparison.rows()))
    else:
        blocks = [text_table(comparison), "\n".join(remarks(comparison))]
        positions = range(len(comparison.golden)) if per_question else comparison.most_different(questions)
        if positions:
            title = "All questions" if per_question else "Questions that differ most"
            blocks.append(f"{title}: AP of documents, F1 of snippets\n\n{_questions(comparison, positions)}")
        echo("\n\n".join(blocks))


def _questions(comparison: Comparison, positions: Sequence[int]) -> str:
    lines = [["id", *(system.name for system in comparison.systems), "question"]]
    for position in positions:
        question = comparison.golden[position].question
        values = [_values(system, position) for system in comparison.systems]
        lines.append([question.id, *values, " ".join(question.body.split())])
    return markdown(lines)


def _values(system: ComparedSystem, position: int) -> str:
    measured = system.per_question[position]
    if measured is None:
        return ""
    ap, f1 = f"{measured.documents.average_precision:.3f}", f"{measured.snippets.f1:.3f}"
    return f"{ap} {f1}" if "snippets" in system.kinds else ap
