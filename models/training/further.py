"""Training a ranker further on one's own questions, and measuring on held-out ones whether that paid.

A few dozen questions are far too few to train a ranker from random weights, so training starts from one that
is already good, with a lower rate, and keeps its vocabulary, scaling, calibration and curves of probability;
only how weak snippets may be (the margin) is fitted anew, which is one number. Whether the
result is better is measured by cross-fitting: each question is answered by a ranker that was trained without
its fold. A fold's number of epochs and its margin are chosen on the other folds' answers (those of the start
are among the choices), so the reported difference is not the best of several on the same questions. The
ranker that is written is then trained on all questions.
"""

import copy
import platform
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np
import torch
from torch import nn

from bioqa.bioasq.comparison import Comparison, compare
from bioqa.bioasq.domain import DEPTH, Response
from bioqa.bioasq.measures import LATEST, per_question
from bioqa.bioasq.significance import Floats as Doubles
from bioqa.bioasq.significance import interval, resampled_means
from bioqa.models.answers.baseline import Bm25Ranker
from bioqa.models.answers.ranking import Ranking, ranking
from bioqa.models.answers.scale import Scale
from bioqa.models.answers.selection import Calibration, SelectionLimits, select
from bioqa.models.answers.weak import LEAST_GAIN, SHARES
from bioqa.models.checkpoint import Checkpoint, LearningCurve
from bioqa.models.rankers.batch import Example, collate
from bioqa.models.rankers.registry import place_of
from bioqa.models.rankers.settings import RankerSettings, RankerSettingsError
from bioqa.models.reranker import Reranker
from bioqa.models.training.data import Prepared, RankerInputs
from bioqa.models.training.loop import Epoch, fit
from bioqa.models.training.pairs import TrainingSet
from bioqa.models.training.train import training_question
from bioqa.system.errors import BioqaError

FOLDS = 5
FEWEST_QUESTIONS = 10
"""With fewer, two questions a fold are not left, and an interval over them says nothing."""
FURTHER: Mapping[str, Any] = {"learning_rate": 0.004, "epochs": 4, "patience": 4}
"""Settings of training that differ from those of the start: less than half of its rate, half of its epochs.
On claims (docs/training.md) a quarter of this rate with twice the epochs gave as much."""

CONFIDENCE = 0.9
"""Confidence of the interval that decides. Only its lower end matters, so this is a one-sided test at 5 %;
with 95 %, it would keep the start more often where what was trained is better (docs/training.md)."""

START, TRAINED, BASELINE = "start", "trained", "bm25"


@dataclass(frozen=True, slots=True)
class Gain:
    """Mean over questions of a difference, with its bootstrap interval of CONFIDENCE.

    What differs is the mean of the documents' average precision and the snippets' F1.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class TrainingChoice:
    """What is chosen on held-out answers."""

    epochs: int
    """0: the start's weights."""
    margin: float | None
    """How weak snippets may be (bioqa.models.answers.weak)."""


@dataclass(frozen=True, slots=True)
class FurtherTraining:
    """A ranker trained further, and how it did on questions that it had not seen."""

    checkpoint: Checkpoint
    choice: TrainingChoice
    """Made on all held-out answers."""
    has_changed: bool
    """Whether anything else than the start was best."""
    comparison: Comparison
    """``START``, ``TRAINED`` and ``BASELINE`` on the user's questions, all as they are served."""
    over_start: Gain
    over_baseline: Gain

    @property
    def is_better(self) -> bool:
        """Whether the start is beaten beyond chance, and BM25 is not better."""
        return self.has_changed and self.over_start.low > 0 and self.over_baseline.value >= 0


def further_settings(start: RankerSettings, changes: Mapping[str, Any]) -> RankerSettings:
    """``start`` with a lower rate. Raises RankerSettingsError for changes of anything but the training."""
    assert start.training is not None
    names = {*type(start.training).__dataclass_fields__}
    if others := sorted(changes.keys() - names):
        raise RankerSettingsError(
            f"--set {others[0]}: what is trained further keeps its start's architecture and features; "
            f"its training has {', '.join(sorted(names))} (--from-scratch can change all settings)"
        )
    flat = {**FURTHER, **changes}
    # All epochs are run: the best one is chosen afterwards.
    return start.with_changes(**{**flat, "patience": flat["epochs"]})


def is_usable(question: Prepared) -> bool:
    """Whether the index has any of its gold documents: otherwise every ranker scores zero."""
    return len(question.gold.candidates) > 0


