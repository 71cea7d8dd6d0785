"""Commands on rankers that are made: show one, fit its scale, measure how far that can be relied on."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bioqa.app.answers.answering import Ranker
from bioqa.app.answers.opening import load_ranker, open_index
from bioqa.app.cli.console import out, print_json, progress, say
from bioqa.app.cli.options import CandidatesOption, DeviceOption, IndexOption, JsonOption, no_stream
from bioqa.app.settings import Settings, load_settings
from bioqa.bioasq.domain import Candidate, Response
from bioqa.bioasq.files import read_golden
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.medline.reader import read
from bioqa.models import bundled
from bioqa.models.config import NAME, read_config, write_config
from bioqa.models.folders import put_back
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import write_bytes

if TYPE_CHECKING:
    from bioqa.models.answers.ranking import Ranking
    from bioqa.models.answers.reliability import Judged, Reliability
    from bioqa.models.answers.scale import Curve

SHOWN_SCORES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Probabilities whose scores are shown of a scale."""

rankers = typer.Typer(
    no_args_is_help=True, help="Show rankers, fit what their scores mean, measure how reliable that is."
)

RankerArgument = Annotated[
    str, typer.Argument(metavar="DIR|NAME", help="A checkpoint's folder, or a bundled ranker's name.")
]
SvgOption = Annotated[
    Path | None, typer.Option("--svg", metavar="FILE", callback=no_stream, help="Draw it into this file too.")
]


@rankers.command()
def show(ranker: RankerArgument, svg: SvgOption = None, json: JsonOption = False) -> None:
    """Show a ranker's settings, training data, scores, learning curve and scale."""
    folder = folder_of(ranker)
    config = read_config(folder)
    if svg is not None:
        _draw_curve(config, folder.name, svg)
    if json:
        hidden = ("scaling", "document_features", "sentence_features")
        print_json({name: value for name, value in config.items() if name not in hidden})
        return
    for line in describe(config, folder.name):
        out.print(line, soft_wrap=True)


@rankers.command()
def calibrate(
    ranker: RankerArgument,
    dev: Annotated[Path, typer.Option("--dev", help="Golden file to fit on.", show_default=False)],
    index: IndexOption = None,
    candidates: CandidatesOption = None,
    device: DeviceOption = None,
) -> None:
    """Fit what a ranker's scores mean, as probabilities, which snippets are weak, and how much it counts that
    documents agree, and write it into the ranker's config.json.

    The order of documents stays as it is. The ranker's hash changes with how much agreement counts.
    """
    folder = folder_of(ranker)
    settings = load_settings(index=index, ranker=str(folder), candidates=candidates, device=device)
    fit_scale_of(folder, dev, settings)


@rankers.command()
def reliability(
    ranker: RankerArgument,
    golden: Annotated[
        Path, typer.Option("--golden", help="Golden file that it was not fitted on.", show_default=False)
    ],
    index: IndexOption = None,
    candidates: CandidatesOption = None,
    device: DeviceOption = None,
    svg: SvgOption = None,
    json: JsonOption = False,
) -> None:
    """Measure how a ranker's probabilities agree with gold: a diagram, and the expected calibration error."""
    settings = load_settings(index=index, ranker=ranker, candidates=candidates, device=device)
    loaded = load_ranker(settings)
    scale = loaded.scale
    if scale is None:
        raise BioqaError(f"{ranker}: its scores are no probabilities yet: `bioqa ranker calibrate` it")
    documents, sentences = _judge(loaded, golden, settings)
    reliability = {
        name: _reliability(curve, judged, shown)
        for unit, curve, judged in (
            ("documents", scale.documents, documents),
            ("sentences", scale.sentences, sentences),
        )
        for name, shown in ((f"{unit} of answers", True), (f"{unit} of candidates", False))
    }
    if svg is not None:
        from bioqa.app.reports.panels import reliability_diagrams

        title = f"Reliability of {loaded.name} on {golden.name}"
        write_bytes(svg, reliability_diagrams(title, reliability).encode())
    if json:
        print_json({name: _as_dict(figures) for name, figures in reliability.items()})
        return
    for name, figures in reliability.items():
        out.print(f"{loaded.name}, {name}: expected calibration error {figures.error:.4f}")
        for bin in figures.bins:
            out.print(f"  {bin.count:6} at {bin.predicted:.3f}: {bin.observed:.3f} relevant")


