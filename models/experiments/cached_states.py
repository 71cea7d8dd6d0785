"""Encoders in experiments: loaded anew for every component, with one cache of frozen states for all."""

from collections.abc import Iterator
from pathlib import Path

import torch

from bioqa.models.encoders.cache import StateCache, key_of
from bioqa.models.encoders.encoder import Encoder, Layers
from bioqa.models.encoders.inputs import EncoderInput
from bioqa.models.experiments.components import TrainedComponent
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.scoring import Log
from bioqa.models.rankers.batch import Example
from bioqa.models.rankers.registry import ARCHITECTURES, reader_for
from bioqa.models.training.data import RankerInputs
from bioqa.models.training.sampling import sample

_AT_ONCE = 512


def open_encoder_for(
    name: str, device: str, states: Path | None = None, *, half_precision: bool = True
) -> Encoder:
    """Load it anew, so that no run inherits another's fine-tuning. ``states``: folder of the cache."""
    encoder = Encoder.load(name, device=device)
    encoder.half_precision = half_precision
    if states is not None:
        encoder.cache = StateCache(states, encoder.fingerprint, encoder.width)
    return encoder


def warm(
    component: TrainedComponent, data: ExperimentData, encoder: Encoder, log: Log = lambda line: None
) -> None:
    """Cache the states of everything that the component reads while its encoder is frozen.

    If states of all layers are needed, the last layer's are cached under their own key too, for the variant
    without mixture, if both are the same (some families normalise the last layer's output once more).
    """
    cache, encoding = encoder.cache, component.settings.encoding
    if cache is None or encoding is None:
        return
    layers: Layers = "all" if encoding.mix_layers else "last"
    inputs = list(_inputs(component, data, encoder))
    missing = {key: x for x in inputs if cache.get(key := key_of(x, layers)) is None}
    sequences = sorted(missing.values(), key=lambda x: -len(x.ids))
    both = layers == "all" and bool(sequences) and _last_is_last(encoder, sequences[-1])
    for begin in range(0, len(sequences), _AT_ONCE):
        some_of = sequences[begin : begin + _AT_ONCE]
        states = encoder.states(some_of, layers)
        if both:
            counts = [len(x.places) for x in some_of]
            for x, of_x in zip(some_of, torch.split(states[:, -1:], counts), strict=True):
                if cache.get(key := key_of(x, "last")) is None:
                    cache.put(key, of_x)
        log(f"{component.name}: states of {begin + len(some_of)} of {len(sequences)} sequences")


def _last_is_last(encoder: Encoder, sequence: EncoderInput) -> bool:
    last, highest = encoder.states([sequence]), encoder.states([sequence], "all")[:, -1:]
    return bool(torch.allclose(last, highest, atol=1e-2))


def _inputs(component: TrainedComponent, data: ExperimentData, encoder: Encoder) -> Iterator[EncoderInput]:
    """Sequences of the training share and of the watched questions; unless the encoder is fine-tuned before
    they are read, also those of the other development questions and of all collections.
    """
    inputs = RankerInputs(
        component.settings, data.vocabulary, data.scaling, reader_for(component.settings, encoder)
    )
    share = component.share
    numbers = (share.watched,) if component.settings.fine_tune else (share.watched, share.dev_questions)
    dev = {id(q.response): q for n in numbers for q in sample(data.dev, n)}
    measured = share.keep_measured(dev.values())
    if not component.settings.fine_tune:
        measured += [q for qs in data.tests.values() for q in share.test(qs)]
    for question, pools in [
        *((q, [q.retrieved]) for q in share.train(data.train)),
        *((q, [q.retrieved, q.gold]) for q in measured),
    ]:
        for pool in pools:
            example = inputs.example(question, pool)
            yield from _sequences(example, encoder, ARCHITECTURES[component.settings.ranker].reads)


def _sequences(example: Example, encoder: Encoder, reads: str) -> Iterator[EncoderInput]:
    pieces = example.pieces
    assert pieces is not None
    if reads == "pairs":
        yield from (encoder.pair(pieces.question.ids, unit.ids) for unit in pieces.units)
    else:
        yield from (encoder.single(text) for text in (pieces.question, *pieces.units))
