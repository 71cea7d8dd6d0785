"""Fine-tuning a cross-encoder on the sentences of gold documents.

Each step takes some gold documents with their questions. The loss of one is a softmax over its sentences
(which of them answer?) plus cross-entropy (does this one?). Training can be stopped and goes on where its
last state was kept.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax
from torch.nn.utils import clip_grad_norm_

from bioasq.errors import BioqaError
from models.arrays import Booleans, Floats
from models.evaluation import SentenceCase, sentence_auc
from models.features import FeatureSet, Scaling
from models.rankers.cross import CrossEncoder, sentence_texts
from models.training.data import Prepared


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """A gold document some of whose sentences are relevant, and some not."""

    question: str
    sentences: tuple[str, ...]
    features: Floats
    """[sentences, features] scaled"""
    labels: Booleans
    """[sentences]"""


@dataclass(frozen=True, slots=True)
class CrossSettings:
    """How a cross-encoder is fine-tuned."""

    frozen_layers: int = 4
    learning_rate: float = 7e-5
    head_learning_rate: float = 1e-3
    documents_per_step: int = 4
    most_relevant: int = 6
    most_irrelevant: int = 6
    """Of a document's sentences of either kind that a step takes, at random where there are more."""
    warm_up: float = 0.06
    """The share of training in which the rates rise; then they fall in a straight line."""
    minutes: float = float("inf")
    """Training ends when they are over or when every document has been seen once, whichever is first."""
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Progress:
    """After a step: documents seen of all, the mean loss of the last steps, seconds in all."""

    documents: int
    of: int
    loss: float
    seconds: float


def gold_documents(
    prepared: Sequence[Prepared], scaling: Scaling, features: FeatureSet
) -> list[GoldDocument]:
    """Gold documents that can teach which of their sentences answer."""
    found = []
    for question in prepared:
        scaled = scaling.apply(question.gold.features, features).sentences
        begin = 0
        for candidate in question.gold.candidates:
            rows = slice(begin, begin + len(candidate.document.sentences))
            begin = rows.stop
            labels = question.gold.labels[rows]
            if labels.any() and not labels.all():
                texts = tuple(sentence_texts(candidate.document))
                found.append(GoldDocument(question.response.question.body, texts, scaled[rows], labels))
    return found


