"""Experiments: many systems trained and measured on the same questions, in one table."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bioqa.app.answers.opening import open_index
from bioqa.app.cli.console import print_json, say
from bioqa.app.cli.options import IndexOption, JsonOption, no_stream
from bioqa.app.cli.preparing import VocabularyOption, preparing, vocabulary_of
from bioqa.app.settings import load_settings
from bioqa.app.version import version
from bioqa.system.errors import BioqaError

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
    from bioqa.models.experiments.running import Runs
    from bioqa.models.experiments.table import table_rows

    files = files_of(train, dev, test or [])
    if files is None:
        _print(published.read("pappas-2021"), json)
        return
    numbers = seeds_of(seeds)
    systems = _systems(encoder, zero_shot, prompt, cascade, share or [])
    data = data_of(index, vocabulary, files)
    Runs(data, runs, numbers, workers, device, _load_ready, version(), say).make(chosen(systems, only or []))
    made, reference = table_rows(data, runs, numbers, systems, say)
    _print(published.Results(reference, fingerprints(data, files), made), json)


def _systems(
    encoder: str | None, zero_shot: str | None, prompt: str, cascade: Path | None, share: Sequence[str]
) -> list["System"]:
    from bioqa.models.cascade.files import folder_of, load
    from bioqa.models.experiments import systems
    from bioqa.models.experiments.papers import pappas_2021 as paper

    few, more, of_ready, untrained = (
        systems.changed(of, share) for of in (paper.FEW, paper.MORE, paper.READY, paper.ZERO_SHOT)
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
        typer.echo(snippet_tables(results))
