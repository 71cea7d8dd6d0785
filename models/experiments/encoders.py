"""Encoders in experiments: opened afresh for every part, their frozen states kept once for all."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from bioqa.models.arrays import Floats
from bioqa.models.encoders.cache import StateCache, key_of
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.encoders.inputs import EncoderInput
from bioqa.models.encoders.loading import place_of
from bioqa.models.experiments.making import Progress, timing
from bioqa.models.experiments.parts import Data, Part, PartScores, ZeroShot
from bioqa.models.experiments.shares import some
from bioqa.models.rankers.batch import Example
from bioqa.models.rankers.registry import RANKERS, reader_for
from bioqa.models.training.data import Pool, Prepared, example_of
from bioqa.models.training.run import PoolScores

Pooling = Literal["cls", "mean"]
_AT_ONCE = 512


def open_for(name: str, device: str, states: Path | None = None, *, half_precision: bool = True) -> Encoder:
    """A fresh one, so that no run inherits what another fine-tuned. ``states``: the folder of kept ones."""
    encoder = Encoder.load(name, device=device)
    encoder.half_precision = half_precision
    if states is not None:
        encoder.cache = StateCache(states, encoder.fingerprint, encoder.width)
    return encoder


def warm(part: Part, data: Data, encoder: Encoder, progress: Progress = lambda text: None) -> None:
    """Keeps the states of everything that the part reads while its encoder is frozen.

    Where all layers' states are wanted, the last's are kept beside them for the part's variant without
    mixture, if they are the same (a family may normalise its last layer's once more).
    """
    cache, layers = encoder.cache, "all" if part.settings.mix_layers else "last"
    if cache is None:
        return
    inputs = list(_inputs(part, data, encoder))
    missing = {key: x for x in inputs if cache.get(key := key_of(x, layers)) is None}
    sequences = sorted(missing.values(), key=lambda x: -len(x.ids))
    both = layers == "all" and bool(sequences) and _last_is_last(encoder, sequences[-1])
    for begin in range(0, len(sequences), _AT_ONCE):
        some_of = sequences[begin : begin + _AT_ONCE]
        states = encoder.states(some_of, "all" if layers == "all" else "last")
        if both:
            counts = [len(x.places) for x in some_of]
            for x, of_x in zip(some_of, torch.split(states[:, -1:], counts), strict=True):
                if cache.get(key := key_of(x, "last")) is None:
                    cache.put(key, of_x)
        progress(f"{part.name}: states of {begin + len(some_of)} of {len(sequences)} sequences")


def _last_is_last(encoder: Encoder, sequence: EncoderInput) -> bool:
    last, highest = encoder.states([sequence]), encoder.states([sequence], "all")[:, -1:]
    return bool(torch.allclose(last, highest, atol=1e-2))


def _inputs(part: Part, data: Data, encoder: Encoder) -> Iterator[EncoderInput]:
    """Sequences of the training share and of the watched questions; and, unless the encoder changes before
    they are read, of the other development questions and of all collections.
    """
    reader = reader_for(part.settings, encoder)
    share = part.share
    numbers = (share.watched,) if part.settings.fine_tune else (share.watched, share.dev_questions)
    dev = {id(q.response): q for n in numbers for q in some(data.dev, n)}
    measured = share.measured(dev.values())
    if not part.settings.fine_tune:
        measured += [q for qs in data.tests.values() for q in share.test(qs)]
    for question, pools in [
        *((q, [q.retrieved]) for q in share.train(data.train)),
        *((q, [q.retrieved, q.gold]) for q in measured),
    ]:
        for pool in pools:
            example = example_of(question, pool, part.settings, data.scaling, reader)
            yield from _sequences(example, encoder, RANKERS[part.settings.ranker].reads)


def _sequences(example: Example, encoder: Encoder, reads: str) -> Iterator[EncoderInput]:
    pieces = example.pieces
    assert pieces is not None
    if reads == "pairs":
        yield from (encoder.pair(pieces.question.ids, unit.ids) for unit in pieces.units)
    else:
        yield from (encoder.single(text) for text in (pieces.question, *pieces.units))


def pooling_of(name: str) -> Pooling:
    """The encoder's own, where sentence-transformers' files stand beside it; else the state of [CLS]."""
    path = Path(place_of(name)) / "1_Pooling" / "config.json"
    if not path.is_file():
        return "cls"
    return "mean" if json.loads(path.read_text(encoding="utf-8")).get("pooling_mode_mean_tokens") else "cls"


class SentenceVectors:
    """An encoder's own vectors of texts, of length 1; each text is read once."""

    def __init__(self, encoder: Encoder, pooling: Pooling) -> None:
        self._encoder = encoder
        self._pooling = pooling
        self._known: dict[str, Floats] = {}

    def __call__(self, texts: Sequence[str]) -> Floats:
        """[texts, width]"""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            made = self._read(missing)
            self._known |= dict(zip(missing, made, strict=True))
        return np.stack([self._known[text] for text in texts])

    def _read(self, texts: Sequence[str]) -> Floats:
        inputs = []
        for pieces in self._encoder.pieces(texts):
            x = self._encoder.single(pieces)
            places = np.arange(len(x.ids) if self._pooling == "mean" else 1)
            inputs.append(replace(x, places=places))
        with torch.inference_mode():
            states = self._encoder.states(inputs)[:, 0]
            of_texts = torch.split(states, [len(x.places) for x in inputs])
            pooled = torch.stack([of_text.mean(dim=0) for of_text in of_texts])
            vectors: Floats = torch.nn.functional.normalize(pooled, dim=1).numpy()
        return vectors


def score_zero_shot(
    part: ZeroShot, data: Data, encoder: Encoder, progress: Progress = lambda text: None
) -> PartScores:
    """Sentences by the cosine with the question, documents by their best sentence's."""
    pooling = pooling_of(part.encoder)
    vectors = SentenceVectors(encoder, pooling)

    def scored(name: str, questions: Sequence[Prepared]) -> list[PoolScores]:
        made = []
        for done, question in enumerate(questions, 1):
            made.append(_scores_of(vectors, part, question))
            if done % 50 == 0:
                progress(f"{name}: {done}/{len(questions)} questions")
        return made

    dev = scored("dev", part.share.dev(data.dev))
    tests = {name: scored(name, part.share.test(qs)) for name, qs in data.tests.items()}
    record = {
        "parameters": 0,
        **timing(
            lambda q: _scores_of(SentenceVectors(encoder, pooling), part, q), data, part.share.candidates
        ),
        "encoder": {"name": Path(encoder.name).name, "fingerprint": encoder.fingerprint},
        "pooling": pooling,
    }
    return PartScores(dev, tests, record)


def _scores_of(vectors: SentenceVectors, part: ZeroShot, question: Prepared) -> PoolScores:
    asked = vectors([part.prompt + question.response.question.body])[0]
    documents, sentences = _cosines(vectors, asked, question.retrieved)
    return PoolScores(documents, sentences, _cosines(vectors, asked, question.gold)[1])


def _cosines(vectors: SentenceVectors, asked: Floats, pool: Pool) -> tuple[Floats, Floats]:
    texts = [[c.document.sentence_text(s) for s in c.document.sentences] for c in pool.candidates]
    if not any(texts):
        return np.zeros(len(texts)), np.zeros(0)
    sentences = vectors([text for of_document in texts for text in of_document]) @ asked
    ends = np.cumsum([len(of_document) for of_document in texts])[:-1]
    documents = [float(s.max()) if len(s) else -1.0 for s in np.split(sentences, ends)]
    return np.array(documents), sentences
