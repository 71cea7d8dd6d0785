"""A cascade as a folder: config.json, head.safetensors, ``first`` (the cheap ranker's checkpoint) and
``encoder`` (the fine-tuned encoder with its tokeniser, as transformers writes them).

It is self-contained, so that it can be moved, and does not change when another ranker becomes the default.
The bundled one is smaller: its encoder is compact (bioqa.models.encoders.compact), and it names a bundled
ranker, by name and hash, in place of ``first``.
"""

import hashlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from bioqa.models import bundled, checkpoint
from bioqa.models.answers.aptness import CASCADE_COLUMNS, Aptness
from bioqa.models.answers.scale import Scale, without_scale
from bioqa.models.answers.selection import Calibration
from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.ranker import BUDGET_MS, Cascade, CascadeError, Combination, Speed, TunedCascade
from bioqa.models.cascade.speed import read_speed
from bioqa.models.config import NAME, check_kind, faults_as, is_of_kind, read_config, write_config
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.features.extractor import feature_counts
from bioqa.models.folders import put_back, written_whole
from bioqa.models.rankers.registry import ARCHITECTURES
from bioqa.models.reranker import Reranker

FORMAT = 3
_OLD_FORMAT = 2
"""Without a head for documents."""
KIND = "cascade"
APTNESS = "aptness.safetensors"
"""The second reading that was fitted to the cascade, if there is one."""


def folder_of(name_or_folder: str | Path) -> Path | None:
    """The folder of a cascade, given by folder or by the name of a bundled one; None for other rankers."""
    folder = bundled.folder_of(name_or_folder)
    return folder if is_of_kind(folder, KIND) else None


def save(cascade: Cascade, tokeniser: Any, folder: Path, transformer: nn.Module | None = None) -> None:
    """Write the folder, replacing an older one of that name as a whole.

    ``tokeniser``: the encoder's, as transformers loads it. ``transformer``: the encoder's model in single
    precision, where the cascade reads in bfloat16 and so has only rounded weights.
    """
    with written_whole(folder) as unfinished:
        transformer_of(cascade, transformer).save_pretrained(unfinished / "encoder")
        tokeniser.save_pretrained(unfinished / "encoder")
        checkpoint.save(cascade.first.checkpoint, unfinished / "first")
        write_rest(cascade, unfinished, {})


def transformer_of(cascade: Cascade, given: nn.Module | None) -> Any:
    return cascade.reader.encoder.transformer if given is None else given


def write_rest(cascade: Cascade, folder: Path, more: dict[str, Any]) -> None:
    save_file(_heads(cascade.reader).state_dict(), folder / "head.safetensors")
    if cascade.aptness is not None:
        cascade.aptness.save(folder / APTNESS)
    config = {
        "format": FORMAT,
        "kind": KIND,
        "combination": asdict(cascade.combination),
        "speed": asdict(cascade.speed),
        "calibration": asdict(cascade.calibration),
        **more,
        **cascade.record,
    }
    write_config(folder, config)


def load(
    folder: Path, *, budget_ms: float = BUDGET_MS, device: str = "auto", as_stored: bool = False
) -> Cascade:
    """With this machine's speed on a CPU, if that was measured, unless it is wanted ``as_stored``.

    Raises CascadeError, CheckpointError or EncoderError, naming the folder and what is wrong with it."""
    put_back(folder)
    config = read_config(folder, CascadeError)
    check_kind(folder, config, KIND, (_OLD_FORMAT, FORMAT), CascadeError)
    with faults_as(CascadeError, folder):
        written = config.pop("format"), config.pop("kind")
        combination = Combination(**config.pop("combination"))
        speed = Speed(**config.pop("speed"))
        calibration = Calibration(**config.pop("calibration"))
        bundled_first = config.pop("first", None)
        if bundled_first is not None:
            bundled_first = str(bundled_first["bundled"]), str(bundled_first["hash"])
        Scale.from_dict(config.get("scale"))  # which stays in the record
    first = Reranker.load(bundled_first[0] if bundled_first else folder / "first")
    if bundled_first and first.hash != bundled_first[1]:
        raise CascadeError(f"{folder / NAME}: made for another ranker {first.name} than the bundled one")
    if ARCHITECTURES[first.checkpoint.settings.ranker].units != "sentences":
        raise CascadeError(f"{folder / 'first'}: its ranker gives sentences no scores")
    encoder = Encoder.load(str(folder / "encoder"), device=device)
    reader = CrossEncoder(encoder, feature_counts(first.checkpoint.settings.reading.features)[1])
    head = folder / "head.safetensors"
    try:
        weights = load_file(head)
        if written[0] == _OLD_FORMAT:
            weights = {f"sentence.{name}": value for name, value in weights.items()}
            weights |= {
                f"document.{name}": torch.zeros_like(value)
                for name, value in reader.document_head.state_dict().items()
            }
        _heads(reader).load_state_dict(weights)
    except (OSError, SafetensorError, RuntimeError) as error:
        raise CascadeError(f"{head}: {error}") from error
    aptness = _read_aptness(folder / APTNESS)
    fingerprint = _fingerprint(folder, first, encoder)
    if not as_stored and encoder.device.type == "cpu":
        speed = read_speed(fingerprint, torch.get_num_threads()) or speed
    return Cascade(
        first,
        reader,
        TunedCascade(combination, speed, calibration),
        name=folder.name,
        fingerprint=fingerprint,
        record=config,
        budget_ms=budget_ms,
        aptness=aptness,
    )


def _read_aptness(path: Path) -> Aptness | None:
    """None if no second reading was fitted to the cascade."""
    if not path.is_file():
        return None
    try:
        return Aptness.load(path, CASCADE_COLUMNS)
    except (OSError, SafetensorError, ValueError) as error:
        raise CascadeError(f"{path}: {error}") from error


def _heads(reader: CrossEncoder) -> nn.ModuleDict:
    """Both heads, under the names that the file has."""
    return nn.ModuleDict({"sentence": reader.head, "document": reader.document_head})


def _fingerprint(folder: Path, first: Reranker, encoder: Encoder) -> str:
    digest = hashlib.sha256(f"{first.hash} {encoder.fingerprint}".encode())
    for name in (NAME, "head.safetensors"):
        content = (folder / name).read_bytes()
        digest.update(name.encode() + b"\0" + (without_scale(content) if name == NAME else content))
    if (folder / APTNESS).is_file():
        digest.update(APTNESS.encode() + b"\0" + (folder / APTNESS).read_bytes())
    return digest.hexdigest()
