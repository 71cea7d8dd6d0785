"""Commands for those who train and compare rankers: vocabulary, train, experiment.

What they call is imported when they run: it takes torch, and the extra ``train``.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.console import Report, print_json, progress, say
from app.cli.options import IndexOption, JsonOption, MedlineFiles, SeedOption
from app.opening import open_index
from app.settings import load_settings
from bioasq.domain import Document
from bioasq.errors import BioqaError
from indexer.events import Upsert
from indexer.load import require_files
from indexer.medline import read

if TYPE_CHECKING:
    from models.experiments.results import Row, Run
    from models.training.cross import Progress
    from models.training.loop import Epoch
    from models.vocabulary import Vocabulary

TrainOption = Annotated[
    Path, typer.Option("--train", help="Golden file with the questions to learn from.", show_default=False)
]
DevOption = Annotated[
    Path,
    typer.Option("--dev", help="Golden file to stop early and to calibrate by.", show_default=False),
]
VocabularyOption = Annotated[
    Path | None,
    typer.Option(
        "--vocabulary", metavar="DIR", help="A folder made by `bioqa vocabulary`; else the default ranker's."
    ),
]

MEASURES = {
    "document_map_5": "document MAP ed. 5",
    "document_map_8": "document MAP ed. 8",
    "snippet_f1": "snippet F1",
    "snippet_map_5": "snippet MAP ed. 5",
    "snippet_map_8": "snippet MAP ed. 8",
    "sentence_auc": "sentence AUC",
}
PAIRED = {"document_map_8": "p documents", "snippet_f1": "p snippets"}

experiment = typer.Typer(no_args_is_help=True, help="Train and measure many systems; print one table.")


def vocabulary(
    files: MedlineFiles,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write.", show_default=False)
    ],
    dimensions: Annotated[int, typer.Option(min=1, help="Of the word vectors.")] = 30,
    min_count: Annotated[int, typer.Option(min=1, help="Rarer words are left out.")] = 5,
    seed: SeedOption = 1,
) -> None:
    """Make a vocabulary from MEDLINE files: word vectors and document frequencies."""
    from models.vocabulary import Vocabulary

    require_files(files)
    with progress("reading", len(files)) as report:
        made = Vocabulary.build(
            _documents(files, report), dimensions=dimensions, min_count=min_count, seed=seed
        )
    try:
        output.mkdir(parents=True, exist_ok=True)
        made.save(output)
    except OSError as error:
        raise BioqaError(f"{output}: cannot be written: {error}") from error
    say(f"{output}: {len(made.words)} words")


def _documents(files: Sequence[Path], report: Report) -> Iterator[Document]:
    count = 0
    for done, path in enumerate(files):
        for event in read(path):
            if isinstance(event, Upsert):
                count += 1
                if count % 1000 == 0:
                    report(done, f"{count} documents")
                yield event.document
    report(len(files), f"{count} documents; now training the vectors")


def train(
    ranker: Annotated[str, typer.Argument(help="A ranker of the registry: jpdrmm, …", show_default=False)],
    train: TrainOption,
    dev: DevOption,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="The checkpoint to write.", show_default=False),
    ],
    index: IndexOption = None,
    vocabulary: VocabularyOption = None,
    set: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the ranker.")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="DIR|NAME", help="Of BERT, JBERT, BJPDRMM: folder, package or hub name."),
    ] = None,
    states: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where a frozen encoder's states are kept.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu or cuda.")] = "auto",
    seed: SeedOption = 1,
) -> None:
    """Train a ranker; the checkpoint holds its settings, training data and scores.

    One over an encoder, interrupted, goes on after its last epoch when the command is given again.
    """
    from models.training.files import parse_settings, train_files

    opened = open_index(load_settings(index=index))
    with _preparing() as preparing:
        made = train_files(
            ranker,
            opened,
            train,
            dev,
            output,
            seed=seed,
            settings=parse_settings(set or []) | ({} if encoder is None else {"encoder": encoder}),
            vocabulary=_vocabulary(vocabulary),
            device=device,
            states=states,
            preparing=preparing,
            progress=_say_epoch,
        )
    scores = ", ".join(
        f"{name} {value:.4f}" for name, value in made.scores.items() if isinstance(value, float)
    )
    say(f"{output}: {scores}")


def train_cascade(
    encoder: Annotated[
        str, typer.Argument(help="A BERT-like encoder: folder, package or hub name.", show_default=False)
    ],
    train: TrainOption,
    dev: DevOption,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="The cascade to write.", show_default=False),
    ],
    index: IndexOption = None,
    first: Annotated[str, typer.Option(help="The ranker of all candidates: name or folder.")] = "jpdrmm",
    frozen_layers: Annotated[int, typer.Option(min=0, help="Lower layers that do not learn.")] = 4,
    minutes: Annotated[
        float | None, typer.Option(min=1, help="Training ends then, whatever share it has seen.")
    ] = None,
    dev_questions: Annotated[int, typer.Option(min=1, help="A random share to tune by.")] = 100,
    device: Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu or cuda.")] = "auto",
    half_precision: Annotated[
        bool, typer.Option("--half-precision", help="Read in bfloat16 on a CPU too.")
    ] = False,
    seed: SeedOption = 1,
) -> None:
    """Train a cascade: a cheap ranker, and an encoder fine-tuned on gold documents' sentences.

    Interrupted, the same command goes on where it was.
    """
    from models.training.cascade import train_files
    from models.training.cross import CrossSettings

    settings = load_settings(index=index)
    with _preparing() as preparing:
        made = train_files(
            first,
            encoder,
            open_index(settings),
            train,
            dev,
            output,
            settings=CrossSettings(
                frozen_layers=frozen_layers, seed=seed, minutes=math.inf if minutes is None else minutes
            ),
            dev_questions=dev_questions,
            device=device,
            half_precision=half_precision,
            budget_ms=settings.ranker_budget_ms,
            preparing=preparing,
            progress=_say_progress(time.monotonic),
        )
    scores = ", ".join(f"{name} {value:.4f}" for name, value in made.record["scores"].items())
    say(f"{output}: {scores}")


@experiment.command("pool")
def pool(
    train: TrainOption,
    dev: DevOption,
    test: Annotated[Path, typer.Option("--test", help="Golden file to measure on.", show_default=False)],
    index: IndexOption = None,
    vocabulary: VocabularyOption = None,
    seeds: Annotated[str, typer.Option(help="Of the trained systems, separated by commas.")] = "1,2,3",
    runs: Annotated[
        Path, typer.Option(metavar="DIR", help="Finished runs are kept here and not run again.")
    ] = Path("runs"),
    workers: Annotated[int, typer.Option(min=1, help="Runs at the same time.")] = 2,
    json: JsonOption = False,
) -> None:
    """Baselines, pipelines, joint models and the oracle on one collection: mean, deviation, significance."""
    from models.experiments.pool import REFERENCE, TRAINED, Data, run
    from models.experiments.results import rows_of
    from models.training.files import bundled_vocabulary, prepare_file

    numbers = _seeds(seeds)
    opened = open_index(load_settings(index=index))
    words = _vocabulary(vocabulary) or bundled_vocabulary()
    with _preparing() as preparing:
        prepared = [prepare_file(opened, path, words, preparing) for path in (train, dev, test)]
    finished = run(Data(words, *prepared), TRAINED, numbers, runs, workers=workers, progress=_say_run)
    rows = rows_of(finished, REFERENCE)
    if json:
        print_json([asdict(row) for row in rows])
    else:
        _print_rows(rows, REFERENCE)


def _seeds(text: str) -> list[int]:
    try:
        return [int(seed) for seed in text.split(",")]
    except ValueError:
        raise BioqaError(f"--seeds must be numbers with commas between them, not {text!r}") from None


def _vocabulary(folder: Path | None) -> "Vocabulary | None":
    from models.vocabulary import Vocabulary

    return None if folder is None else Vocabulary.load(folder)


@contextmanager
def _preparing() -> Iterator["_Preparing"]:
    with ExitStack() as stack:
        yield _Preparing(stack)


class _Preparing:
    """One progress bar a file of questions."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._reports: dict[str, Report] = {}

    def __call__(self, name: str, done: int, total: int) -> None:
        if name not in self._reports:
            self._stack.close()
            self._reports[name] = self._stack.enter_context(progress(f"preparing {name}", total))
        self._reports[name](done, f"{done}/{total} questions")
        if done == total:
            self._stack.close()


