"""Scoring with components: by training a ranker, or with one that is ready."""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from torch import nn

from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.selection import Calibration
from bioqa.models.arrays import Floats
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.experiments.components import Ready, TrainedComponent, scaling_without
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.speed import TimedRanker, speed
from bioqa.models.experiments.stored_scores import ComponentScores
from bioqa.models.features.extractor import Scaling
from bioqa.models.rankers.registry import encoder_of, learned_state, reader_for
from bioqa.models.reranker import Reranker
from bioqa.models.training.data import Prepared, RankerInputs
from bioqa.models.training.development import Development, PoolScores
from bioqa.models.training.loop import Epoch
from bioqa.models.training.sampling import sample
from bioqa.models.training.train import train_model

Log = Callable[[str], None]
"""Called with each line of progress."""


def train_component(
    component: TrainedComponent,
    data: ExperimentData,
    seed: int,
    encoder: Encoder | None = None,
    *,
    state: Path | None = None,
    log: Log = lambda line: None,
) -> ComponentScores:
    """Train a component from one seed, and score dev and all collections with it.

    ``encoder``: loaded anew for every fine-tuned component, as training changes it. ``state``: as for
    ``train_model``.
    """
    settings, share = component.settings, component.share
    scaling = scaling_without(data.scaling, component.without)
    inputs = RankerInputs(settings, data.vocabulary, scaling, reader_for(settings, encoder))

    def report(epoch: Epoch) -> None:
        scores = ", ".join(f"{name} {value:.4f}" for name, value in epoch.scores.items())
        log(f"epoch {epoch.number}: loss {epoch.loss:.4f}, {scores} ({epoch.seconds:.0f} s)")

    begun = time.monotonic()
    trained = train_model(
        inputs,
        share.train(data.train),
        Development(share.keep_measured(sample(data.dev, share.watched)), inputs),
        seed=seed,
        progress=report,
        state=state,
    )
    if encoder is not None and settings.fine_tune:
        # The cached states are those of the encoder before fine-tuning.
        encoder.cache = None
    seconds = time.monotonic() - begun

    def score(questions: Sequence[Prepared]) -> list[PoolScores]:
        return Development(questions, inputs).scores(trained.model)

    dev = score(share.dev(data.dev))
    tests = {name: score(share.test(qs)) for name, qs in data.tests.items()}
    record = {
        "parameters": learning_parameters(trained.model, fine_tuned=settings.fine_tune),
        **speed(_ranker(component, trained.model, data, scaling), data, share.candidates),
        "weights": weights_fingerprint(trained.model),
        "train_seconds": round(seconds),
        "epochs": [asdict(epoch) for epoch in trained.epochs],
        "best_epoch": trained.best.number,
    }
    if encoder is not None:
        record["encoder"] = {"name": Path(encoder.name).name, "fingerprint": encoder.fingerprint}
    return ComponentScores(dev, tests, record)


def learning_parameters(model: nn.Module, *, fine_tuned: bool = True) -> int:
    """Number of parameters that are trained."""
    encoder = encoder_of(model)
    frozen = {id(p) for p in encoder.parameters()} if encoder is not None and not fine_tuned else set()
    return sum(p.numel() for p in model.parameters() if p.requires_grad and id(p) not in frozen)


def weights_fingerprint(model: nn.Module) -> str:
    """SHA-256 of what training changed; of nothing for a ranker that has nothing to learn."""
    digest = hashlib.sha256()
    for name, values in sorted(learned_state(model).items()):
        digest.update(f"{name}\0{tuple(values.shape)}\0".encode())
        digest.update(values.detach().cpu().numpy().tobytes())
    return digest.hexdigest()


def _ranker(
    component: TrainedComponent, model: nn.Module, data: ExperimentData, scaling: Scaling
) -> Reranker:
    # Ablated features are computed all the same, so their time counts.
    loaded = Checkpoint(component.settings, model.eval(), data.vocabulary, scaling, Calibration(), {}, {})
    return Reranker(loaded, name=component.name)


def score_ready(
    component: Ready, ranker: TimedRanker, data: ExperimentData, log: Log = lambda line: None
) -> ComponentScores:
    """Score through ``rank`` alone; gold documents are ranked one at a time, for their sentences."""
    share = component.share

    def score(name: str, questions: Sequence[Prepared]) -> list[PoolScores]:
        scores = []
        for done, question in enumerate(questions, 1):
            body, candidates = question.response.question.body, question.retrieved.candidates
            documents, sentences = in_order(ranker.rank(body, candidates), candidates)
            gold = [in_order(ranker.rank(body, [c]), [c])[1] for c in question.gold.candidates]
            scores.append(PoolScores(documents, sentences, np.concatenate([np.zeros(0), *gold])))
            if done % 50 == 0:
                log(f"{name}: {done}/{len(questions)} questions")
        return scores

    dev = score("dev", share.dev(data.dev))
    tests: Mapping[str, Sequence[PoolScores]] = {
        name: score(name, share.test(qs)) for name, qs in data.tests.items()
    }
    return ComponentScores(dev, tests, speed(ranker, data, share.candidates))


def in_order(ranking: Ranking, candidates: Sequence[Candidate]) -> tuple[Floats, Floats]:
    """Scores of the documents [D] and of their sentences [S], in the order of the candidates."""
    by_url: dict[str, RankedDocument] = {d.document.url: d for d in ranking.documents}
    ranked = [by_url[candidate.document.url] for candidate in candidates]
    sentences = [np.array(d.sentence_scores, dtype=np.float64) for d in ranked]
    return np.array([d.score for d in ranked]), np.concatenate([np.zeros(0), *sentences])
