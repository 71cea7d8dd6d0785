"""Scores of parts: trains a ranker and scores with it, or scores with what is there."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.selection import Calibration
from bioqa.models.arrays import Floats
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.experiments.parts import Data, Part, PartScores, Ready, scaling_without
from bioqa.models.experiments.shares import Share, some
from bioqa.models.features.extractor import Scaling
from bioqa.models.rankers.registry import encoder_of, reader_for
from bioqa.models.reranker import Reranker
from bioqa.models.training.data import Prepared
from bioqa.models.training.resume import Epoch
from bioqa.models.training.run import Development, PoolScores, train_model

TIMED = 5
"""Questions that a ranker's speed is measured on."""

Progress = Callable[[str], None]


class Ranks(Protocol):
    """Of a ranker that is ready to serve, what measuring needs."""

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking: ...


def train_part(
    part: Part,
    data: Data,
    seed: int,
    encoder: Encoder | None = None,
    *,
    unfinished: Path | None = None,
    progress: Progress = lambda text: None,
) -> PartScores:
    """``encoder``: fresh for every fine-tuned part, as training changes it. ``unfinished``: as ``fit``'s."""
    settings, share = part.settings, part.share
    scaling = scaling_without(data.scaling, part.without)
    reader = reader_for(settings, encoder)

    def of(questions: Sequence[Prepared]) -> Development:
        return Development(questions, settings, scaling, data.vocabulary, reader)

    def told(epoch: Epoch) -> None:
        scores = ", ".join(f"{name} {value:.4f}" for name, value in epoch.scores.items())
        progress(f"epoch {epoch.number}: loss {epoch.loss:.4f}, {scores} ({epoch.seconds:.0f} s)")

    begun = time.monotonic()
    trained = train_model(
        settings,
        data.vocabulary,
        share.train(data.train),
        scaling,
        of(share.measured(some(data.dev, share.watched))),
        seed=seed,
        progress=told,
        reader=reader,
        unfinished=unfinished,
    )
    if encoder is not None and settings.fine_tune:
        # What is kept there is of the encoder as it was.
        encoder.cache = None
    seconds = time.monotonic() - begun
    dev = of(share.dev(data.dev)).scores(trained.model)
    tests = {name: of(share.test(qs)).scores(trained.model) for name, qs in data.tests.items()}
    record = {
        "parameters": learning_parameters(trained.model, fine_tuned=settings.fine_tune),
        **speed(_ranker(part, trained.model, data, scaling), data, share.candidates),
        "train_seconds": round(seconds),
        "epochs": [asdict(epoch) for epoch in trained.epochs],
        "best_epoch": trained.best.number,
    }
    if encoder is not None:
        record["encoder"] = {"name": Path(encoder.name).name, "fingerprint": encoder.fingerprint}
    return PartScores(dev, tests, record)


def learning_parameters(model: nn.Module, *, fine_tuned: bool = True) -> int:
    """How many numbers training may change."""
    encoder = encoder_of(model)
    frozen = {id(p) for p in encoder.parameters()} if encoder is not None and not fine_tuned else set()
    return sum(p.numel() for p in model.parameters() if p.requires_grad and id(p) not in frozen)


def _ranker(part: Part, model: nn.Module, data: Data, scaling: Scaling) -> Reranker:
    # Infinite deviations stay in: what is taken away costs its time all the same.
    loaded = Checkpoint(part.settings, model.eval(), data.vocabulary, scaling, Calibration(), {}, {})
    return Reranker(loaded, name=part.name)


def speed(ranker: Ranks, data: Data, candidates: int) -> dict[str, Any]:
    """Of ``rank``, with documents already tokenised and nothing taken from kept states."""
    encoder = encoder_of(ranker.checkpoint.model) if isinstance(ranker, Reranker) else None
    cache = None
    if encoder is not None:
        cache, encoder.cache = encoder.cache, None
    took = timing(lambda q: ranker.rank(q.response.question.body, q.retrieved.candidates), data, candidates)
    if encoder is not None:
        encoder.cache = cache
    return took


def timing(answer: Callable[[Prepared], object], data: Data, candidates: int) -> dict[str, Any]:
    """The median milliseconds of a question, each the better of two: on the clock, and of all threads.

    What all threads worked together does not depend on what else the machine did.
    """
    questions = Share(candidates=candidates).measured(next(iter(data.tests.values()))[:TIMED])
    times = np.array([[_timed(answer, question) for _ in range(2)] for question in questions]).min(axis=1)
    milliseconds, of_threads = np.median(1000 * times, axis=0).round(1).tolist()
    return {
        "milliseconds": milliseconds,
        "thread_milliseconds": of_threads,
        "threads": torch.get_num_threads(),
    }


def _timed(answer: Callable[[Prepared], object], question: Prepared) -> tuple[float, float]:
    begun = time.perf_counter(), time.process_time()
    answer(question)
    return time.perf_counter() - begun[0], time.process_time() - begun[1]


def score_ready(part: Ready, ranker: Ranks, data: Data, progress: Progress = lambda text: None) -> PartScores:
    """By ``rank`` alone. Sentences of gold documents are scored one document at a time."""
    share = part.share

    def scored(name: str, questions: Sequence[Prepared]) -> list[PoolScores]:
        made = []
        for done, question in enumerate(questions, 1):
            body, found = question.response.question.body, question.retrieved.candidates
            documents, sentences = in_order(ranker.rank(body, found), found)
            gold = [in_order(ranker.rank(body, [c]), [c])[1] for c in question.gold.candidates]
            made.append(PoolScores(documents, sentences, np.concatenate([np.zeros(0), *gold])))
            if done % 50 == 0:
                progress(f"{name}: {done}/{len(questions)} questions")
        return made

    dev = scored("dev", share.dev(data.dev))
    tests: Mapping[str, Sequence[PoolScores]] = {
        name: scored(name, share.test(qs)) for name, qs in data.tests.items()
    }
    return PartScores(dev, tests, speed(ranker, data, share.candidates))


def in_order(ranking: Ranking, candidates: Sequence[Candidate]) -> tuple[Floats, Floats]:
    """Scores of the documents [D] and of their sentences [S], in the order of the candidates."""
    by_url: dict[str, RankedDocument] = {d.document.url: d for d in ranking.documents}
    ranked = [by_url[candidate.document.url] for candidate in candidates]
    sentences = [np.array(d.sentence_scores, dtype=np.float64) for d in ranked]
    return np.array([d.score for d in ranked]), np.concatenate([np.zeros(0), *sentences])
