"""The rankers by name, as data: what each is built of, and with which settings it was published."""

from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, field, fields
from math import inf
from typing import Any, Literal, get_args

from torch import Tensor, nn

from bioasq.errors import BioqaError
from models.features import FeatureSet, feature_counts
from models.joint import Joint
from models.rankers.heads import DocumentRanker, SentenceRanker
from models.rankers.pdrmm import Pdrmm

Units = Literal["sentences", "documents"]

_KINDS = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}


class SettingsError(BioqaError):
    """A ranker's name or one of its settings is not among those allowed."""


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """What a ranker is, and how it is trained. A checkpoint keeps them."""

    ranker: str
    features: FeatureSet = "paper"
    """``paper``: 10 sentence and 11 document features; ``extended``: 19 and 16 (models.features)."""
    last_layer: bool = True
    """Joint rankers: whether the document's score revises its sentences'."""
    dimensions: int = 30
    """Of the word vectors."""
    document_weight: float = 1.0
    """Of the hinge loss over pairs of documents."""
    sentence_weight: float = 0.1
    """λ: of the cross-entropy over the sentences of both documents of a pair."""
    listwise_weight: float = 0.0
    """Of the softmax loss over the sentences of the relevant document."""
    learning_rate: float = 0.01
    pairs_per_step: int = 32
    epochs: int = 30
    patience: int = 4
    """Epochs without a better score on dev before training stops."""

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            wanted = str if setting.default is MISSING else type(setting.default)
            if type(value) is not wanted and not (wanted is float and type(value) is int):
                raise SettingsError(f"{setting.name} {value!r} is not {_KINDS[wanted]}")
        if self.ranker not in RANKERS:
            raise SettingsError(f"ranker {self.ranker!r} is not one of {', '.join(RANKERS)}")
        if self.features not in get_args(FeatureSet):
            raise SettingsError(f"features {self.features!r} is not one of {', '.join(get_args(FeatureSet))}")
        for name in ("dimensions", "learning_rate", "pairs_per_step", "epochs", "patience"):
            if not 0 < getattr(self, name) < inf:
                raise SettingsError(f"{name} {getattr(self, name)!r} is not above 0")
        for name in ("document_weight", "sentence_weight", "listwise_weight"):
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
class RankerKind:
    """An entry of the registry."""

    title: str
    """As the papers print it."""
    units: Units
    build: Callable[[RankerSettings, Tensor], nn.Module]
    defaults: dict[str, Any] = field(default_factory=dict)


def _pdrmm_documents(settings: RankerSettings, vectors: Tensor) -> nn.Module:
    return DocumentRanker(Pdrmm(vectors), feature_counts(settings.features)[0])


def _pdrmm_sentences(settings: RankerSettings, vectors: Tensor) -> SentenceRanker:
    return SentenceRanker(Pdrmm(vectors), feature_counts(settings.features)[1])


def _jpdrmm(settings: RankerSettings, vectors: Tensor) -> nn.Module:
    sentences = _pdrmm_sentences(settings, vectors)
    return Joint(sentences, feature_counts(settings.features)[0], last_layer=settings.last_layer)


RANKERS: dict[str, RankerKind] = {
    "pdrmm": RankerKind("PDRMM", "documents", _pdrmm_documents, {"sentence_weight": 0.0}),
    "sentence-pdrmm": RankerKind(
        "Sentence PDRMM", "sentences", _pdrmm_sentences, {"document_weight": 0.0, "sentence_weight": 1.0}
    ),
    "jpdrmm": RankerKind("JPDRMM", "sentences", _jpdrmm),
}


def settings_of(ranker: str, **changes: Any) -> RankerSettings:
    """The published settings of a ranker, with changes. Raises SettingsError."""
    if ranker not in RANKERS:
        raise SettingsError(f"ranker {ranker!r} is not one of {', '.join(RANKERS)}")
    return RankerSettings.from_dict({"ranker": ranker, **RANKERS[ranker].defaults, **changes})


def build(settings: RankerSettings, vectors: Tensor) -> nn.Module:
    """The untrained ranker over frozen word vectors [V, dimensions]."""
    return RANKERS[settings.ranker].build(settings, vectors)
