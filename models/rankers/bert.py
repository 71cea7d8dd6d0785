"""BERT, JBERT and BJPDRMM: rankers over an encoder's states.

Pappas and Androutsopoulos 2021, Sections 2.3 and 2.4, Figure 3. Published: heads trained at .01 for 4 epochs
over the frozen encoder, then the encoder at 2e-5 as well.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from torch import nn
from torch.nn.functional import leaky_relu

from bioqa.models.encoders.encoder import Encoder
from bioqa.models.encoders.reading import Reads
from bioqa.models.features.extractor import feature_counts
from bioqa.models.rankers.heads import Dense, DocumentRanker, SentenceRanker, sentence_head
from bioqa.models.rankers.joint import JointSettings, joint
from bioqa.models.rankers.pdrmm import Pdrmm
from bioqa.models.rankers.settings import Encoding, Kind, RankerSettings, SentenceTraining, Training
from bioqa.models.rankers.states import PairStates, WordStates

PAPER = "Pappas and Androutsopoulos 2021"


def _bert(settings: RankerSettings, encoder: nn.Module) -> nn.Module:
    states = PairStates(*_check(settings, encoder))
    return DocumentRanker(states, Dense(feature_counts(settings.reading.features)[0], states.width))


def _contextual_pdrmm(settings: RankerSettings, encoder: nn.Module) -> SentenceRanker:
    states = WordStates(*_check(settings, encoder))
    pdrmm = Pdrmm(states, states.width, partial(leaky_relu, negative_slope=0.1))
    return SentenceRanker(pdrmm, sentence_head(settings))


def _bert_sentences(settings: RankerSettings, encoder: nn.Module) -> SentenceRanker:
    states = PairStates(*_check(settings, encoder))
    return SentenceRanker(states, sentence_head(settings, states.width))


def _check(settings: RankerSettings, encoder: nn.Module) -> tuple[Encoder, bool]:
    """The encoder, and whether its layers are mixed."""
    assert isinstance(encoder, Encoder)
    assert settings.encoding is not None
    return encoder, settings.encoding.mix_layers


def _variants(
    name: str, title: str, build: Callable[[RankerSettings, nn.Module], SentenceRanker], reads: Reads
) -> dict[str, Kind]:
    """A joint architecture and its variants: -ADAPT mixes the encoder's layers, -NF does not fine-tune it."""
    plain = Kind(
        title,
        PAPER,
        "sentences",
        joint(build),
        JointSettings(),
        training=SentenceTraining(epochs=8, pairs_at_once=2),
        encoding=Encoding(),
        reads=reads,
    )
    kinds = {}
    for adapt in ("", "-adapt"):
        mixed = Encoding(mix_layers=bool(adapt))
        kinds[name + adapt] = replace(plain, title=title + adapt.upper(), encoding=mixed)
        kinds[name + adapt + "-nf"] = replace(
            plain,
            title=title + adapt.upper() + "-NF",
            training=SentenceTraining(epochs=4),
            encoding=replace(mixed, fine_tune=False),
        )
    return kinds


KINDS = {
    "bert": Kind(
        "BERT",
        PAPER,
        "documents",
        _bert,
        training=Training(epochs=8, pairs_at_once=2),
        encoding=Encoding(frozen_layers=-1),
        reads="pairs",
    ),
    **_variants("jbert", "JBERT", _bert_sentences, "pairs"),
    **_variants("bjpdrmm", "BJPDRMM", _contextual_pdrmm, "words"),
}
