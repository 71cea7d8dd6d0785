"""Training on pairs: a relevant and an irrelevant candidate of the same question, redrawn every epoch.

A pair may have several irrelevant candidates (``Training.irrelevant_documents``).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bioqa.models.rankers.batch import collate
from bioqa.models.rankers.registry import encoder_of, learned_state, place_of
from bioqa.models.rankers.settings import Encoding, Optimiser, RankerSettings, SentenceTraining, Training
from bioqa.models.training.losses import DOCUMENT_LOSSES, cross_entropy_loss, listwise_loss
from bioqa.models.training.pairs import Pair, TrainingSet, draw_pairs, pair_labels
from bioqa.models.training.rates import rate_factor
from bioqa.models.training.state import StateFile, restore, snapshot_of
from bioqa.system.errors import BioqaError


@dataclass(frozen=True, slots=True)
class Epoch:
    """Results of one epoch; the weights of the one with the highest ``score`` are kept."""

    number: int
    loss: float
    scores: Mapping[str, float]
    score: float
    seconds: float


def fit(
    model: nn.Module,
    settings: RankerSettings,
    learned: TrainingSet,
    evaluate: Callable[[nn.Module], tuple[Mapping[str, float], float]],
    seed: int,
    progress: Callable[[Epoch], None] = lambda epoch: None,
    *,
    state: StateFile | None = None,
) -> list[Epoch]:
    """Train in place and leave the model with its best epoch's weights.

    ``evaluate`` measures on development questions: named scores, and the one to maximise. A fine-tuned
    encoder is trained after its ``frozen_epochs``. ``state``: a file to save every epoch in, and to resume
    from. Raises BioqaError if there is no pair to train on.
    """
    training, encoding = settings.training, settings.encoding
    assert training is not None
    encoder = encoder_of(model) if settings.fine_tune else None
    tuned = encoding if encoder is not None else None
    run = _TrainingState(
        model, [*learned_state(model)], _optimiser(model, settings), np.random.default_rng(seed)
    )
    if state is not None:
        run.resume(state)
    while not _is_finished(run.epochs, training, tuned):
        begin = time.monotonic()
        number = len(run.epochs) + 1
        if encoder is not None and encoding is not None:
            encoder.freeze(None if number <= encoding.frozen_epochs else encoding.frozen_layers)
        model.train()
        loss = _train_epoch(run, training, learned)
        model.eval()
        scores, score = evaluate(model)
        if not run.epochs or score > max(e.score for e in run.epochs):
            run.best = {name: value.clone() for name, value in run.weights().items()}
        run.epochs.append(Epoch(number, loss, scores, score, time.monotonic() - begin))
        if state is not None:
            run.save(state)
        progress(run.epochs[-1])
    if encoder is not None and encoding is not None:
        encoder.freeze(encoding.frozen_layers)
    model.load_state_dict(model.state_dict() | run.best)
    return run.epochs


@dataclass(slots=True)
class _TrainingState:
    """The state of training: everything that changes from step to step."""

    model: nn.Module
    learned: Sequence[str]
    """Names, in the model's state, of the weights that are trained."""
    optimiser: torch.optim.Optimizer
    generator: np.random.Generator
    best: dict[str, Tensor] = field(default_factory=dict)
    """The weights of the best epoch."""
    epochs: list[Epoch] = field(default_factory=list)

    def weights(self) -> dict[str, Tensor]:
        state = self.model.state_dict()
        return {name: state[name].cpu() for name in self.learned}

    def save(self, state: StateFile) -> None:
        """Save the state, with both random generators: a resumed training draws what it would have drawn."""
        values = {
            "epochs": [asdict(epoch) for epoch in self.epochs],
            "generator": self.generator.bit_generator.state,
        }
        more = {"generator": torch.get_rng_state()}
        state.save(snapshot_of(self.weights(), self.best, self.optimiser, values, more))

    def resume(self, state: StateFile) -> None:
        """Restore a saved state, if there is one. Raises BioqaError."""
        with state.resuming() as snapshot:
            if snapshot is not None:
                self.epochs[:] = [Epoch(**epoch) for epoch in snapshot.values["epochs"]]
                self.best = restore(snapshot, self.model, self.learned, self.optimiser)
                self.generator.bit_generator.state = snapshot.values["generator"]
                torch.set_rng_state(snapshot.tensors["generator"])


