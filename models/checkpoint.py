"""A trained ranker as a folder: config.json, model.safetensors and the vocabulary's files.

A vocabulary that comes with the package is not copied: the config names it with its fingerprint. It may also
lie in a folder beside the checkpoint. Any other is in the folder, which thus works wherever it is moved. An
encoder is never copied: the config names it, with a fingerprint of its weights, and ``model.safetensors``
holds only what was fine-tuned of it.

Loaded strictly: every weight must be there, none may be left over, shapes must fit. Nothing is pickled.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from bioqa.models import config as config_json
from bioqa.models.answers.scale import Scale, without_scale
from bioqa.models.answers.selection import Calibration
from bioqa.models.config import faults_as
from bioqa.models.encoders.loading import EncoderError
from bioqa.models.features.extractor import DOCUMENT_FEATURES, SENTENCE_FEATURES, Scaling, feature_counts
from bioqa.models.folders import put_back, written_whole
from bioqa.models.rankers.registry import build, encoder_of, learned_state, settings_from
from bioqa.models.rankers.settings import RankerSettings, RankerSettingsError
from bioqa.models.text import vocabulary as vocabularies
from bioqa.models.text.pieces import FILES as PIECES_FILES
from bioqa.models.text.vocabulary import Vocabulary, VocabularyError
from bioqa.system.errors import BioqaError

FORMAT = 2
_READABLE = (1, FORMAT)
"""Format 1 stored the settings of all architectures with each checkpoint."""
OWN_FILES = (config_json.NAME, "model.safetensors")
FILES = (*OWN_FILES, *vocabularies.FILES)


LearningCurve = Sequence[Mapping[str, float]]
"""What was measured on the way, point after point: ``epoch``, ``loss``, scores on dev."""


class CheckpointError(BioqaError):
    """A checkpoint is missing, damaged or of another version."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    settings: RankerSettings
    model: nn.Module
    vocabulary: Vocabulary
    scaling: Scaling
    calibration: Calibration
    training: dict[str, Any]
    """Training data with fingerprints, seed, epochs."""
    scores: dict[str, Any]
    """Measures on the development questions."""
    scale: Scale | None = None
    """What the scores mean; None for checkpoints that were made before there were scales."""
    curve: LearningCurve = ()
    """How training went; empty for checkpoints that were made before curves were kept."""

    @property
    def config(self) -> dict[str, Any]:
        encoder = encoder_of(self.model)
        named = (
            {} if encoder is None else {"encoder": {"name": encoder.name, "fingerprint": encoder.fingerprint}}
        )
        return {
            "format": FORMAT,
            **named,
            "settings": self.settings.as_dict(),
            "training": self.training,
            "scores": self.scores,
            "calibration": asdict(self.calibration),
            **({} if self.scale is None else {"scale": self.scale.as_dict()}),
            **({"curve": [*map(dict, self.curve)]} if self.curve else {}),
            "document_features": list(DOCUMENT_FEATURES[: len(self.scaling.document_mean)]),
            "sentence_features": list(SENTENCE_FEATURES[: len(self.scaling.sentence_mean)]),
            "scaling": {name: values.tolist() for name, values in _arrays(self.scaling).items()},
        }


def save(checkpoint: Checkpoint, folder: Path) -> None:
    """Write the folder, replacing an older one of that name as a whole."""
    with written_whole(folder) as unfinished:
        save_file(learned_state(checkpoint.model), unfinished / "model.safetensors")
        checkpoint.vocabulary.save(unfinished)
        named = vocabularies.leave_to_package(unfinished)
        config_json.write_config(
            unfinished, checkpoint.config | ({} if named is None else {"vocabulary": named})
        )


def load(folder: Path, *, device: str = "auto") -> Checkpoint:
    """Load a ranker that is ready to answer. ``device``: as for bioqa.models.rankers.registry.build.

    Raises CheckpointError, naming the folder and what is wrong with it.
    """
    put_back(folder)
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: there is no such folder")
    _require(folder, folder, OWN_FILES)
    config = read_config(folder)
    with faults_as(CheckpointError, folder):
        settings = settings_from(config["settings"], config["format"])
        _check_features(folder, config, settings)
        calibration = Calibration(**config["calibration"])
        scale, curve = Scale.from_dict(config.get("scale")), _curve(config.get("curve", []))
        scaling = _scaling(config)
        training, scores = dict(config["training"]), dict(config["scores"])
    vocabulary = _vocabulary(folder, config)
    if settings.reading.features == "soft" and vocabulary.pieces is None:
        raise CheckpointError(f"{folder}: the vocabulary has no word pieces, which its features need")
    dimensions, wanted = vocabulary.vectors.shape[1], settings.reading.dimensions
    if dimensions != wanted:
        raise CheckpointError(f"{folder}: vectors of {dimensions} dimensions, not {wanted}")
    try:
        model = build(settings, torch.from_numpy(vocabulary.vectors), device=device)
    except (EncoderError, RankerSettingsError) as error:
        raise CheckpointError(f"{folder}: {error}") from error
    _check_encoder(folder, config, model)
    _load_weights(model, folder / "model.safetensors")
    return Checkpoint(
        settings, model.eval(), vocabulary, scaling, calibration, training, scores, scale, curve
    )


