"""A ranker's settings, in sections: its own, how it reads, how it is trained, the encoder below it.

A ranker has only the sections, and in its own section only the fields, that change what it does. Names are
unique among a ranker's sections, so that settings are stored and changed by name alone (``--set epochs=3``).
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import inf
from typing import Any, ClassVar, Literal, TypeVar, get_args

from torch import nn

from bioqa.models.encoders.reading import Reads
from bioqa.models.features.extractor import FeatureSet
from bioqa.system.errors import BioqaError

Units = Literal["sentences", "documents", "titles"]
"""What is scored one by one; ``titles``: documents by their titles alone."""
DocumentLoss = Literal["hinge", "softmax", "pointwise", "graded"]
Optimiser = Literal["adam", "adadelta"]
UnknownWords = Literal["drop", "mean", "random"]

_NAMES = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}


class RankerSettingsError(BioqaError):
    """An architecture's name or one of the settings is not allowed."""


@dataclass(frozen=True, slots=True)
class Section:
    """Settings that belong together. Types follow the defaults; Literal types list the values allowed.

    Also the section of its own of a ranker that has no settings.
    """

    POSITIVE: ClassVar[tuple[str, ...]] = ()
    """Settings that must be above 0."""
    LEAST: ClassVar[Mapping[str, int]] = {}
    """Least values of settings that may be 0 or negative, or must be more than 1."""
    BELOW_ONE: ClassVar[tuple[str, ...]] = ()
    """Settings that must be shares: from 0 to below 1."""

    def __post_init__(self) -> None:
        for setting in fields(self):
            name = setting.name
            value: Any = getattr(self, name)
            wanted = type(setting.default)
            if type(value) is not wanted and not (wanted is float and type(value) is int):
                raise RankerSettingsError(f"{name} {value!r} is not {_NAMES[wanted]}")
            choices = get_args(setting.type)
            if choices and value not in choices:
                raise RankerSettingsError(f"{name} {value!r} is not one of {', '.join(choices)}")
            self._check_range(name, value)

    def _check_range(self, name: str, value: Any) -> None:
        if name in self.POSITIVE and not 0 < value < inf:
            raise RankerSettingsError(f"{name} {value!r} is not above 0")
        if name in self.BELOW_ONE and not 0 <= value < 1:
            raise RankerSettingsError(f"{name} {value!r} is not from 0 to below 1")
        if name in self.LEAST and not self.LEAST[name] <= value < inf:
            raise RankerSettingsError(f"{name} {value!r} is not {self.LEAST[name]} or above")


@dataclass(frozen=True, slots=True)
class InputReading(Section):
    """What a ranker reads of a question and its candidates."""

    features: FeatureSet = "paper"
    """``paper``: 10 sentence and 11 document features; ``extended``: 19 and 16; ``soft``: 23 and 20; of
    documents alone ``extra``: 4; ``overlap``: 3; ``none`` (bioqa.models.features.extractor)."""
    dimensions: int = 30
    """Length of the word vectors."""

    POSITIVE = ("dimensions",)


@dataclass(frozen=True, slots=True)
class WordReading(InputReading):
    """What a ranker over word vectors reads: only the first words, or unknown words too."""

    unknown_words: UnknownWords = "drop"
    """Words without a vector are dropped, have the mean of all vectors, or one random vector."""
    question_words: int = 0
    """First words that are read of a question; 0: all."""
    unit_words: int = 0
    """First words that are read of a document; 0: all."""
    stop_words: bool = True
    """Whether function words are read."""

    LEAST: ClassVar[Mapping[str, int]] = {"question_words": 0, "unit_words": 0}

    def most(self, name: Literal["question_words", "unit_words"]) -> int:
        """Number of places, for a ranker with weights for each. Raises RankerSettingsError if unset."""
        number: int = getattr(self, name)
        if not number:
            raise RankerSettingsError(
                f"{name} 0: this ranker has weights for each place, so it needs their number"
            )
        return number


@dataclass(frozen=True, slots=True)
class Training(Section):
    """How a ranker is trained on pairs (bioqa.models.training.loop)."""

    irrelevant_documents: int = 1
    """Irrelevant documents drawn beside each relevant one, anew every epoch."""
    document_loss: DocumentLoss = "hinge"
    """``hinge``: a margin over each irrelevant document; ``softmax``: the share of the relevant one;
    ``pointwise``: cross-entropy of each document alone; ``graded``: the same, weighted by its grade."""
    optimiser: Optimiser = "adam"
    learning_rate: float = 0.01
    falling_rate: bool = False
    """Whether the rates fall linearly, to 2 % after the last epoch."""
    pairs_per_step: int = 32
    epochs: int = 30
    patience: int = 4
    """Epochs without a better score on dev before training stops."""
    pairs_at_once: int = 32
    """Pairs of a step whose gradients are computed at a time: bounds an encoder's memory."""

    POSITIVE = (
        "irrelevant_documents",
        "learning_rate",
        "pairs_per_step",
        "epochs",
        "patience",
        "pairs_at_once",
    )


