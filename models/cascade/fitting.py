"""Fine-tuning a cross-encoder on gold documents beside irrelevant ones of the same questions.

A step reads some questions, each with a few of its gold documents and a few of the irrelevant ones that the
first ranker puts highest. The loss of a gold document's sentences is a softmax over them (which of them
answer?) plus cross-entropy (does this one?); irrelevant documents' sentences have cross-entropy alone. The
loss of the documents is a softmax of each gold one against all irrelevant ones, plus cross-entropy. What is
kept is the average of the weights along the way (Polyak and Juditsky 1992), which varies less than the last
ones. An interrupted training resumes from its last saved state.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax
from torch.nn.utils import clip_grad_norm_

from bioqa.models.answers.evaluation import SentenceCase, sentence_auc
from bioqa.models.arrays import Booleans, Floats
from bioqa.models.cascade.encoder import CrossEncoder, Logits
from bioqa.models.encoders.encoder import processor_has_bfloat16
from bioqa.models.features.extractor import FeatureSet, Scaling
from bioqa.models.rankers.registry import learned_state
from bioqa.models.reranker import Reranker
from bioqa.models.training.data import Pool, Prepared
from bioqa.models.training.rates import rate_factor
from bioqa.models.training.state import StateFile, restore, snapshot_of
from bioqa.system.errors import BioqaError

RIVALS = 20
"""Irrelevant documents are drawn from this many of the first ranker's best."""


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document as the cross-encoder reads it."""

    sentences: tuple[str, ...]
    features: Floats
    """[sentences, features] scaled"""


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """A relevant document."""

    text: ReadDocument
    labels: Booleans
    """[sentences]"""

    @property
    def teaches_sentences(self) -> bool:
        """Whether some of its sentences are relevant and some are not: others say nothing of the choice."""
        return bool(self.labels.any() and not self.labels.all())


@dataclass(frozen=True, slots=True)
class QuestionGroup:
    """A question with its gold documents, and the irrelevant ones that the first ranker puts highest."""

    question: str
    gold: Sequence[GoldDocument]
    rivals: Sequence[ReadDocument] = ()
    """Best first."""


@dataclass(frozen=True, slots=True)
class CrossSettings:
    """How a cross-encoder is fine-tuned."""

    frozen_layers: int = 3
    learning_rate: float = 7e-5
    """Rate of the uppermost layer."""
    layer_decay: float = 0.93
    """Each layer learns at this multiple of the rate of the one above it."""
    head_learning_rate: float = 1e-3
    questions_per_step: int = 2
    gold_documents: int = 4
    """Most that are read of a question in a step."""
    rivals: int = 3
    """Irrelevant documents of a question and step, at most."""
    passes: int = 4
    """Passes over the questions, each in another order."""
    rival_weight: float = 0.5
    """Weight of the loss over irrelevant documents' sentences."""
    document_weight: float = 0.5
    """Weight of the loss over documents."""
    average: float = 0.99
    """Decay of the running average of the weights."""
    warm_up: float = 0.03
    """Share of training during which the rates rise; afterwards they fall linearly."""
    minutes: float = float("inf")
    """Time limit: training ends then, or after all passes."""
    seed: int = 1


@dataclass(frozen=True, slots=True)
class FittingProgress:
    """How far training has come after a step."""

    questions: int
    """Seen so far, each once a pass."""
    of: int
    """To be seen in all passes."""
    loss: float
    """The mean of the last 25 steps."""
    seconds: float
    """Since the beginning, earlier sessions included."""
    curve: tuple[tuple[int, float], ...] = ()
    """The loss every 25 steps: questions seen, mean loss since the point before."""