def train_further(
    start: Checkpoint,
    baseline: Bm25Ranker,
    questions: Sequence[Prepared],
    *,
    changes: Mapping[str, Any] | None = None,
    seed: int = 1,
    record: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda said: None,
) -> FurtherTraining:
    """Cross-fit, compare, and train on all questions; ``record`` goes into the checkpoint.

    Raises BioqaError for fewer than FEWEST_QUESTIONS usable questions, or for too few that have a relevant
    candidate with a golden sentence.
    """
    settings = further_settings(start.settings, changes or {})
    usable = [question for question in questions if is_usable(question)]
    if len(usable) < FEWEST_QUESTIONS:
        raise BioqaError(
            f"{len(usable)} questions with gold documents in the index: too few to train a ranker on and to "
            f"find out whether that paid; at least {FEWEST_QUESTIONS} are needed"
        )
    trainer = _Trainer(replace(start, settings=settings), usable, seed)
    folds = _folds(len(usable), seed)
    everything = range(len(usable))
    rankings = [trainer.rankings(start.model, everything)]
    rankings += [[*rankings[0]] for _ in range(trainer.epochs)]
    for number, fold in enumerate(folds, 1):
        progress(f"fold {number}/{len(folds)}")

        def keep(epoch: int, model: nn.Module, fold: Sequence[int] = fold) -> float:
            for position, held_out in zip(fold, trainer.rankings(model, fold), strict=True):
                rankings[epoch][position] = held_out
            return 0.0

        trainer.train(_without(fold, everything), keep)
    golden = [question.response for question in usable]
    table = _Table(start, golden, rankings)
    crossed: dict[int, Response] = {}
    for fold in folds:
        choice = table.choose(_without(fold, everything))
        crossed |= {position: table.answer(choice, position) for position in fold}
    choice = table.choose(everything)
    progress("all questions")
    model, losses = trainer.train(everything, lambda epoch, _: float(epoch == choice.epochs))
    systems = {
        START: [table.answer(table.start, position) for position in everything],
        TRAINED: [crossed[position] for position in everything],
        BASELINE: baseline_answers(baseline, usable),
    }
    values = {name: question_values(golden, answers) for name, answers in systems.items()}
    comparison = compare(golden, systems, LATEST, baseline=START)
    checkpoint = _checkpoint(start, settings, model, choice, comparison, record)
    return FurtherTraining(
        replace(checkpoint, curve=table.curve(losses)),
        choice,
        choice != table.start,
        comparison,
        gain_of(values[TRAINED] - values[START]),
        gain_of(values[TRAINED] - values[BASELINE]),
    )


class _Table:
    """Measures of the held-out rankings of every epoch, with every margin, for each question."""

    def __init__(
        self, start: Checkpoint, golden: Sequence[Response], rankings: Sequence[Sequence[Ranking]]
    ) -> None:
        self.start = TrainingChoice(0, None if start.scale is None else start.scale.margin)
        # Without a scale, answers leave out nothing. The start's own margin comes first: it wins ties.
        fitted = () if start.scale is None else (None, *(-log(share) for share in SHARES))
        self._margins = list(dict.fromkeys([self.start.margin, *fitted]))
        self._golden = golden
        self._calibration = start.calibration
        self._rankings = rankings
        measured = [
            [per_question(golden, self._answers(ranked, margin), LATEST) for margin in self._margins]
            for ranked in rankings
        ]
        self._f1 = np.array([[[q.snippets.f1 for q in of] for of in epoch] for epoch in measured])
        """[epochs, margins, questions]"""
        self._precision = np.array([[q.documents.average_precision for q in epoch[0]] for epoch in measured])
        """[epochs, questions]; margins leave out no document"""

    def choose(self, places: Sequence[int]) -> "TrainingChoice":
        """The best epoch on these questions, each with its margin."""
        margins = [self._margin(f1) for f1 in self._f1[:, :, places].mean(axis=2)]
        values = [
            self._precision[epoch, places].mean() + self._f1[epoch, margin, places].mean()
            for epoch, margin in enumerate(margins)
        ]
        best = int(np.argmax(values))
        return TrainingChoice(best, self._margins[margins[best]])

    def _margin(self, f1: Doubles) -> int:
        """The start's margin unless another one gains clearly: the best of many gains a little by chance."""
        best = int(np.argmax(f1))
        return best if f1[best] >= f1[0] + LEAST_GAIN else 0

    def answer(self, choice: "TrainingChoice", position: int) -> Response:
        return self._answer(self._rankings[choice.epochs][position], self._golden[position], choice.margin)

    def _answers(self, rankings: Sequence[Ranking], margin: float | None) -> list[Response]:
        return [self._answer(*pair, margin) for pair in zip(rankings, self._golden, strict=True)]

    def _answer(self, ranked: Ranking, gold: Response, margin: float | None) -> Response:
        return select(ranked, self._calibration, SelectionLimits(margin=margin)).response(gold.question)

    def curve(self, losses: Sequence[Epoch]) -> LearningCurve:
        """Held-out measures after each epoch, with the start's margin, and losses on all questions."""
        return [
            {
                "epoch": epoch.number,
                "loss": epoch.loss,
                "document_map": float(self._precision[epoch.number].mean()),
                "snippet_f1": float(self._f1[epoch.number, 0].mean()),
                "seconds": round(epoch.seconds, 2),
            }
            for epoch in losses
        ]


