"""The SQLite file that holds the batches: opened, checked, and migrated to the current schema.

Every operation uses its own connection, so threads and processes of one machine may share the file. Committed
data survive the end of the process and, as commits are synced, a power cut.
"""

import logging
import shutil
import sqlite3
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bioqa.app.answers.refusals import BatchesUnavailable

APPLICATION_ID = 0x62696F71  # "bioq"
FILE_NAME = "batches.sqlite"
BUSY_S = 10.0
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
)
"""The n-th migration (from 1) brings the schema to version n."""

log = logging.getLogger("bioqa")


class Database:
    """The file in ``folder``; if None, a temporary file that is deleted when the process ends."""

    def __init__(self, folder: Path | None) -> None:
        self.kept = folder is not None
        self._given = folder
        self._opened: Path | None = None
        self._lock = threading.Lock()
        if folder is not None:
            self._open()

    @property
    def opened(self) -> bool:
        """Whether the file exists: a temporary one is created on first use."""
        return self._opened is not None

    def folder(self) -> Path:
        """Return the file's folder. Raises BatchesUnavailable."""
        return self._open()

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

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        path = self._open() / FILE_NAME
        with _errors(path), closing(_connect(path)) as connection:
            connection.execute(begin)
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def _open(self) -> Path:
        with self._lock:
            if self._opened is None:
                self._opened = self._prepared()
            return self._opened

    def _prepared(self) -> Path:
        folder = self._given
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="bioqa-batches-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            log.warning("BIOQA_DATA_DIR is not set: batches are lost when the service ends")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BatchesUnavailable(f"{folder}: cannot be created: {error.strerror or error}") from error
        path = folder / FILE_NAME
        with _errors(path):
            # Kept open: SQLite writes the log back, which is slow, whenever the last connection is closed.
            connection = _connect(path)
            weakref.finalize(self, connection.close)
            _migrate(connection, path)
        return folder


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
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
