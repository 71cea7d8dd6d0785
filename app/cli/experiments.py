"""Experiments: many systems trained and measured on the same questions, in one table."""

import math
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bioqa.app.answers.opening import open_index
from bioqa.app.cli.console import print_json, say
from bioqa.app.cli.options import IndexOption, JsonOption, no_stream
from bioqa.app.cli.preparing import VocabularyOption, preparing, vocabulary_of
from bioqa.app.settings import load_settings
from bioqa.bioasq.errors import BioqaError

if TYPE_CHECKING:
    from bioqa.models.experiments.data import ExperimentData
    from bioqa.models.experiments.published import Results
    from bioqa.models.experiments.results import Row
    from bioqa.models.experiments.systems import System

MEASURES = {
    "document_map_5": "doc. MAP ed. 5",
    "document_map_8": "ed. 8",
    "snippet_map_5": "snip. MAP ed. 5",
    "snippet_map_8": "ed. 8",
    "snippet_f1": "snip. F1",
    "recall_at_10": "recall@10",
    "sentence_auc": "AUC",
}
PAIRED = {"document_map_8": "p doc.", "snippet_f1": "p snip.", "sentence_auc": "p AUC"}
KINDS = ("baseline", "pipeline", "joint", "ours", "bound")

experiment = typer.Typer(no_args_is_help=True, help="Train and measure many systems; print one table.")


@experiment.command("pappas-2021")
def pappas_2021(
    train: Annotated[Path | None, typer.Option(help="Golden file with training questions.")] = None,
    dev: Annotated[Path | None, typer.Option(help="Golden file for early stopping and calibration.")] = None,
    test: Annotated[
        list[Path] | None, typer.Option(help="Golden file to measure on; repeat it for several collections.")
    ] = None,
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
        Path | None, typer.Option(metavar="DIR", help="A trained cascade, for a row of its own.")
    ] = None,
    share: Annotated[
        list[str] | None,
        typer.Option("--share", metavar="NAME=N", help="Share of the data for rows with BERT (0: all)."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Train only rows of this name; * matches anything."),
    ] = None,
    seeds: Annotated[str, typer.Option(help="Seeds of trained systems, separated by commas.")] = "1,2,3",
    runs: Annotated[
        Path, typer.Option(metavar="DIR", callback=no_stream, help="Folder for scores of trained rankers.")
    ] = Path("runs"),
    workers: Annotated[int, typer.Option(min=1, help="Number of parallel trainings without encoder.")] = 2,
    device: Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu or cuda.")] = "auto",
    json: JsonOption = False,
) -> None:
    """Compare all models of Pappas and Androutsopoulos 2021: the published tables, or your own with data."""
    from bioqa.models.experiments import published
    from bioqa.models.experiments.experiment import Experiment
    from bioqa.models.experiments.table import table_rows

    if train is None and dev is None and not test:
        _print(published.read("pappas-2021"), json)
        return
    if train is None or dev is None or not test:
        raise BioqaError("--train, --dev and --test are needed together")
    numbers = _seeds(seeds)
    systems = _systems(encoder, zero_shot, prompt, cascade, share or [])
    data = _data(index, vocabulary, train, dev, test)
    chosen = [s for s in systems if not only or any(fnmatchcase(s.name, name) for name in only)]
    Experiment(data, runs, numbers, workers, device, _load_ready, say).make(chosen)
    made, reference = table_rows(data, runs, numbers, systems, say)
    _print(published.Results(reference, _fingerprints(data, [train, dev, *test]), made), json)


def _systems(
    encoder: str | None, zero_shot: str | None, prompt: str, cascade: Path | None, share: Sequence[str]
) -> list["System"]:
    from bioqa.models.cascade.files import load
    from bioqa.models.experiments import systems

    few, more, of_ready = (systems.changed(of, share) for of in (systems.FEW, systems.MORE, systems.READY))
    wanted = systems.without_encoder()
    if cascade is not None:
        loaded = load(cascade)
        name = f"Cascade, {loaded.budget_ms / 1000:g} s"
        wanted.append(systems.ready(name, str(cascade), loaded.hash, of_ready))
    if zero_shot is not None:
        wanted.append(systems.zero_shot(zero_shot, prompt, few))
    if encoder is not None:
        wanted += systems.with_encoder(encoder, few, more)
    return [*wanted, *systems.ablations()]


def _load_ready(folder: str) -> Any:
    from bioqa.models.cascade.files import load

    return load(Path(folder))


def _data(
    index: str | None, vocabulary: Path | None, train: Path, dev: Path, test: Sequence[Path]
) -> "ExperimentData":
    from bioqa.models.experiments.data import ExperimentData
    from bioqa.models.training.files import bundled_vocabulary, prepare_file

    names = [path.name.partition(".")[0] for path in test]
    if len(set(names)) < len(names):
        raise BioqaError(f"--test: two collections of one name among {', '.join(names)}")
    opened = open_index(load_settings(index=index))
    words = vocabulary_of(vocabulary) or bundled_vocabulary()
    with preparing() as report:
        prepared = [prepare_file(opened, path, words, report) for path in (train, dev, *test)]
    return ExperimentData(words, prepared[0], prepared[1], dict(zip(names, prepared[2:], strict=True)))


