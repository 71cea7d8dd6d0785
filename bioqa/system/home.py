"""The user's home folder, which a process of a service or a container may not have."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bioqa.system.errors import BioqaError


def home() -> Path | None:
    """None if there is no ``HOME`` and the user's id is in no password file."""
    folder = os.path.expanduser("~")  # noqa: PTH111  # Path.home() raises
    return None if folder in ("~", "") else Path(folder)


def expand_home(path: str) -> str:
    """Replace a ``~`` that begins the path, as a shell does. Raises BioqaError if there is no home folder."""
    expanded = os.path.expanduser(path)  # noqa: PTH111  # a Path cannot be told from a URL any more
    if expanded == path and (path == "~" or path.startswith("~/")):
        raise BioqaError(f"{path}: this user has no home folder that ~ could stand for")
    return expanded


@contextmanager
def pretended_home() -> Iterator[None]:
    """Let a library be imported that fails without a home folder, although nothing of it needs one.

    NLTK looks for a folder that it could download data into when it is imported; nothing is downloaded.
    """
    if home() is not None:
        yield
        return
    before = os.environ.get("HOME")
    os.environ["HOME"] = os.sep
    try:
        yield
    finally:
        if before is None:
            del os.environ["HOME"]
        else:
            os.environ["HOME"] = before