def question_groups(
    prepared: Sequence[Prepared], first: Reranker, rivals: int = RIVALS
) -> list[QuestionGroup]:
    """The questions that have a gold document in the index."""
    scaling, features = first.checkpoint.scaling, first.checkpoint.settings.reading.features
    groups = []
    for question in prepared:
        pool = question.retrieved
        body = question.response.question.body.strip()
        texts = {
            candidate.document.url: text
            for candidate, text in zip(pool.candidates, _texts(pool, scaling, features), strict=True)
        }
        relevant = set(question.response.documents)
        ranked = [d.document.url for d in first.rank(body, pool.candidates).documents]
        irrelevant = [texts[url] for url in ranked if url not in relevant]
        ends = np.cumsum([len(c.document.sentences) for c in question.gold.candidates])[:-1]
        of_gold = _texts(question.gold, scaling, features)
        gold = [
            GoldDocument(text, labels)
            for text, labels in zip(of_gold, np.split(question.gold.labels, ends), strict=True)
        ]
        gold = [document for document in gold if document.text.sentences]
        if gold:
            groups.append(QuestionGroup(body, gold, [text for text in irrelevant if text.sentences][:rivals]))
    return groups


def _texts(pool: Pool, scaling: Scaling, features: FeatureSet) -> list[ReadDocument]:
    """The candidates, those without sentences included."""
    scaled = scaling.apply(pool.features, features).sentences
    documents, begin = [], 0
    for candidate in pool.candidates:
        texts = tuple(candidate.document.sentence_texts())
        end = begin + len(texts)
        documents.append(ReadDocument(texts, scaled[begin:end]))
        begin = end
    return documents


def fit(
    model: CrossEncoder,
    groups: Sequence[QuestionGroup],
    settings: CrossSettings,
    state: StateFile | None = None,
    save_every_s: float = 240.0,
    progress: Callable[[FittingProgress], None] = lambda progress: None,
) -> FittingProgress:
    """Train in place: passes over the questions in random order, no dropout.

    ``state``: a file to save training in every ``save_every_s`` seconds and at the end, and to resume from.
    Raises BioqaError if no gold document has both relevant and irrelevant sentences.
    """
    if not any(document.teaches_sentences for group in groups for document in group.gold):
        raise BioqaError("no gold document has both relevant and irrelevant sentences: nothing to learn from")
    model.encoder.freeze(settings.frozen_layers)
    model.eval()
    run = _Fitting.begun(model, settings)
    if state is not None:
        run.resume(state)
    order = _order(groups, settings)
    begun = kept = time.monotonic()
    before = run.seconds
    while run.questions < len(order) and run.seconds < 60 * settings.minutes:
        run.set_rates(max(run.questions / len(order), run.seconds / (60 * settings.minutes)))
        run.step(order[run.questions : run.questions + settings.questions_per_step])
        run.seconds = before + time.monotonic() - begun
        progress(run.progress(len(order)))
        if state is not None and time.monotonic() - kept > save_every_s:
            run.save(state)
            kept = time.monotonic()
    if state is not None:
        run.save(state)
    run.use_average()
    model.encoder.freeze()
    return run.progress(len(order))


