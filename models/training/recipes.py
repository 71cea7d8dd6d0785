"""The rankers that ship, as recipes: one command makes them anew on other questions with gold."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bioqa.bioasq.files import read_golden
from bioqa.bioasq.golden import question_entries
from bioqa.models.rankers.registry import settings_of
from bioqa.models.rankers.settings import RankerSettings
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import read_json, write_json

BASELINE = "bm25"
DEEP = "deep"
DEV_SHARE = 0.2

SOFT: dict[str, Any] = {
    "features": "soft",
    "last_layer": False,
    "sentence_hidden": 24,
    "sentence_bias": True,
    "irrelevant_documents": 4,
    "document_loss": "softmax",
    "listwise_weight": 1.0,
    "falling_rate": True,
    "epochs": 8,
    "patience": 8,
}
"""Settings of the default ranker, over the architecture ``features``."""

_SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {"soft": ("features", SOFT)}


def recipe_settings(name: str, **changes: Any) -> RankerSettings:
    """The settings of a recipe or of an architecture, with changes. Raises RankerSettingsError."""
    architecture, settings = _SETTINGS.get(name, (name, {}))
    return settings_of(architecture, **{**settings, **changes})


def split_golden(
    files: Sequence[Path], folder: Path, seed: int = 1, *, dev: bool = True
) -> tuple[Path, Path]:
    """Write the questions of golden files as ``train.json`` and ``dev.json``, and return both.

    A fifth of them, at least one, is held out at random for ``dev``; without ``dev``, none is. A question
    that a file has again is left out. Raises BioqaError for files that cannot be read, and for fewer than two
    questions.
    """
    entries: dict[str, dict[str, object]] = {}
    for path in files:
        read_golden(path)  # names what is wrong with it
        for _, entry in question_entries(read_json(path), str(path)):
            entries.setdefault(str(entry["id"]), entry)
    ids = list(entries)
    if len(ids) < 1 + dev:
        raise BioqaError(f"{', '.join(map(str, files))}: {len(ids)} questions are too few to train on")
    random.Random(seed).shuffle(ids)  # noqa: S311
    held_out = set(ids[: max(1, round(DEV_SHARE * len(ids)))]) if dev else set()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BioqaError(f"{folder}: cannot be written: {error.strerror or error}") from error
    parts = folder / "train.json", folder / "dev.json"
    for path, wanted in zip(parts, (False, True), strict=True):
        if dev or not wanted:
            chosen = [entry for name, entry in entries.items() if (name in held_out) == wanted]
            write_json(path, {"questions": chosen})
    return parts
