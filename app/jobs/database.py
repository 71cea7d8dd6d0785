"""The SQLite file that holds the batches: opened, checked, and migrated to the current schema.

Every operation uses its own connection, so threads and processes of one machine may share the file. Committed
data survive the end of the process and, as commits are synced, a power cut.
"""

import logging
import os
import shutil
import sqlite3
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TypeVar

from bioqa.app.answers.refusals import BatchesUnavailable, NoRoom
from bioqa.system.locks import FileLock, LockTaken
from bioqa.system.stamps import stamp_of

APPLICATION_ID = 0x62696F71  # "bioq"
FILE_NAME = "batches.sqlite"
LOCK_NAME = "batches.lock"
ROOM_NAME = "batches.room"
TEMPORARY = "bioqa-batches-"

STARTING_S = 10.0
"""Wait for a locked file at the start."""

BUSY_S = 2.0
"""Wait for a locked file later, where a client waits."""

STILL_BUSY_S = 0.1
"""Wait for a locked file where others have just waited in vain: if all threads wait, nothing else is done."""

BROKEN_S = 60.0
"""How long the service is not ready after the file could not be read or written."""

NEW_S = 5.0
"""A temporary folder that is no older may not be locked yet."""

ROOM_BYTES = 2_000_000
"""Kept in a file of its own, so that batches can be removed when the disk is full."""

CHECKPOINT_PAGES = 250
"""After so many pages, of 4 kB, the log is written back: it must fit beside the file."""

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
OLDEST_SQLITE = (3, 37, 0)  # strict tables

MIGRATIONS = (
    """
    CREATE TABLE batches (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        idempotency_key TEXT UNIQUE,
        content TEXT NOT NULL,
        asked_ranker TEXT,
        candidates INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
        reason TEXT,
        waits_for TEXT,
        created REAL NOT NULL,
        started REAL,
        finished REAL,
        ranker TEXT,
        ranker_hash TEXT,
        index_name TEXT,
        index_documents INTEGER
    ) STRICT;
    CREATE INDEX batches_by_state ON batches (state, number);
    CREATE TABLE restarts (
        batch INTEGER NOT NULL REFERENCES batches (number) ON DELETE CASCADE,
        at REAL NOT NULL,
        reason TEXT NOT NULL
    ) STRICT;
    CREATE INDEX restarts_by_batch ON restarts (batch);
    CREATE TABLE questions (
        batch INTEGER NOT NULL REFERENCES batches (number) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('waiting', 'answered', 'refused', 'failed')),
        id TEXT,
        type TEXT,
        body TEXT NOT NULL,
        field TEXT,
        message TEXT,
        answer TEXT,
        degraded TEXT,
        seconds REAL,
        UNIQUE (batch, position)
    ) STRICT;
    CREATE INDEX questions_by_state ON questions (batch, state, position, seconds, degraded);
    """,
    # Batches that are older than this belong to nobody. Where there are owners, idempotency keys begin with
    # theirs, so that the column may stay unique.
    """
    ALTER TABLE batches ADD COLUMN owner TEXT;
    ALTER TABLE batches ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    UPDATE batches SET bytes = (
        SELECT coalesce(sum(length(CAST(body AS BLOB)) + coalesce(length(CAST(answer AS BLOB)), 0)), 0)
        FROM questions WHERE batch = number
    )
    """,
    "ALTER TABLE batches ADD COLUMN file_name TEXT",
    # The options of all questions, as JSON; of batches that are older than this, none.
    "ALTER TABLE batches ADD COLUMN options TEXT NOT NULL DEFAULT '{}'",
    "ALTER TABLE batches ADD COLUMN index_state TEXT",
)
"""The n-th migration (from 1) brings the schema to version n."""

NO_ROOM_RETRY_AFTER_S = 600

Result = TypeVar("Result")

log = logging.getLogger("bioqa")


