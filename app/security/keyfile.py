"""The file of API keys: read again when it changes, and replaced atomically."""

import logging
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

from bioqa.app.security import keys
from bioqa.app.security.keys import ApiKey, ApiKeyError
from bioqa.bioasq.locks import FileLock

log = logging.getLogger("bioqa")

_Stamp = tuple[int, int, int]


def today() -> date:
    return datetime.now(UTC).date()


class KeyRing:
    """The current keys of a file. Raises ApiKeyError if it cannot be used when it is first read.

    If the file becomes invalid later, the last valid keys remain in force, and the error is logged.
    """

    def __init__(self, path: Path, today: Callable[[], date] = today) -> None:
        self._path = path
        self._today = today
        self._stamp = _stamp(path)
        self._keys = read(path)

    def find(self, secret: str) -> ApiKey | None:
        """Return the key that belongs to ``secret``, if it is known and has not expired."""
        self._refresh()
        return keys.find(self._keys, secret, self._today())

    def _refresh(self) -> None:
        # One stat call per request; the file is read only if it has changed.
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._keys = read(self._path)
        except ApiKeyError as error:
            log.error("the API keys remain as they were: %s", error)
        else:
            log.info("API keys read anew: %d", len(self._keys))


def _stamp(path: Path) -> _Stamp | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino


def read(path: Path) -> tuple[ApiKey, ...]:
    """Read the keys of a file. Raises ApiKeyError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ApiKeyError(f"{path}: the API keys cannot be read: {reason}") from error
    return keys.parse(text, str(path))


def add(path: Path, key: ApiKey) -> None:
    """Append a key, creating the file if necessary. Raises ApiKeyError, also if the name is taken."""
    with _changing(path) as lines:
        if any(known.name == key.name for known in keys.parse("".join(lines), str(path))):
            raise ApiKeyError(f"{path}: there is a key named {key.name} already; revoke it first")
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        lines.append(key.line() + "\n")


def remove(path: Path, name: str) -> None:
    """Remove a key's line, leaving all others unchanged. Raises ApiKeyError if there is none."""
    with _changing(path) as lines:
        keys.parse("".join(lines), str(path))
        kept = [line for line in lines if line.split()[:1] != [name]]
        if len(kept) == len(lines):
            raise ApiKeyError(f"{path}: there is no key named {name}")
        lines[:] = kept


@contextmanager
def _changing(path: Path) -> Iterator[list[str]]:
    """Edit the file's lines under a lock; they are written at the end unless an error is raised."""
    path = path.resolve()  # replace the target of a link, not the link
    try:
        # Strict, because locking would create a file in place of a missing folder.
        with FileLock(path.parent.resolve(strict=True), wait=True):
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
            yield lines
            _replace(path, "".join(lines).encode())
    except OSError as error:
        raise ApiKeyError(f"{path}: the API keys cannot be changed: {error.strerror}") from error


def _replace(path: Path, content: bytes) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        # Readable by the owner only, from the first moment on.
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        temporary.unlink(missing_ok=True)