def _without(fold: Sequence[int], everything: Sequence[int]) -> list[int]:
    return [position for position in everything if position not in fold]


class _Trainer:
    """The questions as the start's input, made once for all folds and epochs."""

    def __init__(self, start: Checkpoint, questions: Sequence[Prepared], seed: int) -> None:
        assert start.settings.training is not None
        self.epochs = start.settings.training.epochs
        self._start = start
        self._questions = questions
        self._seed = seed
        inputs = RankerInputs(start.settings, start.vocabulary, start.scaling)
        self._examples = [inputs.example(question, question.retrieved) for question in questions]
        self._training = [training_question(question, inputs) for question in questions]
        # For what is served beyond the model: support by other documents, and the second reading.
        self._served = Reranker(start, name=START)

    def train(
        self, chosen: Sequence[int], evaluate: Callable[[int, nn.Module], float]
    ) -> tuple[nn.Module, Sequence[Epoch]]:
        """Train a copy of the start; of its epochs, the one with the highest ``evaluate`` is kept."""
        model = copy.deepcopy(self._start.model)
        learned = TrainingSet([self._training[position] for position in chosen], self._start.vocabulary)
        number = 0

        def measure(model: nn.Module) -> tuple[Mapping[str, float], float]:
            nonlocal number
            number += 1
            return {}, evaluate(number, model)

        epochs = fit(model, self._start.settings, learned, measure, self._seed)
        return model.eval(), epochs

    def rankings(self, model: nn.Module, chosen: Sequence[int]) -> list[Ranking]:
        """The ten best documents as they are served: with agreement and the second reading."""
        model.eval()
        rankings = []
        for position in chosen:
            question = self._questions[position]
            ranked = self._ranking(model, question, self._examples[position])
            served = self._served.read_again(question.response.question.body, ranked)
            rankings.append(replace(served, documents=served.documents[:DEPTH]))
        return rankings

    def _ranking(self, model: nn.Module, question: Prepared, example: Example) -> Ranking:
        candidates = question.retrieved.candidates
        if not candidates:
            return Ranking(())
        with torch.inference_mode():
            scores = model(collate([example], self._start.vocabulary).to(place_of(model)))
        return ranking(candidates, scores.documents.cpu().numpy(), scores.sentences.cpu().numpy())


def _response(question: Prepared, ranked: Ranking, calibration: Calibration, scale: Scale | None) -> Response:
    limits = SelectionLimits(margin=None if scale is None else scale.margin)
    return select(ranked, calibration, limits).response(question.response.question)


def baseline_answers(baseline: Bm25Ranker, questions: Sequence[Prepared]) -> list[Response]:
    return [
        _response(
            question,
            baseline.rank(question.response.question.body, question.retrieved.candidates),
            baseline.calibration,
            baseline.scale,
        )
        for question in questions
    ]


def answers_of(trained: Checkpoint, questions: Sequence[Prepared]) -> list[Response]:
    """A checkpoint's answers to questions that were prepared with its vocabulary."""
    rankings = _Trainer(trained, questions, 0).rankings(trained.model, range(len(questions)))
    return [
        _response(question, ranked, trained.calibration, trained.scale)
        for question, ranked in zip(questions, rankings, strict=True)
    ]


def _folds(count: int, seed: int) -> list[list[int]]:
    """Places of questions, shuffled into FOLDS parts of nearly one size."""
    places = list(range(count))
    random.Random(seed).shuffle(places)  # noqa: S311
    return [sorted(places[fold::FOLDS]) for fold in range(FOLDS)]


def question_values(golden: Sequence[Response], answers: Sequence[Response]) -> Doubles:
    """[questions] mean of the documents' average precision and the snippets' F1."""
    measured = per_question(golden, answers, LATEST)
    return np.array([(m.documents.average_precision + m.snippets.f1) / 2 for m in measured], dtype=np.float64)


def gain_of(differences: Doubles) -> Gain:
    """``differences``: [questions]."""
    low, high = interval(resampled_means(differences[:, None]), CONFIDENCE)
    return Gain(float(differences.mean()), float(low[0]), float(high[0]))


def _checkpoint(
    start: Checkpoint,
    settings: RankerSettings,
    model: nn.Module,
    choice: TrainingChoice,
    comparison: Comparison,
    record: Mapping[str, Any] | None,
) -> Checkpoint:
    trained = next(system for system in comparison.systems if system.name == TRAINED)
    named = {"document_map": "map_documents", "snippet_f1": "mf1_snippets"}
    scores = {
        name: score.value for name, measure in named.items() if (score := trained.score(measure)) is not None
    }
    training = {
        **(record or {}),
        "questions": len(comparison.golden),
        "best_epoch": choice.epochs,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    return replace(
        start,
        settings=settings,
        model=model if choice.epochs else start.model,
        training=training,
        scores=scores,
        scale=None if start.scale is None else replace(start.scale, margin=choice.margin),
    )
