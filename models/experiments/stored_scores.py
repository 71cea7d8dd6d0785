"""Scores of components, stored as files; everything measured follows from them.

A pipeline joins the document scores of one component with the sentence scores of another, so a component that
several rows share is trained once.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from bioqa.models.arrays import Floats
from bioqa.models.experiments.components import Component, describe
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.training.development import PoolScores
from bioqa.system.errors import BioqaError


@dataclass(frozen=True, slots=True)
class ComponentScores:
    """A component's scores of the share's development questions, and of each collection's."""

    dev: Sequence[PoolScores]
    tests: Mapping[str, Sequence[PoolScores]]
    record: Mapping[str, Any]
    """Trainable parameters, milliseconds a question, how training went."""

    @property
    def brief_record(self) -> dict[str, Any]:
        """The record without its epochs."""
        return {name: value for name, value in self.record.items() if name != "epochs"}


def file_of(folder: Path, component: Component, seed: int) -> Path:
    digest = hashlib.sha256(json.dumps(describe(component), sort_keys=True).encode()).hexdigest()
    return folder / f"{component.name}-{digest[:10]}-{seed}.npz"


def save(path: Path, component: Component, seed: int, data: ExperimentData, scores: ComponentScores) -> None:
    """Write the file whole or not at all."""
    arrays: dict[str, Any] = {}
    of_tests = {f"tests/{name}": of_questions for name, of_questions in scores.tests.items()}
    for name, of_questions in {"dev": scores.dev, **of_tests}.items():
        for kind in ("documents", "sentences", "gold_sentences"):
            values = [getattr(of_question, kind) for of_question in of_questions]
            arrays[f"{name}/{kind}"] = np.concatenate([np.zeros(0, np.float32), *values]).astype(np.float32)
            arrays[f"{name}/{kind}/counts"] = np.array([len(v) for v in values], dtype=np.int64)
    kept = {
        "component": describe(component),
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


def load(path: Path, data: ExperimentData) -> ComponentScores:
    """Raises BioqaError for a file that is damaged or of other data, whose scores must not be mixed in."""
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
    return ComponentScores(dev, tests, record)


def _split(arrays: Mapping[str, Any], name: str) -> list[PoolScores]:
    split: list[list[Floats]] = []
    for kind in ("documents", "sentences", "gold_sentences"):
        ends = np.cumsum(arrays[f"{name}/{kind}/counts"])[:-1]
        split.append(np.split(arrays[f"{name}/{kind}"], ends))
    return [PoolScores(*of_question) for of_question in zip(*split, strict=True)]
