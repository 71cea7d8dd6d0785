"""Commands that train rankers: vocabulary, train, train-cascade.

They import torch and the extra ``train`` only when they run, as `bioqa --help` must be fast.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bioqa.app.answers.opening import open_index
from bioqa.app.cli.console import Report, echo, progress, say
from bioqa.app.cli.options import IndexOption, MedlineFiles, SeedOption, no_stream
from bioqa.app.cli.preparing import VocabularyOption, preparing, vocabulary_of
from bioqa.app.cli.rankers import fit_scale_of
from bioqa.app.reports.tables import markdown
from bioqa.app.settings import Settings, load_settings
from bioqa.bioasq.domain import Document
from bioqa.indexer.loading.run import require_files
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.medline.reader import read
from bioqa.models.bundled import DEFAULT
from bioqa.system.errors import BioqaError

if TYPE_CHECKING:
    from bioqa.models.cascade.fitting import FittingProgress
    from bioqa.models.cascade.training import CascadePlan
    from bioqa.models.training.further import FurtherTraining
    from bioqa.models.training.loop import Epoch

TrainOption = Annotated[
    Path, typer.Option("--train", help="Golden file with training questions.", show_default=False)
]
DevOption = Annotated[
    Path,
    typer.Option("--dev", help="Golden file for early stopping and calibration.", show_default=False),
]


def vocabulary(
    files: MedlineFiles,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", callback=no_stream, help="Folder to write.", show_default=False
        ),
    ],
    dimensions: Annotated[int, typer.Option(min=1, help="Length of the word vectors.")] = 30,
    min_count: Annotated[int, typer.Option(min=1, help="Rarer words are excluded.")] = 5,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|NAME",
            help="A BERT-like encoder; its word pieces get vectors too, for the soft features.",
        ),
    ] = None,
    piece_dimensions: Annotated[int, typer.Option(min=1, help="Length of the word pieces' vectors.")] = 64,
    seed: SeedOption = 1,
) -> None:
    """Build a vocabulary from MEDLINE files: word vectors and document frequencies."""
    from bioqa.models.text.vocabulary import Vocabulary

    require_files(files)
    with progress("reading", len(files)) as report:
        built = Vocabulary.build(
            _documents(files, report), dimensions=dimensions, min_count=min_count, seed=seed
        )
    if encoder is not None:
        from bioqa.models.training.pieces import distil

        with progress("word pieces", len(files)) as report:
            pieces = distil(encoder, _documents(files, report), dimensions=piece_dimensions)
        built = replace(built, pieces=pieces)
    try:
        output.mkdir(parents=True, exist_ok=True)
        built.save(output)
    except OSError as error:
        raise BioqaError(f"{output}: cannot be written: {error.strerror or error}") from error
    say(f"{output}: {len(built.words)} words")


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
    architecture: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE|ARCHITECTURE",
            help="What ships: soft, deep, bm25; or one of the registry: jpdrmm, features, …",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            callback=no_stream,
            help="The checkpoint to write.",
            show_default=False,
        ),
    ],
    golden: Annotated[
        list[Path] | None,
        typer.Option(
            help="Golden file; can be repeated. Without --dev, a fifth of the questions is held out for it."
        ),
    ] = None,
    train: Annotated[
        Path | None, typer.Option("--train", help="Golden file with training questions.")
    ] = None,
    dev: Annotated[
        Path | None, typer.Option("--dev", help="Golden file for early stopping and calibration.")
    ] = None,
    index: IndexOption = None,
    vocabulary: VocabularyOption = None,
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the ranker; can be repeated."),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|NAME", help="Encoder of deep, BERT, JBERT or BJPDRMM: folder, package or hub name."
        ),
    ] = None,
    states: Annotated[
        Path | None,
        typer.Option(metavar="DIR", callback=no_stream, help="Folder for cached states of a frozen encoder."),
    ] = None,
    device: Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu or cuda.")] = "auto",
    seed: SeedOption = 1,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="soft: write what was trained even if it does not beat soft.")
    ] = False,
    from_scratch: Annotated[
        bool,
        typer.Option("--from-scratch", help="soft: begin with random weights; takes hundreds of questions."),
    ] = False,
) -> None:
    """Train a ranker; the checkpoint holds its settings, training data, scores and learning curve.

    soft is trained further from what ships; OUTPUT is a copy of that if it is not beaten.

    After an interruption, the same command resumes the training of a ranker over an encoder.
    """
    from bioqa.models.rankers.settings import RankerSettingsError
    from bioqa.models.training import recipes
    from bioqa.models.training.files import TrainingPlan, parse_settings, train_ranker

    changes = parse_settings(set or [])
    if (anyway or from_scratch) and architecture != DEFAULT:
        raise BioqaError(f"--anyway and --from-scratch are for {DEFAULT}, which alone is trained further")
    if anyway and from_scratch:
        raise BioqaError("--anyway and --from-scratch: choose one")
    if architecture == DEFAULT and not from_scratch:
        if not golden or any((train, dev, vocabulary, encoder, states)):
            raise BioqaError(
                f"{DEFAULT} is trained further, on --golden alone; "
                "--train, --dev, --vocabulary, --encoder and --states need --from-scratch"
            )
        _train_further(golden, output, changes, index, device, seed, anyway)
        return
    if architecture == recipes.BASELINE:
        if changes or encoder is not None:
            raise RankerSettingsError("bm25 has neither settings to change nor an encoder")
        _train_baseline(golden or [], dev, output, index, vocabulary)
        return
    if architecture == recipes.DEEP:
        if encoder is None:
            raise RankerSettingsError("deep reads through an encoder: name one (--encoder)")
        files = _files(golden or [], train, dev, output, seed)
        _train_deep(encoder, files, output, changes, index, device, seed)
        return
    of_encoder = {} if encoder is None else {"encoder": encoder}
    settings = recipes.recipe_settings(architecture, **changes, **of_encoder)
    train, dev = _files(golden or [], train, dev, output, seed)
    plan = TrainingPlan(
        settings,
        train,
        dev,
        output,
        seed=seed,
        vocabulary=vocabulary_of(vocabulary),
        device=device,
        states=states,
    )
    opened = open_index(load_settings(index=index))
    with preparing() as report:
        trained = train_ranker(plan, opened, preparing=report, progress=_say_epoch)
    _say_scores(output, trained.scores)


def _train_further(
    golden: Sequence[Path],
    output: Path,
    changes: Mapping[str, Any],
    index: str | None,
    device: str,
    seed: int,
    anyway: bool,
) -> None:
    from bioqa.models.training.files import FurtherPlan, train_further_from_files

    plan = FurtherPlan(golden, output, changes, seed, anyway, device=device)
    opened = open_index(load_settings(index=index))
    with preparing() as report:
        result = train_further_from_files(plan, opened, preparing=report, progress=say)
    trained = result.trained
    echo(further_table(trained))
    outcome = "beats" if trained.is_better else "does not beat"
    say(f"what was trained {outcome} {plan.start} beyond chance on held-out questions")
    start_over_baseline = trained.over_baseline.value - trained.over_start.value
    if max(start_over_baseline, trained.over_baseline.value) < 0:
        say("BM25 is better than both on these questions: `bioqa train bm25` tunes it on them")
    if result.wrote_trained:
        say(f"{output}: what was trained")
    else:
        say(f"{output}: a copy of {plan.start} (--anyway writes what was trained)")


def further_table(trained: "FurtherTraining") -> str:
    """What was trained, its start and BM25 on held-out questions, with differences from the start."""
    from bioqa.models.training.further import BASELINE, CONFIDENCE, START, TRAINED

    names = {START: "shipped", TRAINED: "trained further", BASELINE: "BM25"}
    lines = [["", "questions", "MAP of documents", "difference", "F1 of snippets", "difference"]]
    for system in trained.comparison.systems:
        cells = [names[system.name], str(len(trained.comparison.golden))]
        for measure in ("map_documents", "mf1_snippets"):
            score, difference = system.score(measure), system.difference(measure)
            cells.append("" if score is None else f"{score.value:.3f}")
            cells.append(
                ""
                if difference is None
                else f"{difference.value:+.3f} ({difference.low:+.3f} to {difference.high:+.3f})"
            )
        lines.append(cells)
    gain = trained.over_start
    said = (
        f"Mean of both, trained further: {gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f}). "
        f"This interval decides; it is of {CONFIDENCE:.0%}, those of the table are of 95%."
    )
    return f"{markdown(lines)}\n\n{said}"


def _train_baseline(
    golden: Sequence[Path], dev: Path | None, output: Path, index: str | None, vocabulary: Path | None
) -> None:
    """Nothing is trained, so all questions are there to tune on."""
    from bioqa.models.training.files import train_baseline
    from bioqa.models.training.recipes import split_golden

    if dev is None and not golden:
        raise BioqaError("name the questions to tune on: --golden or --dev")
    if dev is None:
        dev = golden[0]
        if len(golden) > 1:
            dev, _ = split_golden(golden, _questions_folder(output), dev=False)
    opened = open_index(load_settings(index=index))
    with preparing() as report:
        scores = train_baseline(dev, opened, output, vocabulary_of(vocabulary), report)
    _say_scores(output, scores)


def _say_scores(output: Path, scores: Mapping[str, Any]) -> None:
    said = ", ".join(f"{name} {value:.4f}" for name, value in scores.items() if isinstance(value, float))
    say(f"{output}: {said}")


def _questions_folder(output: Path) -> Path:
    """Where the questions are written that several files were joined to, or that one was split into."""
    return output.with_name(output.name + ".questions")


def _files(
    golden: Sequence[Path], train: Path | None, dev: Path | None, output: Path, seed: int
) -> tuple[Path, Path]:
    """The files to train on and to tune on; what was split is written beside the output."""
    from bioqa.models.training.recipes import split_golden

    if golden and train is not None:
        raise BioqaError("--golden and --train are one too many")
    if not golden and (train is None or dev is None):
        raise BioqaError("name the questions to learn from: --golden, or --train and --dev")
    if train is not None and dev is not None:
        return train, dev
    if dev is not None and len(golden) == 1:
        return golden[0], dev
    learned_from, held_out = split_golden(golden, _questions_folder(output), seed, dev=dev is None)
    if dev is None:
        say(f"a fifth of the questions is held out for tuning: {held_out}")
    return learned_from, dev or held_out


def _train_deep(
    encoder: str,
    files: tuple[Path, Path],
    output: Path,
    changes: dict[str, Any],
    index: str | None,
    device: str,
    seed: int,
) -> None:
    """The cascade's recipe; its scale is fitted on all questions of dev."""
    from bioqa.models.cascade import training
    from bioqa.models.cascade.fitting import CrossSettings
    from bioqa.models.rankers.settings import RankerSettingsError

    settings = load_settings(index=index, ranker=str(output), device=device)
    try:
        of_encoder = CrossSettings(**{"seed": seed, **changes})
    except TypeError as error:
        names = ", ".join(field.name for field in fields(CrossSettings))
        raise RankerSettingsError(f"--set: a deep ranker's settings are {names} ({error})") from error
    plan = training.CascadePlan(
        DEFAULT,
        encoder,
        *files,
        output,
        of_encoder,
        training.Tuning(budget_ms=settings.ranker_budget_ms),
        device=device,
    )
    _train_cascade(plan, settings)


