"""The ledger: what it keeps, and how it survives crashes and damage."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from bioqa.indexer.loading.ledger import (
    FILES_BITS,
    LEDGER_FILE,
    Ledger,
    LoadedFile,
    file_number,
    md5_of,
    noted_name,
    order,
)
from bioqa.indexer.loading.run import load
from bioqa.system.errors import BioqaError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.mark.parametrize("line", ["{}\n", "nonsense\n", '{"name": "a", "colour": 1}\n', "\udcff\n"])
def test_a_broken_ledger_is_told_with_its_line(folder: Path, line: str) -> None:
    load([], folder)
    (folder / LEDGER_FILE).write_bytes(line.encode(errors="surrogateescape"))
    with pytest.raises(BioqaError, match=rf"{LEDGER_FILE}, line 1: not an entry of a ledger"):
        Ledger.open(folder)


def loaded(name: str, number: int, content_of: str = "") -> LoadedFile:
    content = f"content of {content_of or name}".encode()
    return LoadedFile(name, hashlib.md5(content).hexdigest(), len(content), 1, 1, 0, 0, number=number)


@pytest.mark.parametrize(
    ("name", "number"),
    [("pubmed26n0001.xml.gz", 4 * 260_001), ("pubmed99n9999.xml", 4 * 999_999), ("other.xml", 8)],
)
def test_numbers_of_names(name: str, number: int) -> None:
    assert file_number(name, [loaded("a.xml", 7), loaded("b.xml", 3)]) == number < 1 << FILES_BITS
    assert order(number, (1 << 26) - 1) + 1 == order(number + 1, 0) <= 1 << 48


def test_entries_are_kept_in_the_order_of_loading(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path)
    assert ledger.entries == ()
    entries = (loaded("b.xml", 2), replace(loaded("ä.xml", 1), skipped={"PubmedBookArticle": 3}))
    for entry in entries:
        ledger.append(entry)
    assert ledger.entries == Ledger.open(tmp_path).entries == entries


def test_an_incomplete_last_line_is_overwritten(tmp_path: Path) -> None:
    Ledger.open(tmp_path).append(loaded("a.xml", 1))
    path = tmp_path / LEDGER_FILE
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:-10])
    ledger = Ledger.open(tmp_path)
    assert [entry.name for entry in ledger.entries] == ["a.xml"]
    ledger.append(loaded("b.xml", 2))
    assert [entry.name for entry in Ledger.open(tmp_path).entries] == ["a.xml", "b.xml"]


def test_a_ledger_that_cannot_be_written_or_read_is_reported(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path)
    (tmp_path / LEDGER_FILE).mkdir()
    with pytest.raises(BioqaError, match=f"cannot write .*{LEDGER_FILE}: .*; fix this and run it again"):
        ledger.append(loaded("a.xml", 1))
    assert ledger.entries == ()
    with pytest.raises(BioqaError, match=f"{LEDGER_FILE} is no plain file"):
        Ledger.open(tmp_path)


def test_the_md5_is_that_of_the_files_content(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(b"content of a.xml")
    assert md5_of(path) == loaded("a.xml", 1).md5
    with pytest.raises(FileNotFoundError):
        md5_of(tmp_path / "b.xml")


def test_a_name_that_is_not_utf8_is_escaped(tmp_path: Path) -> None:
    name = noted_name(Path(os.fsdecode(b"caf\xe9.xml")))
    assert name == r"caf\xe9.xml"
    assert noted_name(Path("café.xml")) == "café.xml"