@dataclass(frozen=True, slots=True)
class SentenceTraining(Training):
    """How a ranker of sentences is trained: a pair's relevant document must have a relevant one."""

    document_weight: float = 1.0
    """Weight of the loss over documents."""
    sentence_weight: float = 0.1
    """λ: weight of the cross-entropy over the sentences of both documents of a pair."""
    listwise_weight: float = 0.0
    """Weight of the softmax loss over the sentences of the relevant document."""

    LEAST: ClassVar[Mapping[str, int]] = {"document_weight": 0, "sentence_weight": 0, "listwise_weight": 0}


HUI_READING = WordReading(features="none", unknown_words="mean", question_words=16, unit_words=800)
HUI_TRAINING = Training(document_loss="softmax", learning_rate=0.001, pairs_per_step=16)
"""How Hui et al. 2018 (Section 5.1) read and train the rankers that they compare."""


@dataclass(frozen=True, slots=True)
class Encoding(Section):
    """The encoder below a ranker, and how it is trained."""

    encoder: str = ""
    """Its folder, installed package or hub name."""
    fine_tune: bool = True
    """Whether the encoder is trained too."""
    mix_layers: bool = False
    """Whether a learned mixture of all layers' states replaces the last layer's (-ADAPT)."""
    frozen_layers: int = 0
    """Lower layers of a fine-tuned encoder that stay frozen, with its embeddings; -1: nothing is frozen."""
    frozen_epochs: int = 4
    """Epochs before a fine-tuned encoder is trained: an untrained head's gradients would spoil its states."""
    encoder_learning_rate: float = 2e-5

    POSITIVE = ("encoder_learning_rate",)
    LEAST: ClassVar[Mapping[str, int]] = {"frozen_layers": -1, "frozen_epochs": 0}


S = TypeVar("S", bound=Section)


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """A ranker's architecture and how it is trained; stored in its checkpoint."""

    ranker: str
    """Its architecture, by the name in ``bioqa.models.rankers.registry.ARCHITECTURES``."""
    own: Section
    """The architecture's."""
    reading: InputReading
    training: Training | None = None
    """None: there is nothing to learn."""
    encoding: Encoding | None = None
    """None: there is no encoder below."""

    def own_as(self, kind: type[S]) -> S:
        """The architecture's own settings, of the type that it declares."""
        assert isinstance(self.own, kind)
        return self.own

    @property
    def sections(self) -> dict[str, Section]:
        """Those that this ranker has, by their field's name."""
        named = {name: getattr(self, name) for name in ("own", "reading", "training", "encoding")}
        return {name: section for name, section in named.items() if section is not None}

    def with_changes(self, **changes: Any) -> "RankerSettings":
        """With other values of settings, by their names. Raises RankerSettingsError."""
        return self._made_of(changes, replace)

    def restore(self, values: Mapping[str, Any]) -> "RankerSettings":
        """With stored values; what is not stored has its section's default. Raises RankerSettingsError."""
        return self._made_of(values, lambda section, **of_section: type(section)(**of_section))

    def _made_of(self, values: Mapping[str, Any], make: Callable[..., Section]) -> "RankerSettings":
        had = {name: {field.name for field in fields(section)} for name, section in self.sections.items()}
        all_names = sorted(name for names in had.values() for name in names)
        if unknown := sorted(values.keys() - set(all_names)):
            raise RankerSettingsError(
                f"unknown settings: {', '.join(unknown)}; {self.ranker} has {', '.join(all_names)}"
            )
        changed_sections: dict[str, Any] = {
            name: make(section, **{key: value for key, value in values.items() if key in had[name]})
            for name, section in self.sections.items()
        }
        return replace(self, **changed_sections)

    @property
    def fine_tune(self) -> bool:
        """Whether an encoder is trained too."""
        return self.encoding is not None and self.encoding.fine_tune

    def as_dict(self) -> dict[str, Any]:
        """All settings by name."""
        values: dict[str, Any] = {"ranker": self.ranker}
        for section in self.sections.values():
            values |= asdict(section)
        return values


@dataclass(frozen=True, slots=True)
class Kind:
    """An architecture: how it is built, and the settings that it was published with."""

    title: str
    """As the papers print it."""
    paper: str
    """Authors and year."""
    units: Units
    build: Callable[[RankerSettings, nn.Module], nn.Module]
    """Builds the ranker from settings and the layer below: word vectors, or an encoder."""
    own: Section = Section()
    reading: InputReading = InputReading()
    training: Training | None = SentenceTraining()
    encoding: Encoding | None = None
    reads: Reads = "vectors"

    def settings(self, name: str) -> RankerSettings:
        """The published settings of the architecture, which has this name."""
        return RankerSettings(name, self.own, self.reading, self.training, self.encoding)
