"""Training a ranker from files, as the command line does it."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bioqa.bioasq.files import read_golden
from bioqa.models.answers import baseline
from bioqa.models.bundled import DEFAULT, WEIGHTS, available
from bioqa.models.checkpoint import Checkpoint, load_vocabulary, save
from bioqa.models.encoders.cache import StateCache
from bioqa.models.rankers.registry import load_encoder
from bioqa.models.rankers.settings import RankerSettings, RankerSettingsError
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.baseline import make_baseline
from bioqa.models.training.data import Prepared, Searcher, prepare
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
    """Parse ``NAME=VALUE`` settings; a value is JSON or else text. Raises SettingsError."""
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
    beside the output. Raises SettingsError before anything is read, and EncoderError.
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
    made = make_baseline(questions, words, {"dev": file_fingerprint(dev)})
    baseline.save(made, output)
    return dict(made.record["scores"])


def file_fingerprint(path: Path) -> dict[str, Any]:
    """A training file's name, size and SHA-256, for a checkpoint's record."""
    content = path.read_bytes()
    return {"file": path.name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