def _fingerprints(data: "ExperimentData", files: Iterable[Path]) -> dict[str, Any]:
    from bioqa.models.training.files import file_fingerprint

    return {"fingerprint": data.fingerprint, "files": [file_fingerprint(path) for path in files]}


def _seeds(text: str) -> list[int]:
    try:
        return [int(seed) for seed in text.split(",")]
    except ValueError:
        raise BioqaError(f"--seeds must be numbers with commas between them, not {text!r}") from None


def _print(results: "Results", json: bool) -> None:
    if json:
        print_json(results.as_dict())
    else:
        typer.echo(tables(results))


def tables(results: "Results") -> str:
    """Markdown: it can be read on a terminal and pasted into a page."""
    marks = _marks(results.rows)
    main = [row for kind in KINDS for row in results.rows if row.kind == kind]
    ablations = [row for row in results.rows if row.kind == "ablation"]
    collections = list(results.rows[0].collections)
    # Means over different questions do not compare, so they never share a table: all questions first.
    counts = sorted({_questions(row) for row in main}, key=lambda count: count or math.inf, reverse=True)
    shown = [
        (name + (f", {count or 'all'} questions" if len(counts) > 1 else ""), rows, name)
        for name in collections
        for count in counts
        if (rows := [row for row in main if _questions(row) == count and name in row.collections])
    ]
    if ablations:
        shown.append((f"{collections[0]}, ablations of JPDRMM", ablations, collections[0]))
    blocks = [f"**{title}**\n\n{_table(rows, name, marks)}" for title, rows, name in shown]
    notes = [
        f"p: paired, single-tailed, of being better than {results.reference}: "
        "of the pipelines measured in full, the best on dev.",
        "ms: of a question, the work of all threads together. Shares of the data:",
        *(f"- {mark}: {words}" for words, mark in marks.items()),
    ]
    return "\n\n".join([*blocks, "\n".join(notes)])


def _table(rows: Iterable["Row"], collection: str, marks: Mapping[str, str]) -> str:
    lines = [["system", "seeds", "share", *MEASURES.values(), "parameters", "ms", *PAIRED.values()]]
    for row in rows:
        if collection not in row.collections:
            continue
        of_row = row.collections[collection]
        values = [
            _cell(of_row.mean[name], of_row.deviation[name], row.seeds) if name in of_row.mean else ""
            for name in MEASURES
        ]
        share = "".join(dict.fromkeys(marks[words] for words in _shares(row)))
        tested = [_p(of_row.p.get(name)) for name in PAIRED]
        lines.append([row.system, str(row.seeds), share, *values, *_cost(row), *tested])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    padded = [[cell.ljust(width) for cell, width in zip(cells, widths, strict=True)] for cells in lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in padded)


def _cost(row: "Row") -> tuple[str, str]:
    """Parameters and milliseconds of all parts together."""
    parameters = sum(part.get("parameters", 0) for part in row.parts)
    times = [part["thread_milliseconds"] for part in row.parts if "thread_milliseconds" in part]
    return f"{parameters:,}", f"{sum(times):.0f}" if times else ""


def _marks(rows: Iterable["Row"]) -> dict[str, str]:
    """A letter for every share in use, in order of appearance."""
    shares = dict.fromkeys(words for row in rows for words in _shares(row))
    return dict(zip(shares, "abcdefghijklmnopqrstuvwxyz", strict=False))


def _questions(row: "Row") -> int:
    """How many questions of each collection the row was measured on; 0 if on all of them."""
    counts = [part["share"]["test_questions"] for part in row.parts if part.get("share")]
    return min(filter(None, counts), default=0)


def _shares(row: "Row") -> list[str]:
    return [words for part in row.parts if (words := _remarks(part))]


def _remarks(part: Mapping[str, Any]) -> str:
    """What a part's own record says of how much of the data it saw."""
    share = part.get("share", {})
    phrases = {
        "train_questions": "trained on {} questions",
        "irrelevant": "{} irrelevant candidate for each relevant one",
        "watched": "early stopping by {} dev questions",
        "dev_questions": "calibrated on {} dev questions",
        "test_questions": "measured on {} questions of each collection",
        "candidates": "BM25's {} best are re-ranked",
    }
    return ", ".join(phrase.format(share[name]) for name, phrase in phrases.items() if share.get(name))


def _cell(mean: float, deviation: float, seeds: int) -> str:
    return f"{mean:.3f} ± {deviation:.3f}" if seeds > 1 else f"{mean:.3f}"


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