class _Fitting:
    """A training in progress."""

    def __init__(
        self, model: CrossEncoder, settings: CrossSettings, optimiser: torch.optim.Optimizer
    ) -> None:
        self._model = model
        self._settings = settings
        self._optimiser = optimiser
        self._rates = [float(group["lr"]) for group in optimiser.param_groups]
        self._learned = {name: p for name, p in model.named_parameters() if p.requires_grad}
        self._average = {name: p.detach().clone() for name, p in self._learned.items()}
        self._losses: list[float] = []
        self._curve: list[tuple[int, float]] = []
        self._steps = 0
        self.questions = 0
        self.seconds = 0.0

    @classmethod
    def begun(cls, model: CrossEncoder, settings: CrossSettings) -> "_Fitting":
        groups = list(_rate_groups(model, settings))
        return cls(model, settings, torch.optim.AdamW(groups, weight_decay=0.01))

    def set_rates(self, share: float) -> None:
        for group, rate in zip(self._optimiser.param_groups, self._rates, strict=True):
            group["lr"] = rate * rate_factor(share, self._settings.warm_up)

    def step(self, groups: Sequence[QuestionGroup]) -> None:
        settings = self._settings
        # Seeded by the place in training, so that a resumed training draws the same.
        drawn = [_drawn(group, settings, self.questions + position) for position, group in enumerate(groups)]
        read = [(g.question, text) for g in drawn for text in (*(d.text for d in g.gold), *g.rivals)]
        passages = [self._model.passages(question, text.sentences) for question, text in read]
        features = torch.from_numpy(np.concatenate([text.features for _, text in read])).float()
        # bfloat16 takes half of the time where a processor has it; weights stay in single precision.
        device = self._model.encoder.device.type
        half = device == "cuda" or processor_has_bfloat16()
        with torch.autocast(device, torch.bfloat16, enabled=half):
            logits = self._model([p for of_text in passages for p in of_text], features)
        loss = group_loss(drawn, *_by_document(logits, [text for _, text in read], passages), settings)
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(self._learned.values(), 1.0)
        self._optimiser.step()
        self._steps += 1
        self.questions += len(groups)
        self._losses.append(float(loss.item()))
        if self._steps % 25 == 0:
            self._curve.append((self.questions, float(np.mean(self._losses[-25:]))))
        # The first weights say little of the last ones: the average forgets them sooner.
        decay = min(settings.average, self._steps / (self._steps + 10))
        with torch.no_grad():
            for name, kept in self._average.items():
                kept.lerp_(self._learned[name], 1 - decay)

    def use_average(self) -> None:
        """Give the model the average of its weights."""
        with torch.no_grad():
            for name, kept in self._average.items():
                self._learned[name].copy_(kept)

    def progress(self, of: int) -> FittingProgress:
        loss = float(np.mean(self._losses[-25:])) if self._losses else 0.0
        return FittingProgress(self.questions, of, loss, self.seconds, tuple(self._curve))

    def save(self, state: StateFile) -> None:
        values = {
            "questions": self.questions,
            "steps": self._steps,
            "seconds": self.seconds,
            "curve": self._curve,
            "losses": self._losses[-25:],
        }
        state.save(snapshot_of(learned_state(self._model), self._average, self._optimiser, values))

    def resume(self, state: StateFile) -> None:
        """Restore a saved state, if there is one. Raises BioqaError."""
        with state.resuming() as snapshot:
            if snapshot is not None:
                names = learned_state(self._model).keys()
                # Copied: what is restored lies on the CPU, and the average where the model is.
                for name, value in restore(snapshot, self._model, names, self._optimiser).items():
                    self._average[name].copy_(value)
                self.questions, self._steps = int(snapshot.values["questions"]), int(snapshot.values["steps"])
                self.seconds = float(snapshot.values["seconds"])
                self._losses = [float(loss) for loss in snapshot.values["losses"]]
                self._curve = [(int(seen), float(loss)) for seen, loss in snapshot.values["curve"]]


def _by_document(
    logits: Logits, texts: Sequence[ReadDocument], passages: Sequence[Sequence[object]]
) -> tuple[list[Tensor], Tensor]:
    """Each document's sentences' logits, and [D] the documents': of their best passage."""
    sentences = list(torch.split(logits.sentences.float(), [len(text.sentences) for text in texts]))
    best = [
        part.max() for part in torch.split(logits.passages.float(), [len(of_text) for of_text in passages])
    ]
    return sentences, torch.stack(best)