class Database:
    """The file in ``folder``; if None, a temporary file that is deleted when the service ends.

    Readable by its owner only, as questions can be about patients. If it is deleted while in use, an empty
    one takes its place.
    """

    name = "batches database"

    def __init__(self, folder: Path | None) -> None:
        """Raises BatchesUnavailable if the file in ``folder`` cannot be used."""
        self.kept = folder is not None
        self.failures = 0
        """How often the file could not be used."""
        self._given = folder
        self._file: _File | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._busy_at = self._broken_at = -1e9
        if folder is not None:
            self._open(STARTING_S)

    @property
    def opened(self) -> bool:
        """Whether the file exists: a temporary one is created on first use."""
        return not self._closed and (self.kept or self._file is not None)

    @property
    def trouble(self) -> str | None:
        """Why batches cannot be kept at the moment; None if they can."""
        if not self.opened:
            return None
        try:
            with self.reading() as connection:
                connection.execute("SELECT count(*) FROM batches").fetchone()
        except BatchesUnavailable as error:
            log.error("not ready: %s", error)
        else:
            if time.monotonic() - self._broken_at > BROKEN_S:
                return None
        return "the file of batches is damaged, locked or cannot be reached; see the service's log"

    def folder(self) -> Path:
        """Return the file's folder. Raises BatchesUnavailable."""
        return self._open().folder

    def start(self) -> None:
        """Use it again after ``close``."""
        self._closed = False

    def close(self) -> None:
        """Remove a temporary file; others are left whole. Later uses raise BatchesUnavailable."""
        with self._lock:
            self._closed = True
            if self._file is not None:
                self._file.close()
                self._file = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read in one transaction: all queries see the same state. Raises BatchesUnavailable."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Write in one transaction, committed at the end. Raises BatchesUnavailable."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    def make_room(self, change: Callable[[], Result]) -> Result:
        """Call what frees room; if the disk is full, once more with the room that is kept for this. Raises
        BatchesUnavailable.
        """
        try:
            return change()
        except BatchesUnavailable as error:
            if not _is_full(error):
                raise
        kept = self.folder() / ROOM_NAME
        kept.unlink(missing_ok=True)
        try:
            return change()
        finally:
            with suppress(BatchesUnavailable), closing(_connect(self._open().path, BUSY_S)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            _keep_room(kept)

    def check_room(self, needed_bytes: int) -> None:
        """Raises NoRoom if the disk would be full."""
        folder = self.folder()
        kept = folder / ROOM_NAME
        if not kept.exists():
            _keep_room(kept)
        if shutil.disk_usage(folder).free < needed_bytes + ROOM_BYTES // 2:
            raise NoRoom(
                "there is no room for this batch on the disk of batches: remove finished ones, or wait",
                NO_ROOM_RETRY_AFTER_S,
            )

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        path = self._open().path
        wait_s = STILL_BUSY_S if time.monotonic() - self._busy_at < BUSY_S else BUSY_S
        with self._counting(), _errors(path), closing(_connect(path, wait_s)) as connection:
            connection.execute(begin)
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def _open(self, wait_s: float = BUSY_S) -> "_File":
        with self._lock:
            if self._closed:
                raise BatchesUnavailable("the file of batches is closed: the service has ended")
            if self._file is not None and not self._file.is_there():
                log.error("%s was deleted while in use: its batches are lost", self._file.path)
                self._file.close()
                self._file = None
            if self._file is None:
                with self._counting():
                    self._file = _File(self._given, wait_s)
            return self._file

    @contextmanager
    def _counting(self) -> Iterator[None]:
        try:
            yield
        except BatchesUnavailable as error:
            self.failures += 1
            if getattr(error.__cause__, "sqlite_errorcode", None) in _BUSY:
                self._busy_at = time.monotonic()
            elif not _is_full(error):  # questions are answered on a full disk, too
                self._broken_at = time.monotonic()
            raise


class _File:
    """The file, open and of the present schema. Raises BatchesUnavailable."""

    def __init__(self, given: Path | None, wait_s: float) -> None:
        lock: FileLock | None = None
        try:
            if given is None:
                self.folder = Path(tempfile.mkdtemp(prefix=TEMPORARY))
                lock = FileLock(self.folder)  # so that no other process takes it for a left one
                log.warning("BIOQA_DATA_DIR is not set: batches are lost when the service ends")
            else:
                self.folder = given
                _make(given)
        except OSError as error:
            raise BatchesUnavailable(f"{given}: cannot be created: {error.strerror or error}") from error
        self.path = self.folder / FILE_NAME
        # Kept open: SQLite writes the log back, which is slow, whenever the last connection is closed.
        connection = self._prepare(wait_s, locked=lock is not None)
        self._identity = _identity(self.path)
        temporary = self.folder if given is None else None
        self.close = weakref.finalize(self, _close, connection, temporary, lock)

    def is_there(self) -> bool:
        return _identity(self.path) == self._identity

    def _prepare(self, wait_s: float, locked: bool) -> sqlite3.Connection:
        try:
            # One process at a time, or another's new file could lose its log.
            with nullcontext() if locked else FileLock(self.folder, wait=True):
                if not self.path.exists():
                    for ending in ("-wal", "-shm"):  # a deleted file's
                        self.path.with_name(FILE_NAME + ending).unlink(missing_ok=True)
                    os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
                with _errors(self.path):
                    connection = _connect(self.path, wait_s)
                    _migrate(connection, self.path)
                _keep_room(self.folder / ROOM_NAME)
                _make_private(self.folder)
        except OSError as error:
            raise BatchesUnavailable(f"{self.path}: cannot be created: {error.strerror or error}") from error
        return connection


def _close(connection: sqlite3.Connection, temporary: Path | None, lock: FileLock | None) -> None:
    connection.close()
    if temporary is not None:
        shutil.rmtree(temporary, ignore_errors=True)
    if lock is not None:
        lock.close()


def remove_left_ones() -> None:
    """Remove the temporary folders of processes that were killed, and could not do so themselves."""
    for folder in Path(tempfile.gettempdir()).glob(f"{TEMPORARY}*"):
        with suppress(OSError, LockTaken):
            state = folder.lstat()
            if not folder.is_dir() or folder.is_symlink() or state.st_uid != os.geteuid():
                continue
            if time.time() - state.st_mtime < NEW_S:
                continue
            with FileLock(folder):
                if (folder / LOCK_NAME).exists():
                    FileLock(folder / LOCK_NAME).close()  # all that older versions locked
                shutil.rmtree(folder)
                log.warning("%s removed: batches of a service that was killed", folder)


def _is_full(error: BatchesUnavailable) -> bool:
    return getattr(error.__cause__, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL


def _keep_room(path: Path) -> None:
    """Where there is none, or another process does the same, there will be some later."""
    try:
        with path.open("xb") as file:
            os.posix_fallocate(file.fileno(), 0, ROOM_BYTES)
    except FileExistsError:
        return
    except OSError as error:
        log.warning("%s: no room can be kept for removing batches: %s", path, error.strerror)
        path.unlink(missing_ok=True)


def _make(folder: Path) -> None:
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _make_private(folder: Path) -> None:
    """Everything here becomes its owner's alone, and the folder too unless it holds other files."""
    own = [
        folder / name for name in (FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", LOCK_NAME, ROOM_NAME)
    ]
    (folder / LOCK_NAME).touch(0o600)
    if set(folder.iterdir()) <= set(own):
        own.append(folder)
    for path in own:
        with suppress(FileNotFoundError):
            state = path.stat()
            if state.st_uid == os.geteuid() and state.st_mode & 0o077:
                path.chmod(state.st_mode & 0o700)


def _identity(path: Path) -> tuple[int, int] | None:
    stamp = stamp_of(path)
    return None if stamp is None else (stamp.device, stamp.inode)


def _connect(path: Path, wait_s: float) -> sqlite3.Connection:
    # Never made here: an empty file in the place of a deleted one would have no tables.
    address = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(
        address, uri=True, timeout=wait_s, isolation_level=None, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    connection.execute("PRAGMA secure_delete = ON")  # what is removed is overwritten
    return connection


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise BatchesUnavailable(f"SQLite {sqlite3.sqlite_version} is too old: 3.37 or newer is needed")
    _known_version(connection, path)  # before anything is written to a file that may not be ours
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _known_version(connection, path)
        for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
            for statement in script.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _known_version(connection: sqlite3.Connection, path: Path) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if tables and application != APPLICATION_ID:
        raise BatchesUnavailable(f"{path}: is not a file of bioqa's batches and will not be written to")
    if version > len(MIGRATIONS):
        raise BatchesUnavailable(
            f"{path}: was written by a newer bioqa (version {version}; this one knows {len(MIGRATIONS)})"
        )
    return int(version)


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.IntegrityError:  # for the caller to handle
        raise
    except sqlite3.Error as error:
        raise BatchesUnavailable(f"{path}: cannot be used: {error}") from error
