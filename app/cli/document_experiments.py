"""Commands: the experiments that compare documents alone, and the comparison of all systems."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from bioqa.app.cli.console import print_json, say
from bioqa.app.cli.experiments import (
    DevOption,
    OnlyOption,
    RunsOption,
    TestOption,
    TrainOption,
    WorkersOption,
    data_of,
    files_of,
    fingerprints,
    seeds_of,
)
from bioqa.app.cli.options import IndexOption, JsonOption, no_stream
from bioqa.app.cli.preparing import VocabularyOption
from bioqa.app.version import version
from bioqa.system.jsonfile import write_bytes

PAPERS = {
    "mcdonald-2018": "McDonald, Brokos and Androutsopoulos 2018",
    "hui-2018": "Hui, Yates, Berberich and de Melo 2018",
    "mohan-2017": "Mohan, Fiorini, Kim and Lu 2017",
}
"""The names of the experiments, which are commands; their titles. The experiments themselves need torch."""


def _command(name: str) -> Callable[..., None]:
    def compare_documents(
        train: TrainOption = None,
        dev: DevOption = None,
        test: TestOption = None,
        index: IndexOption = None,
        vocabulary: VocabularyOption = None,
        share: Annotated[
            list[str] | None,
            typer.Option("--share", metavar="NAME=N", help="Share of the data for all rows (0: all)."),
        ] = None,
        only: OnlyOption = None,
        seeds: Annotated[
            str | None,
            typer.Option(help="Seeds of trained systems, separated by commas; by default the experiment's."),
        ] = None,
        runs: RunsOption = Path("runs"),
        workers: WorkersOption = 2,
        json: JsonOption = False,
    ) -> None:
        from dataclasses import replace

        from bioqa.app.reports.document_tables import document_tables
        from bioqa.models.experiments import published
        from bioqa.models.experiments.document_table import document_rows
        from bioqa.models.experiments.experiment import chosen
        from bioqa.models.experiments.papers import EXPERIMENTS
        from bioqa.models.experiments.running import Runs

        wanted = EXPERIMENTS[name].of_share(share or [])
        if seeds is not None:
            wanted = replace(wanted, seeds=tuple(seeds_of(seeds)))
        files = files_of(train, dev, test or [])
        if files is None:
            results = published.read_documents(name)
        else:
            data = data_of(index, vocabulary, files)
            systems = chosen(wanted.systems, only or [])
            Runs(data, runs, wanted.seeds, workers, code=version(), log=say).make(systems)
            rows, reranked = document_rows(wanted, data, runs, say)
            results = published.DocumentResults(name, fingerprints(data, files), rows, reranked)
        if json:
            print_json(results.as_dict())
        else:
            typer.echo(document_tables(wanted, results))

    return compare_documents


def register(group: typer.Typer) -> None:
    """Add the commands to ``bioqa experiment``."""
    for name, title in PAPERS.items():
        said = f"Compare all rankers of {title}: the published tables, or your own with data."
        group.command(name, help=said)(_command(name))
    group.command("all")(_all_systems)


def _all_systems(
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            callback=no_stream,
            help="Folder with NAME.json of each experiment, as --json prints it; by default those published.",
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Draw document MAP against milliseconds into this file."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare all systems of the four papers: document MAP, size and time."""
    from bioqa.app.reports.all_systems import as_dicts, chart, read_all, table
    from bioqa.app.reports.charts import as_file

    rows = read_all(results)
    if svg is not None:
        write_bytes(svg, as_file(chart(rows)).encode())
        say(f"{svg}: chart written")
    if json:
        print_json(as_dicts(rows))
    else:
        typer.echo(table(rows))
