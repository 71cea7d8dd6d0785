"""Fine-tuning a cross-encoder on gold documents, and on irrelevant ones of the same questions.

The loss of a gold document is a softmax over its sentences (which of them answer?) plus cross-entropy (does
this one?). For an irrelevant document paired with it, it is cross-entropy alone, plus a logistic loss by
which the gold document's best sentence must outscore its best. An interrupted training resumes from its last
saved state.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax, softplus
from torch.nn.utils import clip_grad_norm_

from bioqa.bioasq.errors import BioqaError
from bioqa.models.answers.evaluation import SentenceCase, sentence_auc
from bioqa.models.arrays import Booleans, Floats
from bioqa.models.cascade.encoder import CrossEncoder, sentence_texts
from bioqa.models.features.extractor import FeatureSet, Scaling
from bioqa.models.rankers.registry import learned_state
from bioqa.models.training.data import Pool, Prepared
from bioqa.models.training.rates import rate_factor
from bioqa.models.training.state import Snapshot, StateFile, moments, set_moments

RIVALS = 20
"""Irrelevant documents are drawn from this many of the best irrelevant candidates."""


@dataclass(frozen=True, slots=True)
class Text:
    """A document as the cross-encoder reads it."""

    sentences: tuple[str, ...]
    features: Floats
    """[sentences, features] scaled"""


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """A gold document some of whose sentences are relevant, and some not."""

    question: str
    text: Text
    labels: Booleans
    """[sentences]"""
    rivals: Sequence[Text] = ()
    """Irrelevant documents among the question's best candidates."""


@dataclass(frozen=True, slots=True)
class CrossSettings:
    """How a cross-encoder is fine-tuned."""

    frozen_layers: int = 4
    learning_rate: float = 7e-5
    head_learning_rate: float = 1e-3
    documents_per_step: int = 4
    passes: int = 2
    """Passes over the gold documents, each in another order."""
    rival_share: float = 0.5
    """Probability that an irrelevant document is drawn and read beside a gold one."""
    document_weight: float = 0.5
    """Weight of the logistic loss over the two documents' best sentences."""
    warm_up: float = 0.06
    """Share of training during which the rates rise; afterwards they fall linearly."""
    minutes: float = float("inf")
    """Time limit: training ends then, or after all passes."""
    seed: int = 1


@dataclass(frozen=True, slots=True)
class FittingProgress:
    """How far training has come after a step."""

    documents: int
    """Seen so far, each once a pass."""
    of: int
    """To be seen in all passes."""
    loss: float
    """The mean of the last 25 steps."""
    seconds: float
    """Since the beginning, earlier sessions included."""


def gold_documents(
    prepared: Sequence[Prepared], scaling: Scaling, features: FeatureSet, rivals: int = RIVALS
) -> list[GoldDocument]:
    """Gold documents with both relevant and irrelevant sentences: others teach nothing about the choice."""
    found = []
    for question in prepared:
        pool = question.retrieved
        irrelevant = [
            text
            for text, gold in zip(_texts(pool, scaling, features, rivals), pool.relevant, strict=False)
            if not gold
        ]
        ends = np.cumsum([len(c.document.sentences) for c in question.gold.candidates])[:-1]
        labels_of = np.split(question.gold.labels, ends)
        for text, labels in zip(_texts(question.gold, scaling, features), labels_of, strict=True):
            if labels.any() and not labels.all():
                found.append(GoldDocument(question.response.question.body, text, labels, irrelevant))
    return found


def _texts(pool: Pool, scaling: Scaling, features: FeatureSet, most: int | None = None) -> list[Text]:
    """The first ``most`` candidates, those without sentences included."""
    scaled = scaling.apply(pool.features, features).sentences
    made, begin = [], 0
    for candidate in pool.candidates[:most]:
        end = begin + len(candidate.document.sentences)
        made.append(Text(sentence_texts(candidate.document), scaled[begin:end]))
        begin = end
    return made


def fit(
    model: CrossEncoder,
    documents: Sequence[GoldDocument],
    settings: CrossSettings,
    state: StateFile | None = None,
    save_every_s: float = 240.0,
    progress: Callable[[FittingProgress], None] = lambda progress: None,
) -> FittingProgress:
    """Train in place: passes over the documents in random order, no dropout.

    ``state``: a file to save training in every ``save_every_s`` seconds and at the end, and to resume from.
    Raises BioqaError if there is no document.
    """
    if not documents:
        raise BioqaError("no gold document has both relevant and irrelevant sentences: nothing to learn from")
    model.encoder.freeze(settings.frozen_layers)
    model.eval()
    order = _order(documents, settings)
    optimiser = _optimiser(model, settings)
    done, spent = (0, 0.0) if state is None else _resume(state, model, optimiser)
    rates = [group["lr"] for group in (*_groups(model, settings),)]
    losses: list[float] = []
    begun = kept = time.monotonic()
    seconds = spent
    while done < len(order) and seconds < 60 * settings.minutes:
        share = max(done / len(order), seconds / (60 * settings.minutes))
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * rate_factor(share, settings.warm_up)
        step = order[done : done + settings.documents_per_step]
        losses.append(_step(model, step, optimiser, settings, done))
        done += len(step)
        seconds = spent + time.monotonic() - begun
        progress(FittingProgress(done, len(order), float(np.mean(losses[-25:])), seconds))
        if state is not None and time.monotonic() - kept > save_every_s:
            _save(state, model, optimiser, done, seconds)
            kept = time.monotonic()
    if state is not None:
        _save(state, model, optimiser, done, seconds)
    model.encoder.freeze()
    return FittingProgress(done, len(order), float(np.mean(losses[-25:])) if losses else 0.0, seconds)


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """One document's: [S] logits and which are relevant → softmax over its sentences plus cross-entropy."""
    listwise = -log_softmax(logits, dim=0)[labels].mean()
    return listwise + binary_cross_entropy_with_logits(logits, labels.float())


