"""Commands that convert BioASQ files to TREC formats and back."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from bioqa.app.cli.console import say
from bioqa.bioasq.domain import Question
from bioqa.bioasq.files import read_golden, read_submission, read_testset, write_submission
from bioqa.bioasq.golden import Golden, Irregularity
from bioqa.bioasq.trec import (
    judged_responses,
    judgements,
    read_judgements,
    read_run,
    run_responses,
    submission_run,
)
from bioqa.system.jsonfile import write_bytes

trec = typer.Typer(no_args_is_help=True, help="Convert BioASQ files to TREC runs and judgements, and back.")

Output = Annotated[
    Path,
    typer.Option("--output", "-o", help="The file to write, completely or not at all.", show_default=False),
]
TestSetOption = Annotated[
    Path | None,
    typer.Option(
        "--testset",
        help="Test set with the questions; without it, those of the file, without bodies.",
        show_default=False,
    ),
]


@trec.command()
def run(
    submission: Annotated[Path, typer.Argument(help="A BioASQ submission.", show_default=False)],
    output: Output,
    tag: Annotated[str, typer.Option(help="The run's name, in its last column.")] = "bioqa",
) -> None:
    """Write a submission's documents as a TREC run. Scores come from the ranks; a submission has none."""
    read = read_submission(submission)
    _say_other_forms(submission, read)
    _write_lines(output, map(str, submission_run(read.responses, tag)))


@trec.command()
def qrels(
    golden: Annotated[Path, typer.Argument(help="A golden file.", show_default=False)], output: Output
) -> None:
    """Write a golden file's documents as TREC judgements, each of relevance 1."""
    read = read_golden(golden)
    _say_other_forms(golden, read)
    _write_lines(output, map(str, judgements(read.responses)))


@trec.command()
def submission(
    run: Annotated[Path, typer.Argument(help="A TREC run whose documents are PMIDs.", show_default=False)],
    output: Output,
    testset: TestSetOption = None,
) -> None:
    """Write a TREC run's ten best documents per question as a submission, without snippets."""
    responses = run_responses(read_run(run), _questions(testset))
    write_submission(output, responses)
    say(
        f"{output}: questions {len(responses)}, without any document {_empty(r.documents for r in responses)}"
    )


@trec.command()
def golden(
    qrels: Annotated[
        Path, typer.Argument(help="TREC judgements whose documents are PMIDs.", show_default=False)
    ],
    output: Output,
    testset: TestSetOption = None,
    least: Annotated[int, typer.Option("--least", help="Minimum relevance that counts.")] = 1,
) -> None:
    """Write the relevant documents of TREC judgements as a golden file, without snippets."""
    responses = judged_responses(read_judgements(qrels), _questions(testset), least)
    write_submission(output, responses)
    say(
        f"{output}: questions {len(responses)}, without any document {_empty(r.documents for r in responses)}"
    )


def _questions(testset: Path | None) -> Sequence[Question] | None:
    return None if testset is None else read_testset(testset)


def _empty(lists: Iterable[Sequence[str]]) -> int:
    return sum(not documents for documents in lists)


def _say_other_forms(path: Path, read: Golden) -> None:
    if count := read.irregularities.get(Irregularity.DOCUMENT_FORM):
        say(f"{path}: {count} × {Irregularity.DOCUMENT_FORM}")


def _write_lines(output: Path, lines: Iterable[str]) -> None:
    text = [f"{line}\n" for line in lines]
    write_bytes(output, "".join(text).encode())
    say(f"{output}: lines {len(text)}")