def load_vocabulary(folder: Path) -> Vocabulary:
    """Load the vocabulary of a checkpoint alone. Raises CheckpointError."""
    _require(folder, folder, OWN_FILES)
    return _vocabulary(folder, read_config(folder))


def _vocabulary(folder: Path, config: Mapping[str, Any]) -> Vocabulary:
    try:
        return Vocabulary.load(vocabulary_folder(folder, config), folder)
    except VocabularyError as error:
        raise CheckpointError(str(error)) from error


def fingerprint(folder: Path) -> str:
    """SHA-256 over a checkpoint's files, in hexadecimal. A scale is no part of it."""
    digest = hashlib.sha256()
    pieces = (name for name in PIECES_FILES if (folder / name).is_file())
    shared = vocabulary_folder(folder, read_config(folder))
    for name in (*FILES, *pieces):
        path = (shared if name in vocabularies.FILES else folder) / name
        content = path.read_bytes()
        digest.update(name.encode() + b"\0" + (without_scale(content) if name == OWN_FILES[0] else content))
    return digest.hexdigest()


def vocabulary_folder(folder: Path, config: Mapping[str, Any]) -> Path:
    """Where the vocabulary's files lie: in the folder itself, beside it, or in the package."""
    if config.get("vocabulary") is None:
        _require(folder, folder, vocabularies.FILES)
        return folder
    try:
        return vocabularies.shared_folder(folder, config["vocabulary"])
    except VocabularyError as error:
        raise CheckpointError(str(error)) from error


def _require(folder: Path, holder: Path, names: Iterable[str]) -> None:
    if missing := [name for name in names if not (holder / name).is_file()]:
        where = "" if holder == folder else f" in {holder}"
        raise CheckpointError(f"{folder}: not a checkpoint, it lacks {', '.join(missing)}{where}")


def read_config(folder: Path) -> dict[str, Any]:
    """Raises CheckpointError."""
    config = config_json.read_config(folder, CheckpointError)
    config_json.check_kind(folder, config, None, _READABLE, CheckpointError)
    return config


def _check_features(folder: Path, config: dict[str, Any], settings: RankerSettings) -> None:
    """The features it was trained with must be the first of today's: new ones are only ever appended."""
    wanted = zip(("document", "sentence"), feature_counts(settings.reading.features), strict=True)
    for (unit, least), computed in zip(wanted, (DOCUMENT_FEATURES, SENTENCE_FEATURES), strict=True):
        names = config.get(f"{unit}_features")
        if not isinstance(names, list) or len(names) < least or names != list(computed[: len(names)]):
            raise CheckpointError(f"{folder}: trained with other {unit} features than this version computes")


def _curve(points: object) -> LearningCurve:
    if not isinstance(points, list) or not all(
        isinstance(point, dict) and all(isinstance(value, int | float) for value in point.values())
        for point in points
    ):
        raise ValueError("curve: not a list of points with numbers")
    return tuple(points)


def _scaling(config: dict[str, Any]) -> Scaling:
    values = config["scaling"]
    scaling = Scaling(**{name: np.array(numbers, dtype=np.float32) for name, numbers in values.items()})
    for name, array in _arrays(scaling).items():
        wanted = len(config["document_features" if name.startswith("document") else "sentence_features"])
        if array.shape != (wanted,):
            raise ValueError(f"scaling: {name} is not {wanted} numbers")
    return scaling


def _check_encoder(folder: Path, config: dict[str, Any], model: nn.Module) -> None:
    encoder = encoder_of(model)
    if encoder is None:
        return
    trained_with = config.get("encoder")
    wanted = trained_with.get("fingerprint") if isinstance(trained_with, dict) else None
    if wanted != encoder.fingerprint:
        raise CheckpointError(
            f"{folder}: trained over an encoder of fingerprint {wanted}, "
            f"but {encoder.name} has {encoder.fingerprint}"
        )


def _load_weights(model: nn.Module, path: Path) -> None:
    try:
        weights = load_file(path)
    except (OSError, SafetensorError) as error:
        hint = ""
        if path.read_bytes()[:8] == b"version ":
            hint = " (a Git LFS pointer, not the weights: fetch them with `git lfs pull`)"
        raise CheckpointError(f"{path}: {error}{hint}") from error
    learned = learned_state(model)
    # Frozen weights come from the encoder's own files, and must not be overwritten from here.
    frozen = {name: value for name, value in model.state_dict().items() if name not in learned}
    if surplus := sorted(frozen.keys() & weights.keys()):
        raise CheckpointError(f"{path}: holds weights that are frozen: {', '.join(surplus[:5])}")
    try:
        model.load_state_dict(frozen | weights, strict=True)
    except RuntimeError as error:
        raise CheckpointError(f"{path}: {error}") from error


def _arrays(scaling: Scaling) -> dict[str, np.ndarray]:
    return {name: getattr(scaling, name) for name in Scaling.__dataclass_fields__}
