"""Training on pairs: a relevant and an irrelevant candidate of the same question, redrawn every epoch."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, relu

from bioasq.errors import BioqaError
from models.arrays import Booleans
from models.batch import Batch, Example, collate
from models.rankers.heads import Scores
from models.registry import RANKERS, RankerSettings
from models.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    """A question's candidates with their labels."""

    example: Example
    relevant: Booleans
    """[documents]"""
    labels: Booleans
    """[sentences]"""
    sentence_counts: tuple[int, ...]
    """[documents]"""


@dataclass(frozen=True, slots=True)
class Epoch:
    """What one epoch did; ``score`` decides which epoch's weights are kept."""

    number: int
    loss: float
    scores: Mapping[str, float]
    score: float
    seconds: float


@dataclass(frozen=True, slots=True)
class _Pair:
    question: int
    relevant: int
    irrelevant: int


def fit(
    model: nn.Module,
    settings: RankerSettings,
    questions: Sequence[TrainingQuestion],
    vocabulary: Vocabulary,
    evaluate: Callable[[nn.Module], tuple[Mapping[str, float], float]],
    seed: int,
    progress: Callable[[Epoch], None] = lambda epoch: None,
) -> list[Epoch]:
    """Trains in place and leaves the model with its best epoch's weights.

    ``evaluate`` measures on development questions: named scores, and the one to be highest. Raises
    BioqaError if there is no pair to train on.
    """
    generator = np.random.default_rng(seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)
    best: dict[str, Tensor] = {}
    epochs: list[Epoch] = []
    for number in range(1, settings.epochs + 1):
        begin = time.monotonic()
        losses = []
        model.train()
        pairs = draw_pairs(questions, generator)
        if not pairs:
            raise BioqaError(
                "no training pair: no question has both a relevant candidate with a golden sentence "
                "and an irrelevant one"
            )
        for start in range(0, len(pairs), settings.pairs_per_step):
            optimiser.zero_grad()
            loss = _loss(
                model, settings, questions, pairs[start : start + settings.pairs_per_step], vocabulary
            )
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            losses.append(loss.item())
        model.eval()
        scores, score = evaluate(model)
        epoch = Epoch(number, float(np.mean(losses)), scores, score, time.monotonic() - begin)
        if not best or score > max(e.score for e in epochs):
            best = {name: value.clone() for name, value in model.state_dict().items()}
        epochs.append(epoch)
        progress(epoch)
        if number - max(epochs, key=lambda e: e.score).number >= settings.patience:
            break
    model.load_state_dict(best)
    return epochs


def draw_pairs(questions: Sequence[TrainingQuestion], generator: np.random.Generator) -> list[_Pair]:
    """Each relevant candidate with a positive sentence, beside one random irrelevant one; shuffled."""
    pairs = []
    for number, question in enumerate(questions):
        irrelevant = np.flatnonzero(~question.relevant)
        if not len(irrelevant):
            continue
        ends = np.cumsum(question.sentence_counts)
        for document in np.flatnonzero(question.relevant).tolist():
            end = int(ends[document])
            if question.labels[end - question.sentence_counts[document] : end].any():
                pairs.append(_Pair(number, document, int(generator.choice(irrelevant))))
    return [pairs[i] for i in generator.permutation(len(pairs))]


def _loss(
    model: nn.Module,
    settings: RankerSettings,
    questions: Sequence[TrainingQuestion],
    pairs: Sequence[_Pair],
    vocabulary: Vocabulary,
) -> Tensor:
    batch = collate(
        [questions[p.question].example.take([p.relevant, p.irrelevant]) for p in pairs], vocabulary
    )
    scores = model(batch)
    loss = settings.document_weight * hinge_loss(scores.documents)
    if RANKERS[settings.ranker].units == "documents":
        return loss
    labels = _pair_labels(questions, pairs)
    if settings.sentence_weight:
        loss = loss + settings.sentence_weight * cross_entropy_loss(scores.sentences, labels, len(pairs))
    if settings.listwise_weight:
        loss = loss + settings.listwise_weight * listwise_loss(scores, batch, labels)
    return loss


def _pair_labels(questions: Sequence[TrainingQuestion], pairs: Sequence[_Pair]) -> Tensor:
    labels = []
    for pair in pairs:
        question = questions[pair.question]
        ends = np.cumsum(question.sentence_counts)
        for document in (pair.relevant, pair.irrelevant):
            end = int(ends[document])
            labels.append(question.labels[end - question.sentence_counts[document] : end])
    return torch.from_numpy(np.concatenate(labels)).float()


def hinge_loss(documents: Tensor) -> Tensor:
    """[2 × pairs] relevant and irrelevant in turn: mean of max(0, 1 - relevant + irrelevant)."""
    return relu(1.0 - documents[0::2] + documents[1::2]).mean()


def cross_entropy_loss(sentences: Tensor, labels: Tensor, pairs: int) -> Tensor:
    """The sum over both documents' sentences (Pappas and Androutsopoulos 2021, Section 2.3), a pair."""
    return binary_cross_entropy_with_logits(sentences, labels, reduction="sum") / pairs


def listwise_loss(scores: Scores, batch: Batch, labels: Tensor) -> Tensor:
    """Softmax over each relevant document's sentences: the mean of -log of its positive ones' shares.

    Sentence choice within a document is what this asks for and what cross-entropy over all only implies.
    """
    documents = len(batch.document_features)
    positives = torch.zeros(documents).index_add(0, batch.unit_document, labels)
    shift = torch.zeros(documents).scatter_reduce(
        0, batch.unit_document, scores.sentences.detach(), "amax", include_self=False
    )
    shifted = scores.sentences - shift[batch.unit_document]
    total = torch.zeros(documents).index_add(0, batch.unit_document, shifted.exp())
    log_shares = shifted - total.log()[batch.unit_document]
    of_document = torch.zeros(documents).index_add(0, batch.unit_document, labels * log_shares)
    with_positives = positives > 0
    return -(of_document[with_positives] / positives[with_positives]).mean()