def auc_of(model: CrossEncoder, documents: Sequence[GoldDocument], *, half_precision: bool = False) -> float:
    """Mean area under the ROC curve within these documents."""
    cases = []
    for document in documents:
        passages = model.passages(document.question, document.text.sentences)
        scores = model.score(passages, document.text.features, half_precision=half_precision)
        cases.append(SentenceCase(scores, document.labels))
    return sentence_auc(cases)


def _order(documents: Sequence[GoldDocument], settings: CrossSettings) -> list[GoldDocument]:
    shuffled = []
    for number in range(settings.passes):
        once = list(documents)
        random.Random(1000 * settings.seed + number).shuffle(once)  # noqa: S311
        shuffled += once
    return shuffled


def _step(
    model: CrossEncoder,
    documents: Sequence[GoldDocument],
    optimiser: torch.optim.Optimizer,
    settings: CrossSettings,
    number: int,
) -> float:
    drawn = [_rival(document, settings, number + place) for place, document in enumerate(documents)]
    read = [(document.question, document.text) for document in documents]
    read += [(d.question, rival) for d, rival in zip(documents, drawn, strict=True) if rival is not None]
    passages = [p for question, text in read for p in model.passages(question, text.sentences)]
    features = torch.from_numpy(np.concatenate([text.features for _, text in read])).float()
    # bfloat16 takes two thirds of the time if the processor supports it; weights stay in single precision.
    with torch.autocast(model.encoder.device.type, torch.bfloat16):
        logits = model(passages, features)
    of_texts = list(logits.float().split([len(text.sentences) for _, text in read]))
    of_rivals = iter(of_texts[len(documents) :])
    losses = []
    for document, rival, scores in zip(documents, drawn, of_texts, strict=False):
        losses.append(loss_of(scores, torch.from_numpy(document.labels)))
        if rival is not None:
            losses[-1] = losses[-1] + rival_loss(scores, next(of_rivals), settings.document_weight)
    loss = torch.stack(losses).mean()
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    return float(loss.item())


def rival_loss(gold: Tensor, rival: Tensor, document_weight: float) -> Tensor:
    """Of [S] logits: no sentence of the irrelevant document answers, and its best is below the gold one's."""
    lower = softplus(rival.max() - gold.max())
    return binary_cross_entropy_with_logits(rival, torch.zeros_like(rival)) + document_weight * lower


def _rival(document: GoldDocument, settings: CrossSettings, number: int) -> Text | None:
    """Seeded by the document's number in training, so that a resumed training draws the same."""
    generator = np.random.default_rng((settings.seed, number))
    usable = [text for text in document.rivals if text.sentences]
    if generator.random() >= settings.rival_share or not usable:
        return None
    return usable[int(generator.integers(len(usable)))]


def _groups(model: CrossEncoder, settings: CrossSettings) -> Iterator[dict[str, Any]]:
    of_encoder = [p for p in model.encoder.parameters() if p.requires_grad]
    yield {"params": of_encoder, "lr": settings.learning_rate}
    yield {"params": list(model.head.parameters()), "lr": settings.head_learning_rate}


def _optimiser(model: CrossEncoder, settings: CrossSettings) -> torch.optim.Optimizer:
    return torch.optim.AdamW(list(_groups(model, settings)), weight_decay=0.01)


def _save(
    state: StateFile, model: CrossEncoder, optimiser: torch.optim.Optimizer, done: int, seconds: float
) -> None:
    tensors = {f"model/{name}": value for name, value in learned_state(model).items()}
    tensors |= {f"optimiser/{name}": value for name, value in moments(optimiser).items()}
    state.save(Snapshot(tensors, {"documents": done, "seconds": seconds}))


def _resume(state: StateFile, model: CrossEncoder, optimiser: torch.optim.Optimizer) -> tuple[int, float]:
    """Documents seen and seconds spent. Raises BioqaError."""
    if (snapshot := state.load()) is None:
        return 0, 0.0
    try:
        weights = snapshot.under("model")
        if weights.keys() != learned_state(model).keys():
            raise ValueError("weights of another model")
        model.load_state_dict(model.state_dict() | weights)
        set_moments(optimiser, snapshot.under("optimiser"))
        return int(snapshot.values["documents"]), float(snapshot.values["seconds"])
    except (RuntimeError, KeyError, ValueError, TypeError) as error:
        raise state.damaged(error) from error