_OPTIMISERS: dict[Optimiser, Callable[..., torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adadelta": torch.optim.Adadelta,
}


def _optimiser(model: nn.Module, settings: RankerSettings) -> torch.optim.Optimizer:
    """With a separate rate for an encoder's weights."""
    encoder = encoder_of(model)
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    of_encoder = {id(parameter) for parameter in encoder.parameters()} if encoder else set()
    groups: list[dict[str, Any]] = [{"params": [p for p in learned if id(p) not in of_encoder]}]
    training, encoding = settings.training, settings.encoding
    assert training is not None
    if encoding is not None and (tuned := [p for p in learned if id(p) in of_encoder]):
        groups.append({"params": tuned, "lr": encoding.encoder_learning_rate})
    return _OPTIMISERS[training.optimiser](groups, lr=training.learning_rate)


def _is_finished(epochs: Sequence[Epoch], training: Training, tuned: Encoding | None) -> bool:
    """``tuned``: the encoder's settings, if it is trained too."""
    if not epochs:
        return False
    best = max(epochs, key=lambda e: e.score).number
    # Patience counts from the epoch in which the encoder starts to be trained.
    since = best if tuned is None else max(best, tuned.frozen_epochs)
    return len(epochs) >= training.epochs or len(epochs) - since >= training.patience


def _train_epoch(run: _TrainingState, training: Training, learned: TrainingSet) -> float:
    """Train on each pair once; returns the mean loss of the steps."""
    documents_only = not isinstance(training, SentenceTraining)
    pairs = draw_pairs(
        learned.questions,
        run.generator,
        training.irrelevant_documents,
        documents_only=documents_only,
    )
    if not pairs:
        relevant = "a relevant candidate" + ("" if documents_only else " with a golden sentence")
        raise BioqaError(f"no training pair: no question has both {relevant} and an irrelevant one")
    losses = []
    rates = [group["lr"] for group in run.optimiser.param_groups]
    for start in range(0, len(pairs), training.pairs_per_step):
        step = pairs[start : start + training.pairs_per_step]
        if training.falling_rate:
            share = (len(run.epochs) + start / len(pairs)) / training.epochs
            for group, rate in zip(run.optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * rate_factor(share)
        run.optimiser.zero_grad()
        total = 0.0
        for first in range(0, len(step), training.pairs_at_once):
            some = step[first : first + training.pairs_at_once]
            loss = _loss(run.model, training, learned, some) * (len(some) / len(step))
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        run.optimiser.step()
        losses.append(total)
    for group, rate in zip(run.optimiser.param_groups, rates, strict=True):
        group["lr"] = rate
    return float(np.mean(losses))


def _loss(model: nn.Module, training: Training, learned: TrainingSet, pairs: Sequence[Pair]) -> Tensor:
    questions = learned.questions
    examples = [questions[p.question].example.take([p.relevant, *p.irrelevant]) for p in pairs]
    batch = collate(examples, learned.vocabulary).to(place_of(model))
    scores = model(batch)
    of_documents = DOCUMENT_LOSSES[training.document_loss]
    loss = of_documents(scores.documents.reshape(len(pairs), -1))
    if not isinstance(training, SentenceTraining):
        return loss
    loss = training.document_weight * loss
    labels, weights = (values.to(scores.sentences.device) for values in pair_labels(questions, pairs))
    if training.sentence_weight:
        summed = cross_entropy_loss(scores.sentences, labels, len(pairs), weights)
        loss = loss + training.sentence_weight * summed
    if training.listwise_weight:
        loss = loss + training.listwise_weight * listwise_loss(scores, batch, labels)
    return loss
