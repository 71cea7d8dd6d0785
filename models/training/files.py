"""Training a ranker from files, as the command line does it."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bioqa.bioasq.domain import Response
from bioqa.bioasq.files import read_golden
from bioqa.models import bundled
from bioqa.models.answers import baseline
from bioqa.models.bundled import DEFAULT, WEIGHTS, available
from bioqa.models.checkpoint import Checkpoint, fingerprint, load, load_vocabulary, save
from bioqa.models.encoders.cache import StateCache
from bioqa.models.rankers.registry import load_encoder
from bioqa.models.rankers.settings import RankerSettings, RankerSettingsError
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.baseline import make_baseline
from bioqa.models.training.data import Prepared, Searcher, prepare
from bioqa.models.training.further import FurtherTraining, further_settings, is_usable, train_further
from bioqa.models.training.loop import Epoch
from bioqa.models.training.state import state_path
from bioqa.models.training.train import TrainingData, make_checkpoint
from bioqa.system.errors import BioqaError

Preparing = Callable[[str, int, int], None]
"""Called with the file's name, the number of prepared questions, and the number of all."""


def bundled_vocabulary() -> Vocabulary:
    """The vocabulary of the default ranker."""
    if DEFAULT not in available():
        raise BioqaError("no vocabulary is bundled: make one with `bioqa vocabulary` and name it")
    return load_vocabulary(WEIGHTS / DEFAULT)


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """Parse ``NAME=VALUE`` settings; a value is JSON or else text. Raises RankerSettingsError."""
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise RankerSettingsError(f"{pair!r} is not NAME=VALUE")
        try:
            settings[name] = json.loads(value)
        except json.JSONDecodeError:
            settings[name] = value
    return settings


def prepare_file(
    index: Searcher,
    path: Path,
    vocabulary: Vocabulary,
    progress: Preparing = lambda name, done, total: None,
) -> list[Prepared]:
    """Prepare a golden file's questions. Raises BioqaError if the index has none of their gold documents."""
    responses = read_golden(path).responses
    prepared = prepare(
        index, responses, vocabulary, progress=lambda done, total: progress(path.name, done, total)
    )
    if not any(len(question.gold.tokens) for question in prepared):
        raise BioqaError(f"{path}: the index holds none of its questions' gold documents")
    return prepared


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """What is trained, on what, and where it is written."""

    settings: RankerSettings
    train: Path
    dev: Path
    output: Path
    seed: int = 1
    vocabulary: Vocabulary | None = None
    """None: the default ranker's."""
    device: str = "auto"
    """As for bioqa.models.rankers.registry.build."""
    states: Path | None = None
    """Folder for a frozen encoder's states; None: ``OUTPUT.states``."""


def train_ranker(
    plan: TrainingPlan,
    index: Searcher,
    *,
    preparing: Preparing = lambda name, done, total: None,
    progress: Callable[[Epoch], None] = lambda epoch: None,
) -> Checkpoint:
    """Train a ranker, write it to ``plan.output`` and return it.

    An interrupted training of a ranker over an encoder resumes after its last whole epoch; its state is kept
    beside the output. Raises RankerSettingsError before anything is read, and EncoderError.
    """
    settings, output = plan.settings, plan.output
    reading = settings.reading
    vocabulary = plan.vocabulary or bundled_vocabulary()
    if vocabulary.vectors.shape[1] != reading.dimensions:
        raise RankerSettingsError(
            f"dimensions {reading.dimensions}: the vocabulary's vectors have {vocabulary.vectors.shape[1]}"
        )
    if reading.features == "soft" and vocabulary.pieces is None:
        raise RankerSettingsError(
            "features 'soft': the vocabulary has no word pieces; make one with --encoder"
        )
    if reading.features != "soft":
        # Features of word pieces would only cost time, and the pieces would be copied.
        vocabulary = replace(vocabulary, pieces=None)
    encoder = load_encoder(settings, plan.device)
    questions = (prepare_file(index, path, vocabulary, preparing) for path in (plan.train, plan.dev))
    data = TrainingData(vocabulary, *questions)
    state = None
    if encoder is not None:
        kept = plan.states or output.with_name(output.name + ".states")
        encoder.cache = StateCache(kept, encoder.fingerprint, encoder.width)
        state = state_path(output)
    try:
        ranker = make_checkpoint(
            settings,
            data,
            seed=plan.seed,
            record={"train": file_fingerprint(plan.train), "dev": file_fingerprint(plan.dev)},
            encoder=encoder,
            progress=progress,
            state=state,
            device=plan.device,
        )
    finally:
        # Also after a failure: an open cache is locked, and this process may train again.
        if encoder is not None and encoder.cache is not None:
            encoder.cache.close()
            encoder.cache = None
    save(ranker, output)
    if state is not None:
        state.unlink(missing_ok=True)
    return ranker


