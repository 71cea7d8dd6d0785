import logging
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from bioqa.app.answers.refusals import BatchesUnavailable, NoRoom
from bioqa.app.jobs import database as databases
from bioqa.app.jobs.database import (
    APPLICATION_ID,
    FILE_NAME,
    LOCK_NAME,
    MIGRATIONS,
    NEW_S,
    ROOM_BYTES,
    ROOM_NAME,
    TEMPORARY,
    Database,
    remove_left_ones,
)
from bioqa.system.locks import FileLock


def versions(folder: Path) -> tuple[int, int]:
    with sqlite3.connect(folder / FILE_NAME) as connection:
        found = [
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "foreign_keys")
        ]
    connection.close()
    return found[0], found[1]


def test_a_folder_is_made_and_the_schema_has_its_version(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert Database(folder).kept
    assert versions(folder)[0] == len(MIGRATIONS)
    Database(folder)  # opening it again changes nothing
    assert versions(folder)[0] == len(MIGRATIONS)


def test_what_is_committed_is_there_and_what_fails_is_not(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with database.writing() as connection:
        connection.execute("CREATE TABLE t (x INTEGER) STRICT")
    with suppress(ZeroDivisionError), database.writing() as connection:
        connection.execute("INSERT INTO t VALUES (1)")
        raise ZeroDivisionError
    with Database(tmp_path).reading() as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone()[0] == 0


def test_without_a_folder_it_is_a_file_that_goes(caplog: pytest.LogCaptureFixture) -> None:
    database = Database(None)
    assert not database.kept
    assert not database.opened
    assert caplog.text == ""  # nobody is warned of what nobody uses
    folder = database.folder()
    assert (folder / FILE_NAME).exists()
    assert "BIOQA_DATA_DIR" in caplog.text
    del database
    assert not folder.exists()


def test_a_newer_programs_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    Database(tmp_path)
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(BatchesUnavailable, match=rf"{FILE_NAME}: was written by a newer bioqa \(version 99"):
        Database(tmp_path)
    assert versions(tmp_path)[0] == 99


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("CREATE TABLE diary (day TEXT)")
    connection.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    with pytest.raises(BatchesUnavailable, match="not a file of bioqa's batches"):
        Database(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == before


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"a diary\n" * 1000)
    with pytest.raises(BatchesUnavailable, match=rf"{FILE_NAME}: cannot be used: .*not a database"):
        Database(tmp_path)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BatchesUnavailable, match=r"file: cannot be created"):
        Database(tmp_path / "file")


def test_a_file_that_breaks_while_in_use_is_told(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with pytest.raises(BatchesUnavailable, match="cannot be used"), database.reading() as connection:
        connection.execute("SELECT * FROM nothing")


def modes(folder: Path) -> set[int]:
    return {path.stat().st_mode & 0o777 for path in folder.iterdir()}


def test_everything_that_is_kept_is_its_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    before = os.umask(0)
    try:
        database = Database(folder)
    finally:
        os.umask(before)
    with database.writing() as connection:
        connection.execute("CREATE TABLE t (x INTEGER) STRICT")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in folder.iterdir()} > {FILE_NAME, f"{FILE_NAME}-wal", LOCK_NAME}
    assert modes(folder) == {0o600}


def test_what_an_older_version_left_open_to_all_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    Database(folder).close()
    for path in (folder, *folder.iterdir()):
        path.chmod(0o755)
    Database(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert modes(folder) <= {0o600, 0o700}


def test_a_folder_that_holds_other_files_stays_open(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "notes").touch(0o644)
    Database(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o755
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "notes").stat().st_mode & 0o777 == 0o644


def test_a_temporary_file_goes_when_the_service_ends(tmp_path: Path) -> None:
    database = Database(None)
    first = database.folder()
    database.close()
    assert not first.exists()
    with pytest.raises(BatchesUnavailable, match="has ended"):
        database.folder()
    assert not database.opened
    database.start()
    second = database.folder()
    assert second != first
    database.close()
    assert not second.exists()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left(temporary: Path, name: str, age_s: float) -> Path:
    folder = temporary / f"{TEMPORARY}{name}"
    folder.mkdir()
    (folder / FILE_NAME).write_text("patients")
    (folder / LOCK_NAME).touch()
    then = time.time() - age_s
    os.utime(folder, (then, then))
    return folder


def test_what_killed_processes_left_is_removed_and_nothing_else(temporary: Path) -> None:
    running = Database(None)
    in_use = running.folder()
    then = time.time() - 2 * NEW_S
    os.utime(in_use, (then, then))
    killed, new = left(temporary, "killed", 2 * NEW_S), left(temporary, "new", 0)
    older = left(temporary, "older", 2 * NEW_S)
    other = temporary / "other"
    other.mkdir()
    link = temporary / f"{TEMPORARY}link"
    link.symlink_to(other)
    with FileLock(older / LOCK_NAME):
        remove_left_ones()
        assert not killed.exists()
        assert all(path.exists() for path in (in_use, new, older, other, link))
    remove_left_ones()
    assert not older.exists()


def test_a_deleted_file_is_begun_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    database = Database(tmp_path)
    with database.writing() as connection:
        connection.execute("CREATE TABLE t (x INTEGER) STRICT")
    (tmp_path / FILE_NAME).unlink()  # its log stays, and must not be taken for the new one's
    with database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM batches").fetchone()[0] == 0
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    assert "t" not in tables
    assert "was deleted while in use" in caplog.text
    assert database.trouble is None


def test_a_deleted_folder_is_made_anew(tmp_path: Path) -> None:
    databases = Database(tmp_path / "data"), Database(None)
    for database in databases:
        folder = database.folder()
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        with database.writing() as connection:
            connection.execute("CREATE TABLE t (x INTEGER) STRICT")
        assert database.trouble is None


def test_two_processes_that_share_a_deleted_file_share_the_new_one(tmp_path: Path) -> None:
    one, other = Database(tmp_path), Database(tmp_path)
    for path in tmp_path.iterdir():
        path.unlink()
    with one.writing() as connection:
        connection.execute("CREATE TABLE t (x INTEGER) STRICT")
    with other.writing() as connection:
        connection.execute("INSERT INTO t VALUES (1)")
    with one.reading() as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone()[0] == 1


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    with closing(sqlite3.connect(folder / FILE_NAME, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


def test_a_locked_file_is_waited_for_once_and_not_by_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    connect = databases._connect

    def noting(path: Path, wait_s: float) -> sqlite3.Connection:
        if path.parent == tmp_path:  # and no service's that another test left behind
            waited.append(wait_s)
        return connect(path, wait_s / 20)

    database = Database(tmp_path)
    monkeypatch.setattr(databases, "_connect", noting)
    with locked(tmp_path):
        for _ in range(3):
            with pytest.raises(BatchesUnavailable, match="locked"), database.writing():
                pass
    assert waited == [databases.BUSY_S, databases.STILL_BUSY_S, databases.STILL_BUSY_S]
    assert database.failures == 3
    with database.writing():
        pass
    assert database.trouble is None


def test_a_damaged_file_is_told_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    database = Database(tmp_path)
    assert database.trouble is None
    with pytest.raises(BatchesUnavailable), database.reading() as connection:
        connection.execute("SELECT * FROM nothing")
    assert "damaged" in str(database.trouble)
    assert str(tmp_path) not in str(database.trouble)
    monkeypatch.setattr(databases, "BROKEN_S", -1)
    assert database.trouble is None
    with (tmp_path / FILE_NAME).open("r+b") as file:
        file.write(b"nonsense" * 1000)
    for path in tmp_path.glob("*-wal"):
        path.write_bytes(b"")
    with caplog.at_level(logging.ERROR):
        assert "damaged" in str(database.trouble)
    assert str(tmp_path) in caplog.text, "the log says which file"


def test_nobody_asks_about_a_file_that_is_not_there_yet() -> None:
    database = Database(None)
    assert database.trouble is None
    assert not database.opened


def test_batches_of_the_first_schema_belong_to_nobody_and_have_their_size(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        connection.executescript(MIGRATIONS[0])
        connection.execute(
            "INSERT INTO batches (id, idempotency_key, content, candidates, state, created, finished)"
            " VALUES ('a', 'k', 'c', 10, 'done', 1, 2)"
        )
        connection.execute(
            "INSERT INTO questions (batch, position, state, body, answer)"
            " VALUES (1, 0, 'answered', 'f\u00fcnf', 'four')"
        )
        connection.execute("PRAGMA user_version = 1")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.commit()
    with Database(tmp_path).reading() as connection:
        row = connection.execute("SELECT owner, bytes, idempotency_key FROM batches").fetchone()
    assert tuple(row) == (None, 9, "k")


def test_what_is_removed_is_not_left_in_the_file(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with database.writing() as connection:
        connection.execute("CREATE TABLE t (x TEXT) STRICT")
        connection.execute("INSERT INTO t VALUES (?)", ("patient 17" * 100,))
    with database.writing() as connection:
        connection.execute("DELETE FROM t")
    database.close()
    assert b"patient 17" not in (tmp_path / FILE_NAME).read_bytes()


def full() -> BatchesUnavailable:
    cause = sqlite3.OperationalError("database or disk is full")
    cause.sqlite_errorcode = sqlite3.SQLITE_FULL
    error = BatchesUnavailable("cannot be used")
    error.__cause__ = cause
    return error


def test_on_a_full_disk_what_frees_room_has_the_room_that_is_kept_for_it(tmp_path: Path) -> None:
    database = Database(tmp_path)
    kept = tmp_path / ROOM_NAME
    assert kept.stat().st_blocks * 512 >= ROOM_BYTES
    seen = []

    def remove() -> str:
        seen.append(kept.exists())
        if kept.exists():
            raise full()
        return "removed"

    assert database.make_room(remove) == "removed"
    assert seen == [True, False]
    assert kept.stat().st_size == ROOM_BYTES


def test_other_faults_are_not_tried_again(tmp_path: Path) -> None:
    tries = []

    def fail() -> None:
        tries.append(1)
        raise BatchesUnavailable("damaged")

    with pytest.raises(BatchesUnavailable, match="damaged"):
        Database(tmp_path).make_room(fail)
    assert len(tries) == 1


def test_a_full_disk_of_batches_does_not_stop_the_service(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with pytest.raises(BatchesUnavailable), database._counting():
        raise full()
    assert database.trouble is None
    with pytest.raises(BatchesUnavailable), database._counting():
        raise BatchesUnavailable("damaged")
    assert database.trouble is not None


def test_sqlite_says_that_a_disk_is_full_as_it_is_understood_here(tmp_path: Path) -> None:
    """The number of pages stands for the disk's size."""
    database = Database(tmp_path)
    with database.writing() as connection:
        connection.execute("CREATE TABLE t (x BLOB)")

    def fill() -> None:
        with database.writing() as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages + 3}")
            connection.execute("INSERT INTO t VALUES (zeroblob(1000000))")

    with pytest.raises(BatchesUnavailable) as caught:
        fill()
    assert databases._is_full(caught.value)
    assert database.trouble is None


def test_room_is_looked_at_before_anything_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(tmp_path)
    free = SimpleNamespace(free=5_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: free)
    database.check_room(3_000_000)
    with pytest.raises(NoRoom, match="no room") as caught:
        database.check_room(5_000_000)
    assert caught.value.retry_after_s > 0
