"""The config.json that the folder of every ranker has, of whatever kind: read and written here alone."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bioqa.models.folders import put_back
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import write_bytes

NAME = "config.json"


def read_config(folder: Path, error: type[BioqaError] = BioqaError) -> dict[str, Any]:
    """The content of a ranker's config. Raises ``error``, naming the file."""
    path = folder / NAME
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise error(f"{path}: {problem}") from problem
    if not isinstance(config, dict) or "format" not in config:
        raise error(f"{path}: not the config of a ranker: it names no format")
    return config


def check_kind(
    folder: Path,
    config: Mapping[str, Any],
    kind: str | None,
    formats: Sequence[int],
    error: type[BioqaError],
) -> None:
    """Raise ``error`` for a ranker of another kind (None: a trained architecture's), or of another format."""
    stored = config.get("kind"), config["format"]
    if stored[0] != kind or stored[1] not in formats:
        expected = " and ".join(map(str, formats))
        of_kind = "" if kind is None else f" of {kind}"
        other = "" if stored[0] is None else f" of {stored[0]}"
        raise error(f"{folder / NAME}: format {stored[1]!r}{other}, this version reads {expected}{of_kind}")


def write_config(folder: Path, config: Mapping[str, Any]) -> None:
    """Replace the config as a whole. Raises ValueError for NaN and infinity, which are not JSON."""
    write_bytes(folder / NAME, (json.dumps(config, indent=1, allow_nan=False) + "\n").encode())


def is_of_kind(folder: Path, kind: str) -> bool:
    """Whether the config names this kind of ranker. An interrupted write is repaired first.

    One that is damaged, but names the kind, is of it: its own loader says best what is wrong.
    """
    put_back(folder)
    path = folder / NAME
    return path.is_file() and f'"kind": "{kind}"' in path.read_text(encoding="utf-8", errors="replace")


@contextmanager
def faults_as(error: type[BioqaError], folder: Path) -> Iterator[None]:
    """Raise what is wrong with a config's content as ``error``, naming the file."""
    try:
        yield
    except BioqaError as problem:
        raise error(f"{folder / NAME}: {problem}") from problem
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise error(f"{folder / NAME}: {problem!r}") from problem
