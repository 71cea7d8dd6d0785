"""The command ``bioqa``. Exit codes: 0 success, 1 the input has faults, 2 an error prevented the work."""

import io
import os
import sys
from contextlib import redirect_stdout
from typing import TextIO, cast

import typer

from bioqa.app.cli import (
    answering,
    assistants,
    citing,
    comparing,
    demo,
    experiments,
    explaining,
    files,
    indexing,
    judging,
    keys,
    rankers,
    serving,
    synonyms,
    tokens,
    training,
    trec,
    updating,
    vectors,
)
from bioqa.app.cli.console import Closed, NobodyReads, Output, echo, fail, say
from bioqa.app.cli.failures import describe, trace
from bioqa.app.environment import unknown_variables
from bioqa.app.settings import Settings
from bioqa.app.version import version

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Answer biomedical questions with MEDLINE documents and sentences, in the format of BioASQ.",
)
for command in (
    demo.demo,
    indexing.index,
    updating.update,
    indexing.info,
    synonyms.synonyms,
    tokens.tokens,
    vectors.vectors,
    answering.ask,
    explaining.explain,
    citing.cite,
    answering.batch,
    serving.serve,
    assistants.mcp,
    files.validate,
    files.evaluate,
    comparing.compare,
    files.parse,
    training.vocabulary,
    training.train,
    training.train_cascade,
):
    cli.command()(command)
cli.add_typer(experiments.experiment, name="experiment")
cli.add_typer(judging.judge, name="judge")
cli.add_typer(keys.keys, name="keys")
cli.add_typer(rankers.rankers, name="ranker")
cli.add_typer(trec.trec, name="trec")


@cli.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    show_version: bool = typer.Option(
        False,
        "--version",
        help="Print the version (between releases, with the commit) and exit.",
        is_eager=True,
    ),
) -> None:
    if show_version:
        echo(f"bioqa {version()}")
        raise typer.Exit
    if context.invoked_subcommand != "serve":  # which logs them
        for sentence in unknown_variables(os.environ, Settings.model_fields):
            say(f"warning: {sentence}")


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A title can contain characters that the terminal's encoding lacks.
            stream.reconfigure(errors="backslashreplace")
    output = Output(sys.stdout if sys.stdout is not None else Closed())
    with redirect_stdout(cast(TextIO, output)):
        try:
            try:
                cli()
            finally:
                output.flush()
        except NobodyReads:
            sys.exit(2)
        except Exception as error:  # noqa: BLE001  # the edge: whatever a library raises becomes one line
            if lines := trace(error):
                say(lines.rstrip())
            fail(describe(error))
            sys.exit(2)
