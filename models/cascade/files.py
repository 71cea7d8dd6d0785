"""A cascade as a folder: config.json, head.safetensors, ``first`` (the cheap ranker's checkpoint) and
``encoder`` (the fine-tuned encoder with its tokeniser, as transformers writes them).

It is self-contained, so that it can be moved, and does not change when another ranker becomes the default.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from bioqa.models import bundled, checkpoint
from bioqa.models.answers.selection import Calibration
from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.ranker import BUDGET_MS, Cascade, CascadeError, Combination, Speed, Tuned
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.features.extractor import feature_counts
from bioqa.models.folders import put_back, written_whole
from bioqa.models.rankers.registry import ARCHITECTURES
from bioqa.models.reranker import Reranker

FORMAT = 2
KIND = "cascade"


def folder_of(name_or_folder: str | Path) -> Path | None:
    """The folder of a cascade, given by folder or by the name of a bundled one; None for other rankers."""
    for folder in (bundled.WEIGHTS / name_or_folder, Path(name_or_folder)):
        put_back(folder)
        path = folder / "config.json"
        if path.is_file() and f'"kind": "{KIND}"' in path.read_text(encoding="utf-8", errors="replace"):
            return folder
    return None


def save(cascade: Cascade, tokeniser: Any, folder: Path) -> None:
    """Write the folder, replacing an older one of that name as a whole.

    ``tokeniser``: the encoder's, as transformers loads it.
    """
    with written_whole(folder) as unfinished:
        cascade.reader.encoder.transformer.save_pretrained(unfinished / "encoder")
        tokeniser.save_pretrained(unfinished / "encoder")
        save_file(cascade.reader.head.state_dict(), unfinished / "head.safetensors")
        checkpoint.save(cascade.first.checkpoint, unfinished / "first")
        config = {
            "format": FORMAT,
            "kind": KIND,
            "combination": asdict(cascade.combination),
            "speed": asdict(cascade.speed),
            "calibration": asdict(cascade.calibration),
            **cascade.record,
        }
        text = json.dumps(config, indent=1, allow_nan=False)
        (unfinished / "config.json").write_text(text + "\n", encoding="utf-8")


def load(folder: Path, *, budget_ms: float = BUDGET_MS, device: str = "auto") -> Cascade:
    """Raises CascadeError, CheckpointError or EncoderError, naming the folder and what is wrong with it."""
    put_back(folder)
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        found = config.pop("format"), config.pop("kind")
        if found != (FORMAT, KIND):
            raise CascadeError(f"format and kind {found}, this version reads {(FORMAT, KIND)}")
        combination = Combination(**config.pop("combination"))
        speed = Speed(**config.pop("speed"))
        calibration = Calibration(**config.pop("calibration"))
    except CascadeError as error:
        raise CascadeError(f"{path}: {error}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CascadeError(f"{path}: {error!r}") from error
    first = Reranker.load(folder / "first")
    if ARCHITECTURES[first.checkpoint.settings.ranker].units != "sentences":
        raise CascadeError(f"{folder / 'first'}: its ranker gives sentences no scores")
    encoder = Encoder.load(str(folder / "encoder"), device=device)
    reader = CrossEncoder(encoder, feature_counts(first.checkpoint.settings.features)[1])
    head = folder / "head.safetensors"
    try:
        reader.head.load_state_dict(load_file(head), strict=True)
    except (OSError, SafetensorError, RuntimeError) as error:
        raise CascadeError(f"{head}: {error}") from error
    return Cascade(
        first,
        reader,
        Tuned(combination, speed, calibration),
        name=folder.name,
        fingerprint=_fingerprint(folder, first, encoder),
        record=config,
        budget_ms=budget_ms,
    )


def _fingerprint(folder: Path, first: Reranker, encoder: Encoder) -> str:
    digest = hashlib.sha256(f"{first.hash} {encoder.fingerprint}".encode())
    for name in ("config.json", "head.safetensors"):
        digest.update(name.encode() + b"\0" + (folder / name).read_bytes())
    return digest.hexdigest()