def fit(
    model: CrossEncoder,
    documents: Sequence[GoldDocument],
    settings: CrossSettings,
    state: Path | None = None,
    keep_every_s: float = 240.0,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> Progress:
    """Trains in place: one pass over the documents in random order, no dropout.

    ``state``: a file that training is kept in every ``keep_every_s`` seconds and at the end, and goes on from
    if it is there. Raises BioqaError if there is no document.
    """
    if not documents:
        raise BioqaError("no gold document has both relevant and irrelevant sentences: nothing to learn from")
    model.encoder.freeze(settings.frozen_layers)
    model.eval()
    order = list(documents)
    random.Random(settings.seed).shuffle(order)  # noqa: S311
    optimiser = _optimiser(model, settings)
    done, spent = _resume(state, model, optimiser) if state is not None and state.is_file() else (0, 0.0)
    rates = [group["lr"] for group in (*_groups(model, settings),)]
    losses: list[float] = []
    begun = kept = time.monotonic()
    seconds = spent
    while done < len(order) and seconds < 60 * settings.minutes:
        share = max(done / len(order), seconds / (60 * settings.minutes))
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * schedule(share, settings.warm_up)
        step = order[done : done + settings.documents_per_step]
        losses.append(_step(model, step, optimiser, settings, done))
        done += len(step)
        seconds = spent + time.monotonic() - begun
        progress(Progress(done, len(order), float(np.mean(losses[-25:])), seconds))
        if state is not None and time.monotonic() - kept > keep_every_s:
            _keep(state, model, optimiser, done, seconds)
            kept = time.monotonic()
    if state is not None:
        _keep(state, model, optimiser, done, seconds)
    model.encoder.freeze()
    return Progress(done, len(order), float(np.mean(losses[-25:])) if losses else 0.0, seconds)


def schedule(share: float, warm_up: float) -> float:
    """The factor of the learning rates when that share of training is over: up to 1, then down to .03."""
    if share < warm_up:
        return min(1.0, 0.02 + share / warm_up)
    return max(0.03, 1 - (share - warm_up) / (1 - warm_up))


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """One document's: [S] logits and which are relevant → softmax over its sentences plus cross-entropy."""
    listwise = -log_softmax(logits, dim=0)[labels].mean()
    return listwise + binary_cross_entropy_with_logits(logits, labels.float())


def auc_of(model: CrossEncoder, documents: Sequence[GoldDocument], *, half_precision: bool = False) -> float:
    """Mean area under the ROC curve within these documents."""
    cases = []
    for document in documents:
        inputs = model.inputs(document.question, document.sentences)
        scores = model.score(inputs, document.features, half_precision=half_precision)
        cases.append(SentenceCase(scores, document.labels))
    return sentence_auc(cases)


def _step(
    model: CrossEncoder,
    documents: Sequence[GoldDocument],
    optimiser: torch.optim.Optimizer,
    settings: CrossSettings,
    number: int,
) -> float:
    inputs, features, labels = [], [], []
    for place, document in enumerate(documents):
        kept = _sample(document.labels, settings, number + place)
        inputs += model.inputs(document.question, [document.sentences[row] for row in kept])
        features.append(document.features[kept])
        labels.append(torch.from_numpy(document.labels[kept]))
    # Half the time of single precision where the processor has it; the weights stay in single precision.
    with torch.autocast(model.encoder.device.type, torch.bfloat16):
        logits = model(inputs, torch.from_numpy(np.concatenate(features)).float())
    of_documents = logits.float().split([len(of_one) for of_one in labels])
    losses = [loss_of(scores, of_one) for scores, of_one in zip(of_documents, labels, strict=True)]
    loss = torch.stack(losses).mean()
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    return float(loss.item())


def _sample(labels: Booleans, settings: CrossSettings, number: int) -> list[int]:
    """Rows in reading order. The number of the document in training decides, so resuming changes nothing."""
    generator = np.random.default_rng((settings.seed, number))
    kept: list[int] = []
    for kind, most in ((True, settings.most_relevant), (False, settings.most_irrelevant)):
        rows = np.flatnonzero(labels == kind)
        kept += (generator.choice(rows, most, replace=False) if len(rows) > most else rows).tolist()
    return sorted(kept)


def _groups(model: CrossEncoder, settings: CrossSettings) -> Iterator[dict[str, Any]]:
    of_encoder = [p for p in model.encoder.parameters() if p.requires_grad]
    yield {"params": of_encoder, "lr": settings.learning_rate}
    yield {"params": list(model.head.parameters()), "lr": settings.head_learning_rate}


def _optimiser(model: CrossEncoder, settings: CrossSettings) -> torch.optim.Optimizer:
    return torch.optim.AdamW(list(_groups(model, settings)), weight_decay=0.01)


def _keep(
    path: Path, model: CrossEncoder, optimiser: torch.optim.Optimizer, done: int, seconds: float
) -> None:
    unfinished = path.with_name(path.name + ".tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"model": model.state_dict(), "optimiser": optimiser.state_dict()}
    torch.save({**state, "done": done, "seconds": seconds}, unfinished)
    unfinished.replace(path)


def _resume(path: Path, model: CrossEncoder, optimiser: torch.optim.Optimizer) -> tuple[int, float]:
    """Documents seen and seconds spent. Raises BioqaError for a state of another model."""
    try:
        state = torch.load(path, weights_only=True)
        model.load_state_dict(state["model"], strict=True)
        optimiser.load_state_dict(state["optimiser"])
        return int(state["done"]), float(state["seconds"])
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise BioqaError(f"{path}: not a state of this training: {error}") from error