@rankers.command()
def tune(
    ranker: Annotated[str, typer.Argument(metavar="DIR|NAME", help="A cascade.")] = "deep",
) -> None:
    """Measure how fast this machine reads, so that a cascade keeps its budget; kept in the user's cache.

    Measured with the threads of one question at the command line (BIOQA_TORCH_THREADS), and with those of one
    in the service, whose ranking processes share them. The service takes a new speed when it starts.
    """
    import torch

    from bioqa.models.cascade import files as cascade_files
    from bioqa.models.cascade.speed import best_speed, keep

    settings = load_settings()
    folder = cascade_files.folder_of(ranker)
    if folder is None:
        raise BioqaError(f"{ranker}: not a cascade, so it has no budget that could be tuned")
    stored = cascade_files.load(folder, device="cpu", as_stored=True)
    sample = _sample_questions()
    counts = {settings.threads(encoder=True, processes=n) for n in (1, settings.ranking_processes)}
    for threads in sorted(counts):
        torch.set_num_threads(threads)
        speed = best_speed(lambda: cascade_files.load(folder, device="cpu", as_stored=True), sample)
        path = keep(stored.fingerprint, speed)
        precision = "bfloat16" if speed.half_precision else "single precision"
        out.print(
            f"{threads} thread{'s' * (threads > 1)}: {1000 * speed.pieces_per_ms:,.0f} word pieces a second "
            f"in {precision}; {speed.pieces(settings.ranker_budget_ms):,} in {settings.ranker_budget_ms:g} ms"
        )
    say(f"kept in {path}")


def _sample_questions() -> list[tuple[str, list[Candidate]]]:
    """Questions of the bundled sample with all of its citations as candidates."""
    sample = files("bioqa.app") / "sample"
    with as_file(sample / "medline.xml") as citations, as_file(sample / "questions.json") as questions:
        documents = [event.document for event in read(citations) if isinstance(event, Upsert)]
        bodies = [response.question.body for response in read_golden(questions).responses]
    return [(body, [Candidate(document, 1.0) for document in documents[:100]]) for body in bodies[:5]]


def fit_scale_of(folder: Path, dev: Path, settings: Settings) -> None:
    """Fit how much agreement counts, and the scale, of the ranker that ``settings`` name, which lies in this
    folder, and store both there."""
    from bioqa.models.answers.reliability import fit_scale, judged_documents, judged_sentences
    from bioqa.models.answers.weak import fit_agreement
    from bioqa.models.training.files import file_fingerprint

    loaded = load_ranker(settings)
    responses = _questions(dev)
    rankings = _rankings(loaded, responses, settings)
    calibration = fit_agreement(rankings, responses, loaded.calibration)
    scale = fit_scale(rankings, responses, calibration)
    if scale is None:
        raise BioqaError(
            f"{dev}: no scale fits: all documents of its answers, or all sentences, are relevant, or none is"
        )
    documents = judged_documents(rankings, responses)
    sentences = judged_sentences(rankings, responses, calibration)
    pairs = ("documents", scale.documents, documents), ("sentences", scale.sentences, sentences)
    errors = [f"{unit} {_reliability(curve, judged, True).error:.4f}" for unit, curve, judged in pairs]
    config = read_config(folder)
    training = {**config.get("training", {}), "scale": file_fingerprint(dev)}
    config |= {"calibration": asdict(calibration), "scale": scale.as_dict(), "training": training}
    write_config(folder, config)
    say(f"{folder}: scale fitted; expected calibration error of answers on {dev.name}: {', '.join(errors)}")


def _judge(loaded: Ranker, golden: Path, settings: Settings) -> tuple["Judged", "Judged"]:
    from bioqa.models.answers.reliability import judged_documents, judged_sentences

    responses = _questions(golden)
    rankings = _rankings(loaded, responses, settings)
    return judged_documents(rankings, responses), judged_sentences(rankings, responses, loaded.calibration)


def _questions(golden: Path) -> Sequence[Response]:
    responses = read_golden(golden).responses
    if not responses:
        raise BioqaError(f"{golden}: no questions")
    return responses


