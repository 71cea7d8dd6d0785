"""How fast this machine reads: measured once, and kept in the user's cache.

A budget in milliseconds is converted to word pieces by a stored speed, never by the clock. A cascade comes
with the speed of the machine that it was trained on; ``bioqa ranker tune`` measures this one's.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bioqa.bioasq.domain import Candidate
from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.ranker import Cascade, CascadeError, Speed
from bioqa.models.reranker import Reranker
from bioqa.system.home import home
from bioqa.system.jsonfile import write_bytes

_DOCUMENTS = 6
"""Read for each question of a measurement."""

Asked = tuple[str, Sequence[Candidate]]
"""A question with its candidates."""


def measure_speed(
    first: Reranker, reader: CrossEncoder, questions: Sequence[Asked], half_precision: bool = False
) -> Speed:
    """With torch's present threads: the first ranker's time, and the encoder's for real sentences.

    The best of several measurements, as other work on the machine can only slow them down.
    ``half_precision``: what the encoder's weights are in.
    """
    fixed, rates = [], []
    for body, candidates in [item for item in questions if item[1]][:7]:
        begun = time.perf_counter()
        ranked = first.rank(body, candidates).documents
        fixed.append(1000 * (time.perf_counter() - begun))
        texts = [d.document.sentence_texts() for d in ranked[:_DOCUMENTS]]
        passages = [p for sentences in texts for p in reader.passages(body, sentences)]
        features = np.zeros((sum(map(len, texts)), reader.features), dtype=np.float32)
        begun = time.perf_counter()
        reader.score(passages, features)
        rates.append(sum(p.cost for p in passages) / (1000 * (time.perf_counter() - begun)))
    if not fixed:
        return Speed(0.0, 1.0, torch.get_num_threads(), half_precision)
    return Speed(min(fixed), max(rates), torch.get_num_threads(), half_precision)


def best_speed(load: Callable[[], Cascade], questions: Sequence[Asked]) -> Speed:
    """The faster of single precision and bfloat16, each measured on a cascade that ``load`` makes anew."""
    single, half = load(), load()
    half.reader.encoder.halve()
    measured = [measure_speed(c.first, c.reader, questions, c is half) for c in (single, half)]
    return max(measured, key=lambda speed: speed.pieces_per_ms)


def keep(fingerprint: str, speed: Speed) -> Path:
    """Keep this machine's speed for the cascade; returns the file.

    Raises CascadeError if there is no place for it, or if it is damaged.
    """
    path = _place()
    if path is None:
        raise CascadeError("no home folder to keep the speed in: set HOME or XDG_CACHE_HOME")
    speeds = _read(path) | {_key(fingerprint, speed.threads): asdict(speed)}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, (json.dumps(speeds, indent=1) + "\n").encode())
    return path


def read_speed(fingerprint: str, threads: int) -> Speed | None:
    """This machine's speed for the cascade, if it was measured. Raises CascadeError, naming the file."""
    path = _place()
    if path is None or (values := _read(path).get(_key(fingerprint, threads))) is None:
        return None
    try:
        return Speed(**values)
    except (TypeError, CascadeError) as error:
        raise CascadeError(f"{path}: {error}; delete it") from error


def _key(fingerprint: str, threads: int) -> str:
    return f"{fingerprint[:16]}, threads: {threads}"


def _place() -> Path | None:
    if cache := os.environ.get("XDG_CACHE_HOME"):
        return Path(cache) / "bioqa" / "speed.json"
    folder = home()
    return None if folder is None else folder / ".cache" / "bioqa" / "speed.json"


def _read(path: Path) -> dict[str, Any]:
    try:
        speeds = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, PermissionError):
        # Another user's home, as in a container, counts as if nothing had been measured.
        return {}
    except (OSError, ValueError) as error:
        raise CascadeError(f"{path}: {error}; delete it") from error
    if not isinstance(speeds, dict):
        raise CascadeError(f"{path}: not an object; delete it")
    return speeds
