"""What the rows of an experiment are made of: rankers trained on a share of the data, and their scores.

A part's scores are kept as a file, and everything measured follows from them: a pipeline joins the document
scores of one part with the sentence scores of another, and what one row has trained no other trains again.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np

from bioqa.bioasq.errors import BioqaError
from bioqa.models.arrays import Floats
from bioqa.models.experiments.shares import Share
from bioqa.models.features.extractor import Scaling
from bioqa.models.rankers.registry import RankerSettings
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.data import Prepared, scaling_of
from bioqa.models.training.run import PoolScores

WHOLE = Share()
FeatureGroup = Literal["document features", "sentence features"]


@dataclass(frozen=True, slots=True)
class Part:
    """A ranker of the registry, to be trained."""

    settings: RankerSettings
    share: Share = WHOLE
    without: FeatureGroup | None = None
    """Features taken away, as in Table 4 of Pappas and Androutsopoulos 2021."""

    @property
    def encoder(self) -> str:
        return self.settings.encoder

    @property
    def name(self) -> str:
        return self.settings.ranker


@dataclass(frozen=True, slots=True)
class ZeroShot:
    """An encoder as it is: the cosine of its own vectors of question and sentence."""

    encoder: str
    prompt: str = ""
    """What the encoder's makers put before a question."""
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


AnyPart = Part | ZeroShot | Ready


@dataclass(frozen=True, slots=True)
class Data:
    """The prepared questions, and what the training ones determine."""

    vocabulary: Vocabulary
    train: Sequence[Prepared]
    dev: Sequence[Prepared]
    tests: Mapping[str, Sequence[Prepared]]
    """By the collection's name."""
    scaling: Scaling = field(init=False)
    fingerprint: str = field(init=False)
    """Of the questions and of what their candidates' features come to: tells kept scores of other data."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "scaling", scaling_of(self.train))
        digest = hashlib.sha256()
        named = [("train", self.train), ("dev", self.dev), *self.tests.items()]
        for name, questions in named:
            digest.update(name.encode() + b"\0")
            for question in questions:
                digest.update(question.response.question.id.encode() + b"\0")
        for values in (self.scaling.document_mean, self.scaling.sentence_mean):
            digest.update(np.round(values, 4).tobytes())
        object.__setattr__(self, "fingerprint", digest.hexdigest())


@dataclass(frozen=True, slots=True)
class PartScores:
    """Of the share's development questions, and of each collection's."""

    dev: Sequence[PoolScores]
    tests: Mapping[str, Sequence[PoolScores]]
    record: Mapping[str, Any]
    """Trainable parameters, milliseconds a question, how training went."""


def scaling_without(scaling: Scaling, without: FeatureGroup | None) -> Scaling:
    """Features taken away are 0 whatever the text says."""
    if without == "document features":
        return replace(scaling, document_deviation=np.full_like(scaling.document_deviation, np.inf))
    if without == "sentence features":
        return replace(scaling, sentence_deviation=np.full_like(scaling.sentence_deviation, np.inf))
    return scaling


def described(part: AnyPart) -> dict[str, Any]:
    """What a part is, without where its encoder lies on this machine."""
    values = asdict(part)
    for owner in (values, values.get("settings", {})):
        for place in ("encoder", "folder"):
            if owner.get(place):
                owner[place] = Path(owner[place]).name
    return values


def file_of(folder: Path, part: AnyPart, seed: int) -> Path:
    digest = hashlib.sha256(json.dumps(described(part), sort_keys=True).encode()).hexdigest()
    return folder / f"{part.name}-{digest[:10]}-{seed}.npz"


def save(path: Path, part: AnyPart, seed: int, data: Data, scores: PartScores) -> None:
    """Writes the file whole or not at all."""
    arrays: dict[str, Any] = {}
    of_tests = {f"tests/{name}": of_questions for name, of_questions in scores.tests.items()}
    for name, of_questions in {"dev": scores.dev, **of_tests}.items():
        for kind in ("documents", "sentences", "gold_sentences"):
            values = [getattr(of_question, kind) for of_question in of_questions]
            arrays[f"{name}/{kind}"] = np.concatenate([np.zeros(0, np.float32), *values]).astype(np.float32)
            arrays[f"{name}/{kind}/counts"] = np.array([len(v) for v in values], dtype=np.int64)
    kept = {
        "part": described(part),
        "seed": seed,
        "data": data.fingerprint,
        "tests": list(scores.tests),
        "record": dict(scores.record),
    }
    arrays["kept"] = np.array(json.dumps(kept, allow_nan=False))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".tmp")
    with unfinished.open("wb") as file:
        np.savez_compressed(file, **arrays)
    unfinished.replace(path)


def load(path: Path, data: Data) -> PartScores:
    """Raises BioqaError for a file that is damaged, or of other data: it must not pass for this one."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            kept = json.loads(str(arrays["kept"]))
            made_of, record = kept["data"], kept["record"]
            dev = _split(arrays, "dev")
            tests = {name: _split(arrays, f"tests/{name}") for name in kept["tests"]}
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise BioqaError(f"{path}: not the scores of a run: {error!r}") from error
    if made_of != data.fingerprint:
        raise BioqaError(f"{path}: a run on other data; remove it or name another folder")
    return PartScores(dev, tests, record)


def _split(arrays: Mapping[str, Any], name: str) -> list[PoolScores]:
    split: list[list[Floats]] = []
    for kind in ("documents", "sentences", "gold_sentences"):
        ends = np.cumsum(arrays[f"{name}/{kind}/counts"])[:-1]
        split.append(np.split(arrays[f"{name}/{kind}"], ends))
    return [PoolScores(*of_question) for of_question in zip(*split, strict=True)]