def _rankings(loaded: Ranker, responses: Sequence[Response], settings: Settings) -> list["Ranking"]:
    rankings = []
    index = open_index(settings)
    with progress("ranking", len(responses)) as report:
        for done, response in enumerate(responses, start=1):
            body = response.question.body.strip()
            rankings.append(loaded.rank(body, index.search(body, settings.candidates)))
            report(done, f"{done}/{len(responses)} questions")
    return rankings


def _reliability(curve: "Curve", judged: "Judged", shown: bool) -> "Reliability":
    from bioqa.models.answers import reliability as measuring

    return measuring.reliability(curve, judged, shown=shown)


def _as_dict(reliability: "Reliability") -> dict[str, Any]:
    return {
        "expected_calibration_error": reliability.error,
        "bins": [asdict(bin) for bin in reliability.bins],
    }


def folder_of(name_or_folder: str) -> Path:
    """The folder of a ranker of any kind. Raises BioqaError if there is none."""
    folder = bundled.folder_of(name_or_folder)
    put_back(folder)
    if not (folder / NAME).is_file():
        names = ", ".join(bundled.available())
        raise BioqaError(
            f"no ranker {name_or_folder!r}: neither a checkpoint's folder nor one of those bundled ({names})"
        )
    return folder


def describe(config: Mapping[str, Any], name: str) -> list[str]:
    """What `bioqa ranker show` prints, line by line."""
    lines = [f"{name} ({config.get('kind', config.get('settings', {}).get('ranker', 'ranker'))})"]
    for heading, part in (
        ("Settings", "settings"),
        ("Combination", "combination"),
        ("Speed", "speed"),
        ("Training", "training"),
        ("Scores on dev", "scores"),
        ("Selection", "calibration"),
    ):
        values = config.get(part)
        if isinstance(values, dict) and values:
            lines += ["", heading, *(f"  {key}: {_value(value)}" for key, value in values.items())]
    return [*lines, "", "Learning curve", *_curve_lines(config), "", "Scale", *_scale_lines(config)]


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value(part)}" for key, part in value.items())
    return str(value)


def curve_series(config: Mapping[str, Any]) -> tuple[str, dict[str, list[tuple[float, float]]]]:
    """The axis (epochs, or questions seen), and the points of each thing that was measured.

    Raises BioqaError for other content.
    """
    points = config.get("curve", [])
    try:
        axis = next((name for name in ("epoch", "questions", "step") if points and name in points[0]), "")
        names = list(dict.fromkeys(key for point in points for key in point))
        series = {
            name: [(float(point[axis]), float(point[name])) for point in points if name in point]
            for name in names
            if name not in (axis, "seconds")
        }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BioqaError(f"its learning curve is no list of points: {error!r}") from error
    return axis, series


def _curve_lines(config: Mapping[str, Any]) -> list[str]:
    from bioqa.app.cli.charts import text_chart

    axis, series = curve_series(config)
    if not series:
        return ["  none was kept"]
    lines = []
    for name, points in series.items():
        lines += [f"  {name} by {axis}", *(f"  {line}" for line in text_chart(points))]
    return lines


def _draw_curve(config: Mapping[str, Any], name: str, svg: Path) -> None:
    from bioqa.app.reports.panels import learning_curves

    axis, series = curve_series(config)
    if not series:
        raise BioqaError(f"{name}: no learning curve was kept, so there is nothing to draw")
    write_bytes(svg, learning_curves(f"Learning curve of {name}", axis, series).encode())


def _scale_lines(config: Mapping[str, Any]) -> list[str]:
    from bioqa.models.answers.scale import Scale

    try:
        scale = Scale.from_dict(config.get("scale"))
    except ValueError as error:
        raise BioqaError(str(error)) from error
    if scale is None:
        return ["  none: scores are comparable within one answer only; see `bioqa ranker calibrate`"]
    lines = ["  probability" + "".join(f"{p:>9.0%}" for p in SHOWN_SCORES)]
    for unit, curve in (("document's score", scale.documents), ("sentence's log-weight", scale.sentences)):
        scores = "".join(f"{curve.score_of(p):9.2f}" for p in SHOWN_SCORES)
        lines.append(f"  {unit:>11}" + scores)
    return lines
