"""From questions with gold to a checkpoint: train, calibrate, measure."""

import hashlib
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from bioqa.models.answers.calibration import calibrate
from bioqa.models.answers.evaluation import measure
from bioqa.models.answers.reliability import fit_scale
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.features.extractor import Scaling
from bioqa.models.rankers.registry import build, reader_for
from bioqa.models.rankers.settings import RankerSettings
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.data import Prepared, RankerInputs, fingerprint, scaling_of
from bioqa.models.training.development import Development, rankings_of
from bioqa.models.training.loop import Epoch, fit
from bioqa.models.training.pairs import TrainingQuestion, TrainingSet
from bioqa.models.training.state import Identity, StateFile


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Prepared questions, and the vocabulary that they were prepared with."""

    vocabulary: Vocabulary
    train: Sequence[Prepared]
    dev: Sequence[Prepared]


@dataclass(frozen=True, slots=True)
class Trained:
    model: nn.Module
    epochs: Sequence[Epoch]

    @property
    def best(self) -> Epoch:
        return max(self.epochs, key=lambda epoch: epoch.score)


def train_model(
    inputs: RankerInputs,
    train: Sequence[Prepared],
    development: Development,
    *,
    seed: int,
    progress: Callable[[Epoch], None] = lambda epoch: None,
    state: Path | None = None,
    device: str = "auto",
) -> Trained:
    """Train one ranker from one seed; one that has nothing to learn is only measured.

    The encoder, if there is one, is the reader's, and fine-tuning changes it. ``state``: a file in which
    every epoch is saved, and from which an interrupted training of the same data, settings, seed and encoder
    resumes. ``device``: as for bioqa.models.rankers.registry.build.
    """
    settings, vocabulary, reader = inputs.settings, inputs.vocabulary, inputs.reader
    kept = None if state is None else StateFile(state, _identity(inputs, train, development, seed))
    # Weights are drawn from torch's generator; so is dropout, while an encoder is fine-tuned.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = None if reader is None else reader.encoder
        model = build(settings, torch.from_numpy(vocabulary.vectors), encoder, device=device)
        if settings.training is None:
            return Trained(model, [_measure_once(model, development)])
        questions = [training_question(question, inputs) for question in train]
        learned = TrainingSet(questions, vocabulary)
        epochs = fit(model, settings, learned, development.measure, seed, progress, state=kept)
    return Trained(model, epochs)


def _measure_once(model: nn.Module, development: Development) -> Epoch:
    """In place of epochs, for a ranker that has nothing to learn."""
    begun = time.monotonic()
    scores, score = development.measure(model)
    return Epoch(0, 0.0, scores, score, time.monotonic() - begun)


def _identity(
    inputs: RankerInputs, train: Sequence[Prepared], development: Development, seed: int
) -> Identity:
    encoder = None if inputs.reader is None else inputs.reader.encoder.fingerprint
    return {
        **inputs.settings.as_dict(),
        # Its fingerprint rather than its name: the same encoder may be opened by another path.
        "encoder": encoder,
        "seed": seed,
        "vocabulary": inputs.vocabulary.fingerprint,
        "scaling of features": _scaling_fingerprint(inputs.scaling),
        "training questions": fingerprint(train),
        "development questions": fingerprint(development.questions),
    }


def _scaling_fingerprint(scaling: Scaling) -> str:
    arrays = (getattr(scaling, name) for name in Scaling.__dataclass_fields__)
    return hashlib.sha256(b"".join(np.round(array, 4).tobytes() for array in arrays)).hexdigest()


def training_question(prepared: Prepared, inputs: RankerInputs) -> TrainingQuestion:
    pool = prepared.retrieved
    return TrainingQuestion(
        inputs.example(prepared, pool),
        pool.relevant,
        pool.labels,
        tuple(len(tokens.word_counts) for tokens in pool.tokens),
    )


def make_checkpoint(
    settings: RankerSettings,
    data: TrainingData,
    *,
    seed: int,
    record: Mapping[str, Any],
    encoder: Encoder | None = None,
    progress: Callable[[Epoch], None] = lambda epoch: None,
    state: Path | None = None,
    device: str = "auto",
) -> Checkpoint:
    """Train, calibrate on dev and measure on dev. ``record``: what to store about the training data.

    A ranker of documents alone is calibrated with the lexical sentence scores that it is served with.
    ``encoder``: that of the settings, if there is one; fine-tuning changes it. ``state``, ``device``:
    as for ``train_model``.
    """
    scaling = scaling_of(data.train)
    inputs = RankerInputs(settings, data.vocabulary, scaling, reader_for(settings, encoder))
    development = Development(data.dev, inputs)
    trained = train_model(
        inputs, data.train, development, seed=seed, progress=progress, state=state, device=device
    )
    rankings = rankings_of(data.dev, development.served_scores(trained.model))
    golden = [q.response for q in data.dev]
    calibration, _ = calibrate(rankings, golden)
    official = measure(rankings, golden, calibration)
    scale = fit_scale(rankings, golden, calibration)
    scores = {**trained.best.scores, "snippet_f1": float(np.mean([q.snippets.f1 for q in official]))}
    training = {
        **record,
        "seed": seed,
        "epochs": trained.epochs[-1].number,
        "best_epoch": trained.best.number,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    return Checkpoint(
        settings,
        trained.model,
        data.vocabulary,
        scaling,
        calibration,
        training,
        scores,
        scale,
        () if settings.training is None else tuple(map(_point, trained.epochs)),
    )


def _point(epoch: Epoch) -> Mapping[str, float]:
    """A point of the learning curve."""
    return {"epoch": epoch.number, "loss": epoch.loss, **epoch.scores, "seconds": round(epoch.seconds, 2)}
