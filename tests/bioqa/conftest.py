"""The bundled sample's index, as ``sample-index`` of the current folder."""

import os
from pathlib import Path

import pytest

import bioqa


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    bioqa.build_index([bioqa.sample().medline], folder / "sample-index", workers=1)
    return folder


@pytest.fixture(autouse=True)
def _in_that_folder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What examples write is written to a folder of the test's own."""
    (tmp_path / "sample-index").symlink_to(folder / "sample-index")
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith("BIOQA_"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def index(folder: Path) -> bioqa.Index:
    return bioqa.open_index(folder / "sample-index")
