"""The architectures by name, as data: how each is built, and the settings that it was published with."""

from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import partial
from math import inf
from typing import Any, Literal, get_args

from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from bioqa.bioasq.errors import BioqaError
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.encoders.reading import Reader, Reads
from bioqa.models.features.extractor import FeatureSet, feature_counts
from bioqa.models.rankers.bcnn import SIMILARITIES, Bcnn
from bioqa.models.rankers.heads import Dense, DocumentRanker, FeatureHead, NoText, SentenceRanker
from bioqa.models.rankers.joint import Joint
from bioqa.models.rankers.pdrmm import Pdrmm, StaticVectors
from bioqa.models.rankers.states import PairStates, WordStates

Units = Literal["sentences", "documents"]
DocumentLoss = Literal["hinge", "softmax"]

_POSITIVE = (
    "dimensions",
    "learning_rate",
    "encoder_learning_rate",
    "pairs_per_step",
    "pairs_at_once",
    "irrelevant_documents",
    "sentence_hidden",
    "epochs",
    "patience",
)
_KINDS = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}


class SettingsError(BioqaError):
    """An architecture's name or one of the settings is not allowed."""


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """A ranker's architecture and how it is trained; stored in its checkpoint."""

    ranker: str
    """Its architecture, by the name in ``ARCHITECTURES``."""
    features: FeatureSet = "paper"
    """``paper``: 10 sentence and 11 document features; ``extended``: 19 and 16; ``soft``: 23 and 20
    (bioqa.models.features.extractor)."""
    last_layer: bool = True
    """Joint rankers: whether the document's score revises its sentences'."""
    dimensions: int = 30
    """Length of the word vectors."""
    sentence_hidden: int = 8
    """Width of the hidden layer that joins a sentence's features."""
    sentence_bias: bool = False
    """Whether that layer and the next have biases; the paper's have none."""
    irrelevant_documents: int = 1
    """Irrelevant documents drawn beside each relevant one, anew every epoch."""
    document_loss: DocumentLoss = "hinge"
    """``hinge``: a margin over each irrelevant document; ``softmax``: the share of the relevant one."""
    document_weight: float = 1.0
    """Weight of the loss over documents."""
    sentence_weight: float = 0.1
    """λ: weight of the cross-entropy over the sentences of both documents of a pair."""
    listwise_weight: float = 0.0
    """Weight of the softmax loss over the sentences of the relevant document."""
    learning_rate: float = 0.01
    falling_rate: bool = False
    """Whether the rates fall linearly, to 2 % after the last epoch."""
    pairs_per_step: int = 32
    epochs: int = 30
    patience: int = 4
    """Epochs without a better score on dev before training stops."""
    pairs_at_once: int = 32
    """Pairs of a step whose gradients are computed at a time: bounds an encoder's memory."""
    encoder: str = ""
    """Rankers over an encoder: its folder, installed package or hub name."""
    fine_tune: bool = True
    """Whether the encoder is trained too."""
    mix_layers: bool = False
    """Whether a learned mixture of all layers' states replaces the last layer's (-ADAPT)."""
    frozen_layers: int = 0
    """Lower layers of a fine-tuned encoder that stay frozen, with its embeddings; -1: nothing is frozen."""
    frozen_epochs: int = 4
    """Epochs before a fine-tuned encoder is trained: an untrained head's gradients would spoil its states."""
    encoder_learning_rate: float = 2e-5

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            wanted = str if setting.default is MISSING else type(setting.default)
            if type(value) is not wanted and not (wanted is float and type(value) is int):
                raise SettingsError(f"{setting.name} {value!r} is not {_KINDS[wanted]}")
        if self.ranker not in ARCHITECTURES:
            raise SettingsError(f"architecture {self.ranker!r} is not one of {', '.join(ARCHITECTURES)}")
        for name, choices in (("features", FeatureSet), ("document_loss", DocumentLoss)):
            if (value := getattr(self, name)) not in get_args(choices):
                raise SettingsError(f"{name} {value!r} is not one of {', '.join(get_args(choices))}")
        if self.encoder and ARCHITECTURES[self.ranker].reads == "vectors":
            raise SettingsError(f"encoder {self.encoder!r}: {self.ranker} has none")
        for name in _POSITIVE:
            if not 0 < getattr(self, name) < inf:
                raise SettingsError(f"{name} {getattr(self, name)!r} is not above 0")
        if self.frozen_layers < -1:
            raise SettingsError(f"frozen_layers {self.frozen_layers!r} is not -1 or above")
        for name in ("document_weight", "sentence_weight", "listwise_weight", "frozen_epochs"):
            if not 0 <= getattr(self, name) < inf:
                raise SettingsError(f"{name} {getattr(self, name)!r} is not 0 or above")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "RankerSettings":
        unknown = sorted(set(values) - {f.name for f in fields(cls)})
        if unknown or "ranker" not in values:
            raise SettingsError(
                f"unknown settings: {', '.join(unknown)}" if unknown else "no ranker is named"
            )
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Architecture:
    """An entry of the registry."""

    title: str
    """As the papers print it."""
    units: Units
    build: Callable[[RankerSettings, nn.Module], nn.Module]
    """Builds the ranker from settings and the layer below: word vectors, or an encoder."""
    defaults: dict[str, Any] = field(default_factory=dict)
    reads: Reads = "vectors"