@dataclass(frozen=True, slots=True)
class FurtherPlan:
    """A bundled ranker is trained further on these questions."""

    golden: Sequence[Path]
    output: Path
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the training."""
    seed: int = 1
    anyway: bool = False
    """Write what was trained even if it does not beat the start."""
    start: str = DEFAULT
    device: str = "auto"


@dataclass(frozen=True, slots=True)
class FurtherResult:
    trained: FurtherTraining
    wrote_trained: bool
    """Otherwise the output holds the start."""


def train_further_from_files(
    plan: FurtherPlan,
    index: Searcher,
    *,
    preparing: Preparing = lambda name, done, total: None,
    progress: Callable[[str], None] = lambda said: None,
) -> FurtherResult:
    """Train a bundled ranker further, and write what was trained if it is better, or else the start.

    ``progress``: called with what is wrong with the questions, and with each step. Raises RankerSettingsError
    before anything is read, and BioqaError for too few questions; then nothing is written.
    """
    folder = bundled.folder_of(plan.start)
    start = load(folder, device=plan.device)
    further_settings(start.settings, plan.changes)
    for remark in _learned_from(start.training, plan.golden, plan.start):
        progress(remark)
    responses = _join([read_golden(path).responses for path in plan.golden])
    name = plan.golden[0].name
    questions = prepare(
        index, responses, start.vocabulary, progress=lambda done, total: preparing(name, done, total)
    )
    for remark in shortfalls(questions):
        progress(remark)
    origin = {"name": plan.start, "fingerprint": fingerprint(folder)}
    record = {"start": origin, "golden": [file_fingerprint(path) for path in plan.golden], "seed": plan.seed}
    trained = train_further(
        start,
        baseline.load(bundled.folder_of("bm25")),
        questions,
        changes=plan.changes,
        seed=plan.seed,
        record=record,
        progress=progress,
    )
    write_trained = trained.is_better or plan.anyway
    if write_trained:
        save(trained.checkpoint, plan.output)
    else:
        save(replace(start, training=start.training | {"copied": origin}), plan.output)
    return FurtherResult(trained, write_trained)


def _join(files: Sequence[Sequence[Response]]) -> list[Response]:
    """The questions of all files; of those with one id, the first."""
    joined: dict[str, Response] = {}
    for responses in files:
        for response in responses:
            joined.setdefault(response.question.id, response)
    return list(joined.values())


def _learned_from(training: Mapping[str, Any], golden: Sequence[Path], start: str) -> Iterator[str]:
    """The start's record has fingerprints of whole files only, so single questions are not recognised."""
    fingerprints = {
        part["sha256"] for part in training.values() if isinstance(part, Mapping) and "sha256" in part
    }
    for path in golden:
        if file_fingerprint(path)["sha256"] in fingerprints:
            yield (
                f"{path}: {start} was trained or tuned on this file, so its scores on these questions are "
                "too high, and what is trained further can hardly beat them"
            )


def shortfalls(questions: Sequence[Prepared]) -> Iterator[str]:
    """What keeps questions from being learned from or measured, in words."""
    count = len(questions)
    if absent := sum(not is_usable(question) for question in questions):
        yield f"questions left out because the index holds none of their gold documents: {absent} of {count}"
    usable = [question for question in questions if is_usable(question)]
    if lacking := sum(len(q.gold.candidates) < len({*q.response.documents}) for q in usable):
        documents = sum(len({*q.response.documents}) - len(q.gold.candidates) for q in usable)
        yield f"questions of whose gold documents the index lacks some: {lacking} (documents: {documents})"
    if without := sum(not question.response.snippets for question in usable):
        yield f"questions without snippets, which count in MAP but teach nothing: {without}"


def train_baseline(
    dev: Path,
    index: Searcher,
    output: Path,
    vocabulary: Vocabulary | None = None,
    preparing: Preparing = lambda name, done, total: None,
) -> dict[str, Any]:
    """Tune BM25 on dev, write it to ``output`` as a ranker, and return its scores on dev."""
    # Features of word pieces take most of the time, and are not used.
    words = replace(vocabulary or bundled_vocabulary(), pieces=None)
    questions = prepare_file(index, dev, words, preparing)
    checkpoint = make_baseline(questions, words, {"dev": file_fingerprint(dev)})
    baseline.save(checkpoint, output)
    return dict(checkpoint.record["scores"])


def file_fingerprint(path: Path) -> dict[str, Any]:
    """A training file's name, size and SHA-256, for a checkpoint's record."""
    content = path.read_bytes()
    return {"file": path.name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
