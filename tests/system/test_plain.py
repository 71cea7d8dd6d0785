"""Which files are plain."""

import os
from pathlib import Path

import pytest

from bioqa.system.errors import BioqaError
from bioqa.system.plain import require_plain


def test_a_file_and_a_link_to_one_are_plain(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"abc")
    link.symlink_to(file)
    assert require_plain(file).st_size == require_plain(link).st_size == 3


def test_pipes_and_folders_are_named(tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    for path in (pipe, folder, Path("/dev/null")):
        with pytest.raises(BioqaError, match=f"{path} is no plain file"):
            require_plain(path)


def test_nothing_is_the_callers_to_judge(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        require_plain(tmp_path / "nothing")
