"""Systems that experiments compare: the rows of their tables."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from bioqa.models.experiments.components import (
    Component,
    FeatureGroup,
    Ready,
    TrainedComponent,
    ZeroShot,
)
from bioqa.models.experiments.shares import Share
from bioqa.models.rankers.registry import settings_of
from bioqa.system.errors import BioqaError

Kind = Literal["baseline", "pipeline", "joint", "documents", "ours", "bound", "ablation"]


@dataclass(frozen=True, slots=True)
class System:
    """A row: one component, or one for documents and another for sentences."""

    name: str
    kind: Kind
    sentences: Component
    documents: Component | None = None
    seeds: int = 3
    """Maximum number of seeds."""

    @property
    def components(self) -> tuple[Component, ...]:
        return (self.sentences,) if self.documents is None else (self.sentences, self.documents)

    @property
    def encoder(self) -> bool:
        return any(component.encoder for component in self.components)


def zero_shot(encoder: str, prompt: str, share: Share) -> System:
    return System(
        "Zero-shot " + short(encoder), "baseline", ZeroShot(encoder, prompt, measuring(share)), seeds=1
    )


def ready(name: str, folder: str, fingerprint: str, share: Share) -> System:
    """``share``: its ``candidates`` are ignored, as such a ranker chooses itself what it reads."""
    of_questions = replace(measuring(share), candidates=0)
    return System(name, "ours", Ready(folder, fingerprint, of_questions), seeds=1)


def change_share(share: Share, values: Sequence[str]) -> Share:
    """The share with ``NAME=N`` applied to its fields. Raises BioqaError."""
    names = [setting.name for setting in fields(Share)]
    for value in values:
        name, _, number = value.partition("=")
        if name not in names or not number.isdecimal():
            raise BioqaError(f"share {value!r} is not NAME=N, with a name of {', '.join(names)}")
        share = replace(share, **{name: int(number)})
    return share


def short(encoder: str) -> str:
    return encoder.rstrip("/").rpartition("/")[2]


def train_component(
    ranker: str, share: Share, without: FeatureGroup | None = None, **changes: Any
) -> TrainedComponent:
    """A component with an architecture's published settings, or with changes. Raises RankerSettingsError."""
    return TrainedComponent(settings_of(ranker, **changes), share, without)


def measuring(share: Share) -> Share:
    """The share of a component that has nothing to learn."""
    return replace(share, train_questions=0, irrelevant=0, watched=0)
