"""The vectors in the folder of an index: none, or those of the file that was written last."""

from pathlib import Path
from threading import Lock

from bioqa.indexer.vectors.file import VectorFile, VectorsError

PATTERN = "vectors-*.bin"


class VectorsBeside:
    """Opens the file when it is first needed, and again when it has changed. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = Lock()
        self._seen: tuple[str, int, int, int] | None = None
        self._opened: VectorFile | None = None

    def current(self) -> VectorFile | None:
        """The opened file; None if there is none. Raises VectorsError if it cannot be used."""
        with self._lock:
            path, state = self._newest()
            if state != self._seen or (path is not None and self._opened is None):
                # What is open stays mapped for threads that are reading it.
                self._seen, self._opened = None, None
                self._opened = None if path is None else VectorFile.open(path)
                self._seen = state
            return self._opened

    def _newest(self) -> tuple[Path | None, tuple[str, int, int, int] | None]:
        files = []
        for path in self.folder.glob(PATTERN):
            try:
                status = path.stat()
            except FileNotFoundError:  # replaced or removed since it was listed
                continue
            except OSError as error:
                raise VectorsError(f"{path}: cannot be read: {error.strerror or error}") from error
            files.append((path, (path.name, status.st_ino, status.st_mtime_ns, status.st_size)))
        if not files:
            return None, None
        return max(files, key=lambda file: (file[1][2], file[1][0]))
