"""Components of systems: rankers trained on a share of the data, or taken as they are."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bioqa.models.experiments.shares import Share
from bioqa.models.features.extractor import Scaling
from bioqa.models.rankers.settings import RankerSettings

WHOLE = Share()
FeatureGroup = Literal["document features", "sentence features"]


@dataclass(frozen=True, slots=True)
class TrainedComponent:
    """A ranker to be trained."""

    settings: RankerSettings
    share: Share = WHOLE
    without: FeatureGroup | None = None
    """Features that are ablated, as in Table 4 of Pappas and Androutsopoulos 2021."""

    @property
    def encoder(self) -> str:
        return self.settings.encoding.encoder if self.settings.encoding else ""

    @property
    def name(self) -> str:
        return self.settings.ranker


@dataclass(frozen=True, slots=True)
class ZeroShot:
    """An encoder without training: cosines of its own vectors of question and sentence."""

    encoder: str
    prompt: str = ""
    """Prefix that the encoder expects before queries."""
    share: Share = WHOLE
    name: str = field(default="zero-shot", init=False)


@dataclass(frozen=True, slots=True)
class Ready:
    """A ranker trained elsewhere, by its folder."""

    folder: str
    fingerprint: str
    share: Share = WHOLE
    encoder: str = field(default="", init=False)
    name: str = field(default="ready", init=False)


@dataclass(frozen=True, slots=True)
class Untrained:
    """Documents in an order that needs no ranker.

    ``first stage``: by the index's BM25; ``reverse id``: by PMID, the highest first (Mohan et al. 2017, Table
    2: a ranker that knows nothing of the question); ``oracle``: relevant candidates first.
    """

    order: Literal["first stage", "reverse id", "oracle"]
    share: Share = WHOLE
    encoder: str = field(default="", init=False)
    name: str = field(default="untrained", init=False)


Component = TrainedComponent | ZeroShot | Ready | Untrained


def describe(component: Component) -> dict[str, Any]:
    """A component's settings, with names of encoders and folders instead of their paths on this machine."""
    values = asdict(component)
    if isinstance(component, TrainedComponent):
        values["settings"] = component.settings.as_dict()
    for owner in (values, values.get("settings", {})):
        for key in ("encoder", "folder"):
            if owner.get(key):
                owner[key] = Path(owner[key]).name
    return values


def scaling_without(scaling: Scaling, without: FeatureGroup | None) -> Scaling:
    """Infinite deviations scale ablated features to 0."""
    if without == "document features":
        return replace(scaling, document_deviation=np.full_like(scaling.document_deviation, np.inf))
    if without == "sentence features":
        return replace(scaling, sentence_deviation=np.full_like(scaling.sentence_deviation, np.inf))
    return scaling