def _bert(settings: RankerSettings, encoder: nn.Module) -> nn.Module:
    states = PairStates(_checked(encoder), mixed=settings.mix_layers)
    return DocumentRanker(states, Dense(feature_counts(settings.features)[0], states.width))


def _pdrmm_documents(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    head = FeatureHead(feature_counts(settings.features)[0], bias=True)
    return DocumentRanker(Pdrmm(vectors, settings.dimensions), head)


def _pdrmm_sentences(settings: RankerSettings, vectors: nn.Module) -> SentenceRanker:
    return SentenceRanker(Pdrmm(vectors, settings.dimensions), _sentence_head(settings))


def _bcnn(settings: RankerSettings, vectors: nn.Module) -> SentenceRanker:
    head = Dense(feature_counts(settings.features)[1], SIMILARITIES)
    return SentenceRanker(Bcnn(vectors, settings.dimensions), head)


def _feature_sentences(settings: RankerSettings, vectors: nn.Module) -> SentenceRanker:
    return SentenceRanker(NoText(), _sentence_head(settings, 0))


def _sentence_head(settings: RankerSettings, width: int = 1) -> FeatureHead:
    features = feature_counts(settings.features)[1]
    return FeatureHead(features, bias=settings.sentence_bias, width=width, hidden=settings.sentence_hidden)


def _contextual_pdrmm(settings: RankerSettings, encoder: nn.Module) -> SentenceRanker:
    states = WordStates(_checked(encoder), mixed=settings.mix_layers)
    pdrmm = Pdrmm(states, states.width, partial(leaky_relu, negative_slope=0.1))
    return SentenceRanker(pdrmm, _sentence_head(settings))


def _bert_sentences(settings: RankerSettings, encoder: nn.Module) -> SentenceRanker:
    states = PairStates(_checked(encoder), mixed=settings.mix_layers)
    return SentenceRanker(states, _sentence_head(settings, states.width))


def _joint(
    sentences: Callable[[RankerSettings, nn.Module], SentenceRanker],
) -> Callable[[RankerSettings, nn.Module], nn.Module]:
    def build_joint(settings: RankerSettings, below: nn.Module) -> nn.Module:
        documents = feature_counts(settings.features)[0]
        return Joint(sentences(settings, below), documents, last_layer=settings.last_layer)

    return build_joint


def _checked(encoder: nn.Module) -> Encoder:
    assert isinstance(encoder, Encoder)
    return encoder


def _over_encoder(
    name: str,
    title: str,
    build_joint: Callable[[RankerSettings, nn.Module], nn.Module],
    reads: Reads,
) -> dict[str, Architecture]:
    """A joint architecture and its variants: -ADAPT mixes the encoder's layers, -NF does not fine-tune it.

    Published: heads trained at .01 for 4 epochs over the frozen encoder, then the encoder at 2e-5 as well.
    """
    kinds = {}
    for adapt, mixed in (("", {}), ("-adapt", {"mix_layers": True})):
        for frozen, tuned in (
            ("", {"epochs": 8, "pairs_at_once": 2}),
            ("-nf", {"fine_tune": False, "epochs": 4}),
        ):
            suffix = adapt + frozen
            defaults = {**mixed, **tuned}
            kinds[name + suffix] = Architecture(
                title + suffix.upper(), "sentences", build_joint, defaults, reads
            )
    return kinds


ARCHITECTURES: dict[str, Architecture] = {
    "pdrmm": Architecture("PDRMM", "documents", _pdrmm_documents, {"sentence_weight": 0.0}),
    "sentence-pdrmm": Architecture(
        "Sentence PDRMM", "sentences", _pdrmm_sentences, {"document_weight": 0.0, "sentence_weight": 1.0}
    ),
    "bcnn": Architecture("BCNN", "sentences", _bcnn, {"document_weight": 0.0, "sentence_weight": 1.0}),
    "jpdrmm": Architecture("JPDRMM", "sentences", _joint(_pdrmm_sentences)),
    "features": Architecture("Features only", "sentences", _joint(_feature_sentences)),
    "bert": Architecture(
        "BERT",
        "documents",
        _bert,
        {"sentence_weight": 0.0, "frozen_layers": -1, "epochs": 8, "pairs_at_once": 2},
        "pairs",
    ),
    **_over_encoder("jbert", "JBERT", _joint(_bert_sentences), "pairs"),
    **_over_encoder("bjpdrmm", "BJPDRMM", _joint(_contextual_pdrmm), "words"),
}


def settings_of(ranker: str, **changes: Any) -> RankerSettings:
    """The published settings of an architecture, with changes. Raises SettingsError."""
    if ranker not in ARCHITECTURES:
        raise SettingsError(f"architecture {ranker!r} is not one of {', '.join(ARCHITECTURES)}")
    return RankerSettings.from_dict({"ranker": ranker, **ARCHITECTURES[ranker].defaults, **changes})


def build(
    settings: RankerSettings, vectors: Tensor, encoder: Encoder | None = None, *, device: str = "auto"
) -> nn.Module:
    """Build an untrained ranker over frozen word vectors [V, dimensions], or over an encoder.

    What the settings say is frozen of the encoder is frozen.

    Unless an encoder is given, that of the settings is loaded to ``device``. Raises SettingsError if none is
    named, and EncoderError.
    """
    kind = ARCHITECTURES[settings.ranker]
    if kind.reads == "vectors":
        return kind.build(settings, StaticVectors(vectors))
    if encoder is None:
        encoder = load_encoder(settings, device)
        assert encoder is not None
    encoder.freeze(settings.frozen_layers if settings.fine_tune else None)
    return kind.build(settings, encoder)


def encoder_of(model: nn.Module) -> Encoder | None:
    """The encoder that a ranker is built over, if any."""
    return next((module for module in model.modules() if isinstance(module, Encoder)), None)


def reader_for(
    settings: RankerSettings, encoder: Encoder | None, cached_documents: int = 20_000
) -> Reader | None:
    """The reader of word pieces for a ranker over this encoder; None without one."""
    if encoder is None:
        return None
    kind = ARCHITECTURES[settings.ranker]
    by_document = kind.units == "documents"
    return Reader(encoder, kind.reads, by_document=by_document, cached_documents=cached_documents)


def load_encoder(settings: RankerSettings, device: str = "auto") -> Encoder | None:
    """The encoder of these settings, if the architecture has one. Raises SettingsError if none is named."""
    if ARCHITECTURES[settings.ranker].reads == "vectors":
        return None
    if not settings.encoder:
        raise SettingsError(f"{settings.ranker} reads through an encoder: name one (setting encoder)")
    return Encoder.load(settings.encoder, device=device)


def learned_state(model: nn.Module) -> dict[str, Tensor]:
    """The part of a model's state that training changes: everything except a frozen encoder's weights."""
    frozen = {name for name, parameter in model.named_parameters() if not parameter.requires_grad}
    encoder = encoder_of(model)
    if encoder is not None:
        # An encoder's buffers are constants, such as position ids.
        buffers = {id(buffer) for buffer in encoder.buffers()}
        frozen |= {name for name, buffer in model.named_buffers() if id(buffer) in buffers}
    return {name: value for name, value in model.state_dict().items() if name not in frozen}
