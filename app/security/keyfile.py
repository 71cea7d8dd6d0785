"""The file of API keys: read again when it changes, and replaced atomically."""

import errno
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from pathlib import Path

from bioqa.app.security import keys
from bioqa.app.security.keys import ApiKey, ApiKeyError
from bioqa.system.access import keep_access
from bioqa.system.jsonfile import sync_folder
from bioqa.system.locks import FileLock
from bioqa.system.stamps import Stamp, stamp_of

GRACE_S = 60
"""How long the last keys are honoured after the file became unusable."""

SETTLED_S = 1.0
RETRY_S = 1.0
"""How often an unusable file is looked into that shows no change."""

log = logging.getLogger("bioqa")


def today() -> date:
    return datetime.now(UTC).date()


class KeysUnavailable(ApiKeyError):
    """The file of keys has been unusable for too long: nobody can be let in."""


class KeyRing:
    """The current keys of a file. Raises ApiKeyError if it cannot be used when it is first read.

    A file that becomes unusable later is reported (``trouble``, the log). Its last keys are honoured for
    ``GRACE_S`` more, so that no revoked key works longer than that, and then none is.

    A file replaced as a whole counts at once. One that is rewritten in place counts ``SETTLED_S`` after its
    last change: in between it may be empty or hold half of the keys.
    """

    name = "keys"

    def __init__(
        self, path: Path, today: Callable[[], date] = today, clock: Callable[[], float] = time.time
    ) -> None:
        """``clock``: seconds since 1970, as the file system's times are."""
        self._path = path
        self._today = today
        self._clock = clock
        self._lock = threading.Lock()
        self.failures = 0
        """How often the file became unusable."""
        self._unusable_since: float | None = None
        self._refusing = False
        self._tried = 0.0
        self._stamp = stamp_of(path)
        self._keys = read(path)

    def find(self, secret: str) -> ApiKey | None:
        """The key that ``secret`` is, if it is one that lets in today. Raises KeysUnavailable."""
        with self._lock:
            self._refresh()
            if self._refusing:
                raise KeysUnavailable("the API keys cannot be read")
            entries = self._keys
        return keys.find(entries, secret, self._today())

    @property
    def trouble(self) -> str | None:
        """What is wrong with the file at the moment, if anything is; it names no path."""
        with self._lock:
            self._refresh()
            if self._refusing:
                return "the API keys cannot be read, and every key is refused; see the service's log"
            if self._unusable_since is not None:
                return "the API keys cannot be read, and are soon all refused; see the service's log"
            return None

    def _refresh(self) -> None:
        # One look at the file's entry a request; it is read only if that has changed.
        stamp, now = stamp_of(self._path), self._clock()
        if self._unusable_since is None:
            wait = stamp == self._stamp
        else:
            wait = stamp == self._stamp and 0 <= now - self._tried < RETRY_S
            self._expire(now)
        if wait or self._is_being_written(stamp, now):
            return
        self._stamp, self._tried = stamp, now
        try:
            self._keys = read(self._path)
        except ApiKeyError as error:
            self._note_failure(error, now)
        else:
            self._unusable_since, self._refusing = None, False
            log.info("API keys read anew: %d", len(self._keys))

    def _is_being_written(self, stamp: Stamp | None, now: float) -> bool:
        if stamp is None or (self._stamp is not None and stamp.inode != self._stamp.inode):
            return False  # missing, or replaced as a whole
        return 0 <= now - stamp.written_ns / 1e9 < SETTLED_S

    def _note_failure(self, error: ApiKeyError, now: float) -> None:
        if self._unusable_since is None:
            self.failures += 1
            # Not from the moment when somebody looks, which may be long after.
            self._unusable_since = min(now, _read_change_time(self._path, now))
            log.error("%s; the last keys are honoured for %d s, then none is", error, GRACE_S)
        self._expire(now)

    def _expire(self, now: float) -> None:
        assert self._unusable_since is not None
        if not self._refusing and not 0 <= now - self._unusable_since < GRACE_S:
            self._refusing = True
            log.error("%s: unusable for more than %d s: every API key is refused", self._path, GRACE_S)


def _read_change_time(path: Path, now: float) -> float:
    """When the file, or the folder that it is missing from, was changed."""
    for changed in (path, path.parent):
        with suppress(OSError):
            return changed.stat().st_ctime
    return now


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
        if any(existing.name == key.name for existing in keys.parse("".join(lines), str(path))):
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
    """Whoever could read the old file can read the new one: a service that cannot would know no change.

    Raises OSError, and ApiKeyError where that cannot be kept.
    """
    if path.exists() and path.stat().st_nlink > 1:
        # Other names of this file would go on showing the old keys.
        _overwrite(path, content)
        return
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        # Readable by the owner only, from the first moment on.
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            if path.exists():
                _keep_access(path, file.fileno())
            else:
                os.fchmod(file.fileno(), 0o600)
            file.flush()
            os.fsync(file.fileno())
        try:
            temporary.replace(path)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            _overwrite(path, content)  # mounted alone into a container, so that it cannot be replaced
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _keep_access(path: Path, new: int) -> None:
    try:
        keep_access(path, new)
    except PermissionError as error:
        state = path.stat()
        raise ApiKeyError(
            f"{path}: belongs to user {state.st_uid} and group {state.st_gid}, which only they and root can "
            "keep so: run this command as one of them"
        ) from error


def _overwrite(path: Path, content: bytes) -> None:
    with path.open("r+b") as file:
        file.write(content)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
