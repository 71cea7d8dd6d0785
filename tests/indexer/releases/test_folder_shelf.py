"""Releases in a folder: the list of them, and which folder serves."""

import json
from pathlib import Path

import pytest

from bioqa.indexer.releases.folder_shelf import (
    LOCK_FILE,
    RELEASES_FILE,
    CurrentFolder,
    FolderShelf,
    current_folder,
)
from bioqa.indexer.releases.shelf import Shelf
from bioqa.system.errors import BioqaError


def build(shelf: Shelf, name: str) -> str:
    shelf.target(name, "").close()
    return name


def test_a_folder_used_for_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(BioqaError, match=r"has other files and no releases"):
        FolderShelf(tmp_path)
    with pytest.raises(BioqaError, match=r"thesis.tex is a file"):
        FolderShelf(tmp_path / "thesis.tex")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not JSON"),
        ("[]", "not a list of releases"),
        (json.dumps({"format": 2, "serving": None, "releases": {}}), "not a list of releases"),
        (json.dumps({"format": 1, "serving": "../other", "releases": {}}), "damaged"),
        (json.dumps({"format": 1, "serving": None, "releases": []}), "damaged"),
        (json.dumps({"format": 1, "serving": None, "releases": {"medline-2025": 1}}), "damaged"),
        (json.dumps({"format": 1, "serving": "medline-2025", "releases": {}}), "no such folder"),
    ],
)
def test_a_damaged_list_of_releases_is_told(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / RELEASES_FILE).write_text(content)
    with pytest.raises(BioqaError, match=said):
        FolderShelf(tmp_path).serving()


def test_a_folder_that_was_left_half_dropped_is_no_release(tmp_path: Path) -> None:
    shelf = FolderShelf(tmp_path / "shelf")
    with shelf.lock():
        first, second = build(shelf, "medline-2024"), build(shelf, "medline-2025")
        shelf.serve(second, first)
        (tmp_path / "shelf" / first).rename(tmp_path / "shelf" / f".dropped-{first}")
        assert [release.name for release in shelf.releases()] == [second]
        shelf.drop(build(shelf, "medline-2023"))
    assert sorted(entry.name for entry in (tmp_path / "shelf").iterdir()) == sorted(
        [second, RELEASES_FILE, LOCK_FILE]
    )


def test_the_folder_to_open_is_the_one_serving(tmp_path: Path) -> None:
    assert current_folder(tmp_path / "plain") == tmp_path / "plain"
    folder = tmp_path / "shelf"
    shelf = FolderShelf(folder)
    with shelf.lock():
        first, second = build(shelf, "medline-2024"), build(shelf, "medline-2025")
        with pytest.raises(BioqaError, match=r"no release in .* is complete yet"):
            current_folder(folder)
        shelf.serve(first, None)
        current = CurrentFolder(folder)
        assert (current.folder, current.has_moved()) == (folder / first, False)
        shelf.serve(second, first)
        assert (current.folder, current.has_moved()) == (folder / first, True)
        assert current_folder(folder) == folder / second