def train_cascade(
    encoder: Annotated[
        str, typer.Argument(help="A BERT-like encoder: folder, package or hub name.", show_default=False)
    ],
    train: TrainOption,
    dev: DevOption,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            callback=no_stream,
            help="The cascade to write.",
            show_default=False,
        ),
    ],
    index: IndexOption = None,
    first: Annotated[str, typer.Option(help="The ranker of all candidates: name or folder.")] = DEFAULT,
    frozen_layers: Annotated[
        int, typer.Option(min=0, help="Number of lower layers that are not trained.")
    ] = 3,
    minutes: Annotated[float | None, typer.Option(min=1, help="Time limit of training.")] = None,
    dev_questions: Annotated[
        int, typer.Option(min=1, help="Size of the random sample of dev for tuning.")
    ] = 100,
    device: Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu or cuda.")] = "auto",
    sentences: Annotated[
        int, typer.Option(min=0, help="Read the N most promising sentences of a document; 0: all.")
    ] = 0,
    half_precision: Annotated[
        bool, typer.Option("--half-precision", help="Read in bfloat16 on a CPU too.")
    ] = False,
    seed: SeedOption = 1,
) -> None:
    """Train a cascade: a cheap ranker, and an encoder fine-tuned on gold documents' sentences.

    After an interruption, the same command resumes.
    """
    from bioqa.models.cascade import training
    from bioqa.models.cascade.fitting import CrossSettings

    settings = load_settings(index=index)
    plan = training.CascadePlan(
        first,
        encoder,
        train,
        dev,
        output,
        CrossSettings(
            frozen_layers=frozen_layers, seed=seed, minutes=math.inf if minutes is None else minutes
        ),
        training.Tuning(settings.ranker_budget_ms, sentences=sentences, half_precision=half_precision),
        dev_questions=dev_questions,
        device=device,
    )
    _train_cascade(plan, settings.model_copy(update={"ranker": str(output), "device": device}))


def _train_cascade(plan: "CascadePlan", settings: Settings) -> None:
    from bioqa.models.cascade.training import train_cascade

    with preparing() as report:
        trained = train_cascade(
            plan, open_index(settings), preparing=report, progress=_say_progress(time.monotonic)
        )
    scores = ", ".join(f"{name} {value:.4f}" for name, value in trained.record["scores"].items())
    say(f"{plan.output}: {scores}")
    fit_scale_of(plan.output, plan.dev, settings)


def _say_epoch(epoch: "Epoch") -> None:
    scores = ", ".join(f"{name} {value:.4f}" for name, value in epoch.scores.items())
    say(f"epoch {epoch.number}: loss {epoch.loss:.4f}, {scores} ({epoch.seconds:.0f} s)")


def _say_progress(clock: Callable[[], float], every_s: float = 20.0) -> "Callable[[FittingProgress], None]":
    """Report progress, at most every ``every_s`` seconds."""
    last = -every_s

    def report(progress: "FittingProgress") -> None:
        nonlocal last
        if clock() - last >= every_s:
            last = clock()
            say(f"{progress.questions}/{progress.of} questions: loss {progress.loss:.4f}")

    return report
