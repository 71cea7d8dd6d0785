"""Folders written whole or not at all.

A folder cannot replace another in one step, so the old one is first renamed aside. A process killed at that
moment leaves nothing under the name; whoever reads or writes the folder next puts the old one back.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bioqa.system.errors import BioqaError


@contextmanager
def written_whole(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to fill, which then replaces ``folder``; it is deleted if filling it fails.

    If the process is killed, the name holds either the old folder or the new one, whole, except at the moment
    that ``put_back`` repairs. A hidden ``.NAME-…`` that was being filled may be left behind.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    put_back(folder)
    unfinished = _hidden(folder)
    try:
        yield unfinished
        # safetensors and mkdtemp create what only the owner can read; a service often runs as another user.
        for path in (unfinished, *unfinished.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        _replace(folder, unfinished)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def put_back(folder: Path) -> None:
    """If a write was killed between its two renames, give the old folder its name again.

    Call it before looking whether ``folder`` exists. Raises BioqaError where renaming is not allowed.
    """
    if folder.exists() or not (aside := _aside(folder)).is_dir():
        return
    try:
        aside.rename(folder)
    except OSError as error:
        # No error if a running writer has completed its second rename meanwhile.
        if not folder.exists():
            raise BioqaError(
                f"{folder}: writing it was interrupted, and the old one was left as {aside.name}: "
                f"rename that ({error.strerror})"
            ) from error


def _replace(folder: Path, new: Path) -> None:
    aside = _aside(folder)
    while True:
        if folder.exists():
            _remove(aside)
            folder.rename(aside)
        try:
            new.rename(folder)
        except OSError:
            if not folder.exists():
                raise
            # A reader has put the old one back between the two renames: once more.
            continue
        break
    _remove(aside)


def _remove(aside: Path) -> None:
    """Rename before deleting: a half-deleted folder must never be put back."""
    if aside.exists():
        doomed = _hidden(aside)
        aside.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def _hidden(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix=f".{folder.name.strip('.')}-", dir=folder.parent))
