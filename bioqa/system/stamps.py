"""Notice that a file was replaced or written, without reading it."""

from pathlib import Path

Stamp = tuple[int, int, int, int, int]
"""Device, inode, size, and times of the last change of content and of anything, in nanoseconds."""


def stamp_of(path: Path) -> Stamp | None:
    """The stamp of a file, which differs after each change; None if there is no such file.

    Two writes in place within one tick of the file system's clock (some milliseconds), which leave the
    size as it is, have one stamp: files that are read while others use them are replaced as a whole.
    """
    try:
        status = path.stat()
    except OSError:
        return None
    # The size, too: mapped memory beyond the end of a file that was cut off must not be read.
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
