"""Commands on files alone: parse, validate, evaluate."""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from bioqa.app.cli.console import echo, fail, json_line, out, print_json, say
from bioqa.app.cli.options import JsonOption, MedlineFiles
from bioqa.app.reports.tables import markdown
from bioqa.bioasq.files import read_submission, read_testset
from bioqa.bioasq.golden import Golden, parse_golden
from bioqa.bioasq.judged import condense, count_unjudged, parse_judged
from bioqa.bioasq.measures import EDITIONS, LATEST, MeanMeasures, Measures, QuestionMeasures
from bioqa.bioasq.measures import evaluate as measure
from bioqa.bioasq.measures import per_question as per_question_measures
from bioqa.bioasq.roles import check_golden, check_pair, check_submission
from bioqa.bioasq.validation import Fault
from bioqa.bioasq.validation import validate as faults_of
from bioqa.indexer.medline.reader import MedlineError, MedlineFile, event_json
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import parse_json, read_bytes

EditionOption = Annotated[
    int,
    typer.Option(
        "--edition",
        metavar="|".join(map(str, EDITIONS)),
        help="Edition: 2 for BioASQ 1 and 2, 3 for 3 and 4, 5 for 5 to 7, 8 for 8, 9 from 9 on.",
    ),
]
PerQuestionOption = Annotated[
    bool, typer.Option("--per-question", help="Print the measures of each question, too.")
]

WIDE = 1000
"""Columns, more than any table needs."""

HELD_BYTES = 1 << 26
"""Parsed events of a file kept in memory; more go to a temporary file."""


def parse(
    files: MedlineFiles,
    joiner: Annotated[str, typer.Option(help="Text between the parts of an abstract.")] = "",
) -> None:
    """Print the records of MEDLINE files as JSON lines.

    Nothing of a broken file is printed, only of the others, and the exit code is 1.
    """
    refused = 0
    for path in files:
        try:
            _print_events(MedlineFile(path, joiner))
        except MedlineError as error:
            refused += 1
            fail(str(error))
        except OSError as error:
            if error.filename is None:  # not this file's, such as a full disk of temporary files
                raise
            refused += 1
            fail(f"{path}: {error.strerror or error}")
    if refused:
        raise typer.Exit(1)


def _print_events(file: MedlineFile) -> None:
    # Held back until the whole file is parsed: nothing of a broken file may be printed.
    with tempfile.SpooledTemporaryFile(HELD_BYTES, "w+", encoding="utf-8") as held:
        for event in file:
            held.write(json_line(event_json(event)))
        held.seek(0)
        shutil.copyfileobj(held, sys.stdout)
    sys.stdout.flush()
    skipped = sum(file.skipped.values())
    say(
        f"{file.path}: records {file.records}: upserts {file.upserts}, deletions {file.deletes}, "
        f"skipped {skipped}, rejected {len(file.rejections)}"
    )
    for rejection in file.rejections:
        say(f"{file.path}, line {rejection.line}: rejected: {rejection.reason}")


def validate(
    submission: Annotated[Path, typer.Argument(help="A BioASQ submission.", show_default=False)],
    testset: Annotated[
        Path | None, typer.Option("--testset", help="The test set that it answers.", show_default=False)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Print every fault of a submission with its question and field; exit code 1 if there are any."""
    questions = None if testset is None else read_testset(testset)
    content = read_bytes(submission)
    try:
        faults = faults_of(parse_json(content, str(submission)), questions)
    except BioqaError as error:
        faults = [Fault("", "", str(error))]
    if json:
        print_json([asdict(fault) for fault in faults])
    else:
        for fault in faults:
            echo(str(fault))
        say(f"{submission}: faults: {len(faults) or 'none'}")
    if faults:
        raise typer.Exit(1)


def evaluate(
    golden: Annotated[Path, typer.Argument(help="The golden file.", show_default=False)],
    system: Annotated[Path, typer.Argument(help="A system's submission.", show_default=False)],
    edition: EditionOption = LATEST,
    per_question: PerQuestionOption = False,
    json: JsonOption = False,
) -> None:
    """Print the official measures of phase A for a system's submission."""
    content = read_bytes(golden)
    gold = parse_golden(parse_json(content, str(golden)), str(golden))
    answers = read_submission(system)
    check_golden(gold.responses, str(golden))
    check_submission(answers, str(system))
    check_pair(gold.responses, answers.responses, str(golden), str(system))
    measures = measure(gold.responses, answers.responses, edition)
    of_questions = per_question_measures(gold.responses, answers.responses, edition) if per_question else []
    say_irregularities(golden, gold)
    say_irregularities(system, answers)
    if measures.missing:
        say(f"{system}: golden questions that it lacks, which the means leave out: {measures.missing}")
    known = parse_judged(content, str(golden))
    unjudged = count_unjudged(answers.responses, known) if known else None
    if unjudged is not None:
        say(f"{system}: {unjudged}")
    condensed = measure(gold.responses, condense(answers.responses, known), edition) if known else None
    if json:
        rows = {"per_question": [question.row() for question in of_questions]} if per_question else {}
        of_condensed = {"condensed": measures_json(condensed)} if condensed else {}
        print_json(measures_json(measures) | of_condensed | rows)
        return
    print_measures(measures)
    if condensed:
        print_measures(condensed, "without what nobody judged, ")
    if per_question:
        echo(f"\n{_question_table(of_questions)}")


def measures_json(measures: Measures) -> dict[str, object]:
    return {
        "edition": measures.edition,
        "questions": measures.questions,
        "missing": list(measures.missing_ids),
        "missing_questions": len(measures.missing_ids),
        **measures.official(),
    }


def print_measures(measures: Measures, of: str = "") -> None:
    title = f"{of}edition {measures.edition}, {measures.questions} questions"
    names = ("precision", "recall", "F1", "MAP", "GMAP")
    rows = {
        name: [f"{value:.4f}" for value in _values(means)]
        for name, means in (("documents", measures.documents), ("snippets", measures.snippets))
    }
    table = Table(title=title)
    table.add_column("")
    for name in names:
        table.add_column(name, justify="right")
    for name, figures in rows.items():
        table.add_row(name, *figures)
    if out.measure(table, options=out.options.update(width=WIDE)).maximum <= out.width:
        out.print(table)
        return
    # In a table that is wider than the terminal, figures would be cut.
    out.print(title, soft_wrap=True)
    for name, figures in rows.items():
        for label, figure in zip(names, figures, strict=True):
            out.print(f"{name} {label} {figure}", soft_wrap=True)


def _question_table(questions: Sequence[QuestionMeasures]) -> str:
    """Figures of documents, then of snippets: a line for each question, which no terminal cuts."""
    names = ("gold", "precision", "recall", "F1", "AP")
    lines = [["question", *(f"{kind} {name}" for kind in ("doc.", "snip.") for name in names)]]
    for question in questions:
        figures = [
            [
                str(item.gold),
                *(f"{value:.4f}" for value in (item.precision, item.recall, item.f1, item.average_precision)),
            ]
            for item in (question.documents, question.snippets)
        ]
        lines.append([question.id, *figures[0], *figures[1]])
    return markdown(lines)


def _values(means: MeanMeasures) -> tuple[float, ...]:
    return means.precision, means.recall, means.f1, means.map, means.gmap


def say_irregularities(path: Path, read: Golden) -> None:
    for kind, count in read.irregularities.items():
        say(f"{path}: {count} × {kind}")
