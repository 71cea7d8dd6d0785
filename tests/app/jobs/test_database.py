import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from bioqa.app.answers.refusals import BatchesUnavailable
from bioqa.app.jobs.database import FILE_NAME, MIGRATIONS, Database


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
