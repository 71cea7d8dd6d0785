"""From questions with gold to a checkpoint: prepare, train, calibrate, measure."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from bioqa.models.answers.calibration import calibrate
from bioqa.models.answers.evaluation import SentenceCase, mean_average_precision, measure, sentence_auc
from bioqa.models.answers.ranking import Ranking
from bioqa.models.answers.selection import Calibration
from bioqa.models.arrays import Floats
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.encoders.reading import Reader
from bioqa.models.features.extractor import Scaling
from bioqa.models.rankers.batch import Example, collate
from bioqa.models.rankers.registry import RANKERS, RankerSettings, build, reader_for
from bioqa.models.reranker import ranking
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.data import Prepared, example_of, scaling_of
from bioqa.models.training.loop import TrainingQuestion, fit
from bioqa.models.training.resume import Epoch


@dataclass(frozen=True, slots=True)
class PoolScores:
    """A ranker's scores of one question: of the retrieved documents and sentences, and of gold documents'."""

    documents: Floats
    sentences: Floats
    gold_sentences: Floats


class Development:
    """Development questions in the form that one kind of ranker reads, to be measured again and again."""

    def __init__(
        self,
        questions: Sequence[Prepared],
        settings: RankerSettings,
        scaling: Scaling,
        vocabulary: Vocabulary,
        reader: Reader | None = None,
    ) -> None:
        self.questions = questions
        self._vocabulary = vocabulary
        self._documents_only = RANKERS[settings.ranker].units == "documents"
        self._retrieved = [example_of(q, q.retrieved, settings, scaling, reader) for q in questions]
        self._gold = [example_of(q, q.gold, settings, scaling, reader) for q in questions]

    def scores(self, model: nn.Module) -> list[PoolScores]:
        model.eval()
        scored = []
        for retrieved, gold in zip(self._retrieved, self._gold, strict=True):
            documents, sentences = self._forward(model, retrieved)
            within = sentences[:0] if self._documents_only else self._forward(model, gold)[1]
            scored.append(PoolScores(documents, sentences, within))
        return scored

    def _forward(self, model: nn.Module, example: Example) -> tuple[Floats, Floats]:
        if not len(example.unit_counts):
            return np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.float32)
        with torch.inference_mode():
            scores = model(collate([example], self._vocabulary))
        return scores.documents.numpy(), scores.sentences.numpy()

    def measure(self, model: nn.Module) -> tuple[dict[str, float], float]:
        """Document MAP (edition 8), snippet F1 after calibration, AUC within gold documents; and their mean.

        Each kind of ranker only by what it scores.
        """
        scored = self.scores(model)
        documents = document_map(self.questions, [s.documents for s in scored])
        if self._documents_only:
            return {"document_map": documents}, documents
        auc = gold_auc(self.questions, [s.gold_sentences for s in scored])
        rankings = rankings_of(self.questions, scored)
        f1 = calibrate(rankings, [q.response for q in self.questions])[1]
        named = {"document_map": documents, "snippet_f1": f1, "sentence_auc": auc}
        return named, float(np.mean(list(named.values())))


def rankings_of(questions: Sequence[Prepared], scored: Sequence[PoolScores]) -> list[Ranking]:
    return [
        ranking(q.retrieved.candidates, s.documents, s.sentences)
        for q, s in zip(questions, scored, strict=True)
    ]


def document_map(questions: Sequence[Prepared], scores: Sequence[Floats]) -> float:
    by_rank = [
        q.retrieved.relevant[np.argsort(-s, kind="stable")] for q, s in zip(questions, scores, strict=True)
    ]
    return mean_average_precision(by_rank, [len(set(q.response.documents)) for q in questions])


def gold_auc(questions: Sequence[Prepared], scores: Sequence[Floats]) -> float:
    areas = gold_areas(questions, scores)
    return float(np.mean([*areas.values()])) if areas else 0.0


def gold_areas(questions: Sequence[Prepared], scores: Sequence[Floats]) -> dict[str, float]:
    """Of each gold document whose sentences are of both kinds, by the question's id and the document's."""
    areas = {}
    for question, of_question in zip(questions, scores, strict=True):
        ends = np.cumsum([len(tokens.word_counts) for tokens in question.gold.tokens])[:-1]
        split = zip(np.split(of_question, ends), np.split(question.gold.labels, ends), strict=True)
        for candidate, (of_document, labels) in zip(question.gold.candidates, split, strict=False):
            if labels.any() and not labels.all():
                key = f"{question.response.question.id} {candidate.document.pmid}"
                areas[key] = sentence_auc([SentenceCase(of_document, labels)])
    return areas


@dataclass(frozen=True, slots=True)
class Trained:
    model: nn.Module
    epochs: Sequence[Epoch]

    @property
    def best(self) -> Epoch:
        return max(self.epochs, key=lambda epoch: epoch.score)


def train_model(
    settings: RankerSettings,
    vocabulary: Vocabulary,
    train: Sequence[Prepared],
    scaling: Scaling,
    development: Development,
    *,
    seed: int,
    progress: Callable[[Epoch], None] = lambda epoch: None,
    reader: Reader | None = None,
    unfinished: Path | None = None,
) -> Trained:
    """Trains one ranker from one seed, on questions made ready before.

    A ranker over an encoder takes the reader's, which fine-tuning changes. ``unfinished``: as ``fit``'s.
    """
    # Dropout draws from torch's generator as well, while an encoder is fine-tuned.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = None if reader is None else reader.encoder
        model = build(settings, torch.from_numpy(vocabulary.vectors), encoder)
        questions = [_training_question(q, settings, scaling, reader) for q in train]
        epochs = fit(
            model, settings, questions, vocabulary, development.measure, seed, progress, unfinished=unfinished
        )
    return Trained(model, epochs)


def _training_question(
    prepared: Prepared, settings: RankerSettings, scaling: Scaling, reader: Reader | None
) -> TrainingQuestion:
    pool = prepared.retrieved
    return TrainingQuestion(
        example_of(prepared, pool, settings, scaling, reader),
        pool.relevant,
        pool.labels,
        tuple(len(tokens.word_counts) for tokens in pool.tokens),
    )


def make_checkpoint(
    settings: RankerSettings,
    vocabulary: Vocabulary,
    train: Sequence[Prepared],
    dev: Sequence[Prepared],
    *,
    seed: int,
    training: Mapping[str, Any],
    progress: Callable[[Epoch], None] = lambda epoch: None,
    encoder: Encoder | None = None,
    unfinished: Path | None = None,
) -> Checkpoint:
    """Trains, calibrates on dev and measures on dev. ``training`` is recorded with it.

    ``encoder``: of the settings, if the ranker has one; fine-tuning changes it. ``unfinished``: as ``fit``'s.
    """
    scaling = scaling_of(train)
    reader = reader_for(settings, encoder)
    development = Development(dev, settings, scaling, vocabulary, reader)
    trained = train_model(
        settings,
        vocabulary,
        train,
        scaling,
        development,
        seed=seed,
        progress=progress,
        reader=reader,
        unfinished=unfinished,
    )
    scores: dict[str, Any] = dict(trained.best.scores)
    calibration = Calibration()
    if RANKERS[settings.ranker].units == "sentences":
        rankings = rankings_of(dev, development.scores(trained.model))
        golden = [q.response for q in dev]
        calibration = calibrate(rankings, golden)[0]
        official = measure(rankings, golden, calibration)
        scores["snippet_f1"] = float(np.mean([q.snippets.f1 for q in official]))
    record = {
        **training,
        "seed": seed,
        "epochs": len(trained.epochs),
        "best_epoch": trained.best.number,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    return Checkpoint(settings, trained.model, vocabulary, scaling, calibration, record, scores)
