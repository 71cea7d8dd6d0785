"""The file of API keys: read again when it changes, changed so that no reader sees half of it."""

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
    """The keys of a file as it is now. Raises ApiKeyError if it cannot be used at first.

    A file that becomes unusable later changes nothing: the keys that it last held stay, and the log tells.
    """

    def __init__(self, path: Path, today: Callable[[], date] = today) -> None:
        self._path = path
        self._today = today
        self._stamp = _stamp(path)
        self._keys = read(path)

    def find(self, secret: str) -> ApiKey | None:
        """The key that ``secret`` is, if it is one that lets in today."""
        self._refresh()
        return keys.find(self._keys, secret, self._today())

    def _refresh(self) -> None:
        # One look at the file's entry a request; it is read only if that has changed.
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._keys = read(self._path)
        except ApiKeyError as error:
            log.error("the API keys stay as they were: %s", error)
        else:
            log.info("API keys read anew: %d", len(self._keys))


def _stamp(path: Path) -> _Stamp | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino


def read(path: Path) -> tuple[ApiKey, ...]:
    """Raises ApiKeyError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ApiKeyError(f"{path}: the API keys cannot be read: {reason}") from error
    return keys.parse(text, str(path))


def add(path: Path, key: ApiKey) -> None:
    """Append a key; makes the file if it is not there. Raises ApiKeyError, also if the name is taken."""
    with _changing(path) as lines:
        if any(known.name == key.name for known in keys.parse("".join(lines), str(path))):
            raise ApiKeyError(f"{path}: there is a key named {key.name} already; revoke it first")
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        lines.append(key.line() + "\n")


def remove(path: Path, name: str) -> None:
    """Take a key's line out, and leave all others as they are. Raises ApiKeyError if there is none."""
    with _changing(path) as lines:
        keys.parse("".join(lines), str(path))
        kept = [line for line in lines if line.split()[:1] != [name]]
        if len(kept) == len(lines):
            raise ApiKeyError(f"{path}: there is no key named {name}")
        lines[:] = kept


@contextmanager
def _changing(path: Path) -> Iterator[list[str]]:
    """The file's lines, written back at the end unless an error is raised; one at a time changes them."""
    path = path.resolve()  # a link stays one
    try:
        # Strict, as the lock would make a file in the place of a folder that is missing.
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
        # Nobody else's from the first moment on.
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
