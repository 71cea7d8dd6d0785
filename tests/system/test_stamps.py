from collections.abc import Callable
from pathlib import Path

import pytest

from bioqa.system.jsonfile import write_bytes
from bioqa.system.stamps import stamp_of


def replace(path: Path) -> None:
    write_bytes(path, path.read_bytes())


def append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


def cut_off(path: Path) -> None:
    with path.open("rb+") as file:
        file.truncate(1)


@pytest.mark.parametrize("change", [replace, append, cut_off, Path.unlink])
def test_a_change_shows(tmp_path: Path, change: Callable[[Path], None]) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"some")
    before = stamp_of(path)
    assert before is not None
    assert stamp_of(path) == before
    path.read_bytes()
    assert stamp_of(path) == before
    change(path)
    assert stamp_of(path) != before


def test_no_file_has_no_stamp(tmp_path: Path) -> None:
    assert stamp_of(tmp_path / "nowhere" / "file") is None
