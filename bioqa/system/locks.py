"""Locks between processes: one holder of a file or folder at a time."""

import fcntl
import os
from pathlib import Path
from types import TracebackType

from bioqa.system.errors import BioqaError


class LockTaken(BioqaError):
    """Another process holds the lock. Callers turn it into a message that names what they wanted to do."""


class FileLock:
    """An exclusive lock on ``path``, held from its construction until ``close`` or the end of ``with``.

    The kernel releases it when the process ends, however it ends: a lock file left behind locks nothing.
    A file is created if there is none; a folder must exist. Threads exclude each other too, as each
    ``FileLock`` opens the path anew.

    >>> with FileLock(Path("update.lock")):  # doctest: +SKIP
    ...     update()
    """

    def __init__(self, path: Path, *, wait: bool = False) -> None:
        """Raises LockTaken if another holds it, unless told to ``wait``; OSError if it cannot be opened."""
        # Not truncated and not written: the file may hold data of its own.
        flags = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT
        self._descriptor: int | None = os.open(path, flags, 0o666)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError as error:
            self.close()
            raise LockTaken(f"{path}: locked by another process") from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release it. May be called more than once."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __enter__(self) -> "FileLock":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
