"""The folder of an embedded index: its description, and what else may be in it."""

import json
import shutil
from pathlib import Path

import pytest

from bioqa.indexer.search.tantivy.folder import DESCRIPTION, FORMAT
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.system.errors import BioqaError
from tests.indexer.documents import document
from tests.indexer.search.conftest import make


def test_another_joiner_is_refused(folder: Path) -> None:
    make(folder)
    with pytest.raises(BioqaError, match="joins abstract parts with '', not ' '"):
        TantivyIndex.create(folder, " ")


def test_no_index(folder: Path) -> None:
    with pytest.raises(BioqaError, match=f"no index at {folder}: no such folder"):
        TantivyIndex.open(folder)
    folder.mkdir()
    with pytest.raises(BioqaError, match="has no bioqa index"):
        TantivyIndex.open(folder)


def test_a_folder_of_other_things_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "thesis.txt").write_text("chapter 1")
    with pytest.raises(BioqaError, match="has other files and no bioqa index"):
        TantivyIndex.create(folder)
    assert [f.name for f in folder.iterdir()] == ["thesis.txt"]


def test_a_file_is_no_folder(folder: Path) -> None:
    folder.write_text("")
    with pytest.raises(BioqaError, match="is a file"):
        TantivyIndex.create(folder)
    with pytest.raises(BioqaError, match="no such folder"):
        TantivyIndex.open(folder)


def test_another_format_is_refused(folder: Path) -> None:
    make(folder)
    (folder / DESCRIPTION).write_text(json.dumps({"format": FORMAT + 1, "joiner": ""}))
    for attempt in (TantivyIndex.open, TantivyIndex.create):
        with pytest.raises(
            BioqaError, match=f"has format {FORMAT + 1}, and this bioqa reads format {FORMAT}"
        ):
            attempt(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", f'{{"format": {FORMAT}, "joiner": 3}}', "\udcff"])
def test_a_broken_description_is_refused(folder: Path, text: str) -> None:
    make(folder)
    (folder / DESCRIPTION).write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(BioqaError, match=DESCRIPTION):
        TantivyIndex.open(folder)


@pytest.mark.parametrize("left", [[], ["bioqa.json.tmp"], ["bioqa.json"], ["bioqa.json", ".managed.json"]])
def test_a_folder_made_by_half_is_completed(folder: Path, tmp_path: Path, left: list[str]) -> None:
    whole = tmp_path / "whole"
    make(whole)
    (whole / "bioqa.json.tmp").write_text("{")
    folder.mkdir()
    for name in left:
        shutil.copy(whole / name, folder / name)
    with pytest.raises(BioqaError, match=r"has no bioqa index|is incomplete; load files"):
        TantivyIndex.open(folder)
    make(folder, document(1))
    with TantivyIndex.open(folder) as index:
        assert index.stats().documents == 1
