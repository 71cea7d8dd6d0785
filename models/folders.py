"""Folders written whole or not at all."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(folder: Path) -> Iterator[Path]:
    """An empty folder to fill, which then takes the place of ``folder``; dropped if filling it fails."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield unfinished
        # safetensors and mkdtemp make what only their owner can read; a service often runs as another user.
        for path in (unfinished, *unfinished.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        # Aside first, so that whenever this is stopped the old or the new one is there whole.
        aside = unfinished.with_name(unfinished.name + "-old")
        if folder.exists():
            folder.replace(aside)
        unfinished.replace(folder)
        shutil.rmtree(aside, ignore_errors=True)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
