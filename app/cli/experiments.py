"""The experiments of the papers: many systems trained and measured on the same questions, in one table."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bioqa.app.answers.opening import open_index
from bioqa.app.cli.console import echo, print_json, say
from bioqa.app.cli.options import IndexOption, JsonOption, no_stream
from bioqa.app.cli.preparing import VocabularyOption, preparing, vocabulary_of
from bioqa.app.settings import load_settings
from bioqa.app.version import version
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import write_bytes

if TYPE_CHECKING:
    from bioqa.models.experiments.data import ExperimentData
    from bioqa.models.experiments.published import Results
    from bioqa.models.experiments.systems import System

TrainOption = Annotated[Path | None, typer.Option(help="Golden file with training questions.")]
DevOption = Annotated[Path | None, typer.Option(help="Golden file for early stopping and calibration.")]
TestOption = Annotated[
    list[Path] | None, typer.Option(help="Golden file to measure on; repeat it for several collections.")
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Train only rows of this name; * matches anything."),
]
RunsOption = Annotated[
    Path, typer.Option(metavar="DIR", callback=no_stream, help="Folder for scores of trained rankers.")
]
WorkersOption = Annotated[int, typer.Option(min=1, help="Number of parallel trainings without encoder.")]

PAPERS = {
    "mcdonald-2018": "McDonald, Brokos and Androutsopoulos 2018",
    "hui-2018": "Hui, Yates, Berberich and de Melo 2018",
    "mohan-2017": "Mohan, Fiorini, Kim and Lu 2017",
}
"""The experiments that compare documents alone: names, which are commands, and titles. What they are of needs
torch."""

experiment = typer.Typer(no_args_is_help=True, help="Train and measure many systems; print one table.")


@experiment.command("pappas-2021")
def pappas_2021(
    train: TrainOption = None,
    dev: DevOption = None,
    test: TestOption = None,
    index: IndexOption = None,
    vocabulary: VocabularyOption = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="DIR|NAME", help="Encoder of rows with BERT, which are left out without it."),
    ] = None,
    zero_shot: Annotated[
        str | None, typer.Option(metavar="DIR|NAME", help="Another encoder, for a row without training.")
    ] = None,
    prompt: Annotated[
        str, typer.Option(help="Prefix that the zero-shot encoder expects before queries.")
    ] = "",
    cascade: Annotated[
        Path | None,
        typer.Option(metavar="DIR|NAME", help="A cascade (deep, or a folder), for a row of its own."),
    ] = None,
    share: Annotated[
        list[str] | None,
        typer.Option("--share", metavar="NAME=N", help="Share of the data for rows with BERT (0: all)."),
    ] = None,
    only: OnlyOption = None,
    seeds: Annotated[str, typer.Option(help="Seeds of trained systems, separated by commas.")] = "1,2,3",
    runs: RunsOption = Path("runs"),
    workers: WorkersOption = 2,
    device: Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu or cuda.")] = "auto",
    json: JsonOption = False,
) -> None:
    """Compare all models of Pappas and Androutsopoulos 2021: the published tables, or your own with data."""
    from bioqa.models.experiments import published
    from bioqa.models.experiments.experiment import chosen
    from bioqa.models.experiments.running import SeedRuns
    from bioqa.models.experiments.table import table_rows

    files = files_of(train, dev, test or [])
    if files is None:
        _print(published.read("pappas-2021"), json)
        return
    numbers = seeds_of(seeds)
    systems = _systems(encoder, zero_shot, prompt, cascade, share or [])
    data = data_of(index, vocabulary, files)
    SeedRuns(data, runs, numbers, workers, device, _load_ready, version(), say).make(
        chosen(systems, only or [])
    )
    rows, reference = table_rows(data, runs, numbers, systems, say)
    _print(published.Results("pappas-2021", fingerprints(data, files), rows, reference), json)


def _systems(
    encoder: str | None, zero_shot: str | None, prompt: str, cascade: Path | None, share: Sequence[str]
) -> list["System"]:
    from bioqa.models.cascade.files import folder_of, load
    from bioqa.models.experiments import systems
    from bioqa.models.experiments.papers import pappas_2021 as paper

    few, more, of_ready, untrained = (
        systems.change_share(of, share) for of in (paper.FEW, paper.MORE, paper.READY, paper.ZERO_SHOT)
    )
    wanted = paper.without_encoder()
    if cascade is not None:
        folder = folder_of(cascade) or cascade
        loaded = load(folder)
        name = f"{loaded.name}, {loaded.budget_ms / 1000:g} s"
        wanted.append(systems.ready(name, str(folder), loaded.hash, of_ready))
    if zero_shot is not None:
        wanted.append(systems.zero_shot(zero_shot, prompt, untrained))
    if encoder is not None:
        wanted += [systems.zero_shot(encoder, "", untrained), *paper.with_encoder(encoder, few, more)]
    return [*wanted, *paper.ablations()]


def _load_ready(folder: str) -> Any:
    from bioqa.models.cascade.files import load

    return load(Path(folder))


class Files(NamedTuple):
    """Golden files of an experiment."""

    train: Path
    dev: Path
    test: Sequence[Path]


def files_of(train: Path | None, dev: Path | None, test: Sequence[Path]) -> Files | None:
    """None if none is named: the published results are wanted. Raises BioqaError."""
    if train is None and dev is None and not test:
        return None
    if train is None or dev is None or not test:
        raise BioqaError("--train, --dev and --test are needed together")
    return Files(train, dev, test)


def data_of(index: str | None, vocabulary: Path | None, files: Files) -> "ExperimentData":
    """Prepare the questions; the collections have the names of their files."""
    from bioqa.models.experiments.data import ExperimentData
    from bioqa.models.training.files import bundled_vocabulary, prepare_file

    names = [path.name.partition(".")[0] for path in files.test]
    if len(set(names)) < len(names):
        raise BioqaError(f"--test: two collections of one name among {', '.join(names)}")
    opened = open_index(load_settings(index=index))
    words = vocabulary_of(vocabulary) or bundled_vocabulary()
    with preparing() as report:
        prepared = [
            prepare_file(opened, path, words, report) for path in (files.train, files.dev, *files.test)
        ]
    return ExperimentData(words, prepared[0], prepared[1], dict(zip(names, prepared[2:], strict=True)))


def fingerprints(data: "ExperimentData", files: Files) -> dict[str, Any]:
    from bioqa.models.training.files import file_fingerprint

    paths = (files.train, files.dev, *files.test)
    return {"fingerprint": data.fingerprint, "files": [file_fingerprint(path) for path in paths]}


def seeds_of(text: str) -> list[int]:
    try:
        return [int(seed) for seed in text.split(",")]
    except ValueError:
        raise BioqaError(f"--seeds must be numbers with commas between them, not {text!r}") from None


def _print(results: "Results", json: bool) -> None:
    from bioqa.app.reports.snippet_tables import snippet_tables

    if json:
        print_json(results.as_dict())
    else:
        echo(snippet_tables(results))


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
        from bioqa.app.reports.document_tables import document_tables
        from bioqa.models.experiments import published
        from bioqa.models.experiments.document_table import document_rows
        from bioqa.models.experiments.experiment import chosen
        from bioqa.models.experiments.papers import EXPERIMENTS
        from bioqa.models.experiments.running import SeedRuns

        wanted = EXPERIMENTS[name].of_share(share or [])
        if seeds is not None:
            wanted = replace(wanted, seeds=tuple(seeds_of(seeds)))
        files = files_of(train, dev, test or [])
        if files is None:
            results = published.read(name)
        else:
            data = data_of(index, vocabulary, files)
            systems = chosen(wanted.systems, only or [])
            SeedRuns(data, runs, wanted.seeds, workers, code=version(), log=say).make(systems)
            rows, reranked = document_rows(wanted, data, runs, say)
            results = published.Results(name, fingerprints(data, files), rows, reranked=reranked)
        if json:
            print_json(results.as_dict())
        else:
            echo(document_tables(wanted, results))

    return compare_documents


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
    from bioqa.app.reports.svg import as_file

    rows = read_all(results)
    if svg is not None:
        write_bytes(svg, as_file(chart(rows)).encode())
        say(f"{svg}: chart written")
    if json:
        print_json(as_dicts(rows))
    else:
        echo(table(rows))


for _name, _title in PAPERS.items():
    _help = f"Compare all rankers of {_title}: the published tables, or your own with data."
    experiment.command(_name, help=_help)(_command(_name))
experiment.command("all")(_all_systems)
