"""An encoder without training: sentences are scored by the cosine of their vectors with the question's."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from bioqa.models.arrays import Floats
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.encoders.loading import place_of
from bioqa.models.experiments.components import ZeroShot
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.scoring import Log
from bioqa.models.experiments.speed import timing
from bioqa.models.experiments.stored_scores import ComponentScores
from bioqa.models.training.data import Pool, Prepared
from bioqa.models.training.development import PoolScores

Pooling = Literal["cls", "mean"]


def pooling_of(name: str) -> Pooling:
    """The encoder's pooling, if it comes with sentence-transformers' files; else the state of [CLS]."""
    path = Path(place_of(name)) / "1_Pooling" / "config.json"
    if not path.is_file():
        return "cls"
    return "mean" if json.loads(path.read_text(encoding="utf-8")).get("pooling_mode_mean_tokens") else "cls"


class SentenceVectors:
    """Vectors of texts, of length 1; each text is encoded once."""

    def __init__(self, encoder: Encoder, pooling: Pooling) -> None:
        self._encoder = encoder
        self._pooling = pooling
        self._known: dict[str, Floats] = {}

    def __call__(self, texts: Sequence[str]) -> Floats:
        """[texts, width]"""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            read_vectors = self._read(missing)
            self._known |= dict(zip(missing, read_vectors, strict=True))
        return np.stack([self._known[text] for text in texts])

    def _read(self, texts: Sequence[str]) -> Floats:
        inputs = []
        for pieces in self._encoder.pieces(texts):
            x = self._encoder.single(pieces)
            places = np.arange(len(x.ids) if self._pooling == "mean" else 1)
            inputs.append(replace(x, places=places))
        with torch.inference_mode():
            states = self._encoder.states(inputs)[:, 0].cpu()
            of_texts = torch.split(states, [len(x.places) for x in inputs])
            pooled = torch.stack([of_text.mean(dim=0) for of_text in of_texts])
            vectors: Floats = torch.nn.functional.normalize(pooled, dim=1).numpy()
        return vectors


def score_zero_shot(
    component: ZeroShot, data: ExperimentData, encoder: Encoder, log: Log = lambda line: None
) -> ComponentScores:
    """Score sentences by their cosine with the question, documents by their best sentence."""
    pooling = pooling_of(component.encoder)
    vectors = SentenceVectors(encoder, pooling)

    def score(name: str, questions: Sequence[Prepared]) -> list[PoolScores]:
        scores = []
        for done, question in enumerate(questions, 1):
            scores.append(_scores_of(vectors, component, question))
            if done % 50 == 0:
                log(f"{name}: {done}/{len(questions)} questions")
        return scores

    dev = score("dev", component.share.dev(data.dev))
    tests = {name: score(name, component.share.test(qs)) for name, qs in data.tests.items()}
    record = {
        "parameters": 0,
        **timing(
            lambda q: _scores_of(SentenceVectors(encoder, pooling), component, q),
            data,
            component.share.candidates,
        ),
        "encoder": {"name": Path(encoder.name).name, "fingerprint": encoder.fingerprint},
        "pooling": pooling,
    }
    return ComponentScores(dev, tests, record)


def _scores_of(vectors: SentenceVectors, component: ZeroShot, question: Prepared) -> PoolScores:
    question_vector = vectors([component.prompt + question.response.question.body])[0]
    documents, sentences = _cosines(vectors, question_vector, question.retrieved)
    return PoolScores(documents, sentences, _cosines(vectors, question_vector, question.gold)[1])


def _cosines(vectors: SentenceVectors, question_vector: Floats, pool: Pool) -> tuple[Floats, Floats]:
    texts = [c.document.sentence_texts() for c in pool.candidates]
    if not any(texts):
        return np.zeros(len(texts)), np.zeros(0)
    sentences = vectors([text for of_document in texts for text in of_document]) @ question_vector
    ends = np.cumsum([len(of_document) for of_document in texts])[:-1]
    documents = [float(s.max()) if len(s) else -1.0 for s in np.split(sentences, ends)]
    return np.array(documents), sentences