def _say_epoch(epoch: "Epoch") -> None:
    scores = ", ".join(f"{name} {value:.4f}" for name, value in epoch.scores.items())
    say(f"epoch {epoch.number}: loss {epoch.loss:.4f}, {scores} ({epoch.seconds:.0f} s)")


def _say_progress(clock: Callable[[], float], every_s: float = 20.0) -> "Callable[[Progress], None]":
    """A line every so many seconds."""
    last = -every_s

    def report(progress: "Progress") -> None:
        nonlocal last
        if clock() - last >= every_s:
            last = clock()
            say(f"{progress.documents}/{progress.of} gold documents: loss {progress.loss:.4f}")

    return report


def _say_run(run: "Run") -> None:
    seed = "" if run.seed is None else f", seed {run.seed}"
    means = ", ".join(f"{name} {value:.4f}" for name, value in run.means.items())
    say(f"{run.system}{seed}: {means}")


def _print_rows(rows: Iterable["Row"], reference: str) -> None:
    """A Markdown table: it can be read on a terminal and pasted into a page."""
    lines = [["system", "seeds", *MEASURES.values(), *PAIRED.values()]]
    for row in rows:
        values = [_cell(row.mean[name], row.deviation[name], row.seeds) for name in MEASURES]
        lines.append([row.system, str(row.seeds), *values, *(_p(row.p.get(name)) for name in PAIRED)])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    for cells in lines:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        typer.echo(f"| {' | '.join(padded)} |")
    typer.echo(f"\np: paired, against {reference}")


def _cell(mean: float, deviation: float, seeds: int) -> str:
    return f"{mean:.3f} ± {deviation:.3f}" if seeds > 1 else f"{mean:.3f}"


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