def group_loss(
    groups: Sequence[QuestionGroup], sentences: Sequence[Tensor], documents: Tensor, settings: CrossSettings
) -> Tensor:
    """The loss of a step, from logits of the groups' documents in turn, gold ones first:
    ``sentences`` of each, and [D] ``documents``."""
    of_gold, of_rivals, of_documents = [], [], []
    position = 0
    for group in groups:
        for document in group.gold:
            if document.teaches_sentences:
                of_gold.append(loss_of(sentences[position], torch.from_numpy(document.labels)))
            position += 1
        for _ in group.rivals:
            scores = sentences[position]
            of_rivals.append(binary_cross_entropy_with_logits(scores, torch.zeros_like(scores)))
            position += 1
        if group.gold and group.rivals:
            own = documents[position - len(group.gold) - len(group.rivals) : position]
            of_documents.append(document_loss(own[: len(group.gold)], own[len(group.gold) :]))
    parts = ((of_gold, 1.0), (of_rivals, settings.rival_weight), (of_documents, settings.document_weight))
    weighted = [weight * torch.stack(losses).mean() for losses, weight in parts if losses]
    # 0 if what was drawn teaches nothing: no irrelevant document, and no sentence to be told from others.
    return torch.stack([0 * documents.sum(), *weighted]).sum()


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """One document's: [S] logits and which are relevant → softmax over its sentences plus cross-entropy."""
    listwise = -log_softmax(logits, dim=0)[labels].mean()
    return listwise + binary_cross_entropy_with_logits(logits, labels.float())


def document_loss(gold: Tensor, rivals: Tensor) -> Tensor:
    """Loss of a question's [G] and [R] logits: softmax of each gold document against all rivals, plus
    cross-entropy.
    """
    beside = torch.cat([gold.unsqueeze(1), rivals.expand(len(gold), -1)], dim=1)
    labels = torch.cat([torch.ones_like(gold), torch.zeros_like(rivals)])
    against = -log_softmax(beside, dim=1)[:, 0].mean()
    return against + binary_cross_entropy_with_logits(torch.cat([gold, rivals]), labels)


def auc_of(model: CrossEncoder, groups: Sequence[QuestionGroup]) -> float | None:
    """Mean area under the ROC curve within the gold documents; None if none tells sentences apart."""
    cases = []
    for group in groups:
        for document in group.gold:
            if document.teaches_sentences:
                passages = model.passages(group.question, document.text.sentences)
                scores, _ = model.score(passages, document.text.features)
                cases.append(SentenceCase(scores, document.labels))
    return sentence_auc(cases) if cases else None


def _order(groups: Sequence[QuestionGroup], settings: CrossSettings) -> list[QuestionGroup]:
    shuffled = []
    for number in range(settings.passes):
        once = list(groups)
        random.Random(1000 * settings.seed + number).shuffle(once)  # noqa: S311
        shuffled += once
    return shuffled


def _drawn(group: QuestionGroup, settings: CrossSettings, number: int) -> QuestionGroup:
    """Some of the group's documents; of the irrelevant ones, those that rank higher more often."""
    generator = np.random.default_rng((settings.seed, number))
    gold = generator.permutation(len(group.gold))[: settings.gold_documents]
    usable = [group.gold[i] for i in gold.tolist()]
    shares = 1 / (4 + np.arange(len(group.rivals)))
    count = min(settings.rivals, len(group.rivals))
    if not count:
        return QuestionGroup(group.question, usable)
    rivals = generator.choice(len(shares), count, replace=False, p=shares / shares.sum())
    return QuestionGroup(group.question, usable, [group.rivals[i] for i in rivals.tolist()])


def _rate_groups(model: CrossEncoder, settings: CrossSettings) -> Iterator[dict[str, Any]]:
    stack = model.encoder.stack
    inside: set[int] = set()
    for height, layer in enumerate(reversed(stack)):
        learned = [p for p in layer.parameters() if p.requires_grad]
        inside.update(map(id, layer.parameters()))
        if learned:
            yield {"params": learned, "lr": settings.learning_rate * settings.layer_decay**height}
    if beside := [p for p in model.encoder.parameters() if p.requires_grad and id(p) not in inside]:
        yield {"params": beside, "lr": settings.learning_rate}
    heads = [*model.head.parameters(), *model.document_head.parameters()]
    yield {"params": heads, "lr": settings.head_learning_rate}
