"""Notice that a file was replaced or written, without reading it."""

from os import stat_result
from pathlib import Path
from typing import NamedTuple


class Stamp(NamedTuple):
    """Something of a file changes with each change of it.

    Two writes in place within one tick of the file system's clock (some milliseconds), which leave the
    size as it is, have one stamp: files that are read while others use them are replaced as a whole.
    """

    device: int
    inode: int
    bytes: int
    """Mapped memory beyond the end of a file that was cut off must not be read."""
    written_ns: int
    """Since 1970, as the next."""
    changed_ns: int
    """When anything of it was changed: a file may become readable, or not, without a change of the others."""


def stamp_of(path: Path) -> Stamp | None:
    """The stamp of a file; None if there is no such file."""
    try:
        return stamp_from(path.stat())
    except OSError:
        return None


def stamp_from(status: stat_result) -> Stamp:
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
