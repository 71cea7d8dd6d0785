"""Arrays come back from a file as they were, and no damaged or foreign file is taken for one."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from bioqa.system.arrayfile import HEADER_BYTES, ArrayFileError, check_arrays, open_arrays, write_arrays

ARRAYS = {
    "shorts": ("U16", [np.array([1, 2, 65_535]), np.array([], dtype=int), np.array([4])]),
    "longs": ("I64", [np.array([-(1 << 62), 7])]),
    "floats": ("F32", [np.array([0.5, -1.0])]),
    "nothing": ("U32", []),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "arrays.bin"
    with path.open("wb") as file:
        write_arrays(file, {"made of": "numbers"}, ARRAYS)
    return path


def test_what_is_written_is_read(path: Path) -> None:
    facts, arrays = open_arrays(path)
    assert facts == {"made of": "numbers"}
    assert {name: array.tolist() for name, array in arrays.items()} == {
        "shorts": [1, 2, 65_535, 4],
        "longs": [-(1 << 62), 7],
        "floats": [0.5, -1.0],
        "nothing": [],
    }
    assert {name: array.dtype.str for name, array in arrays.items()} == {
        "shorts": "<u2",
        "longs": "<i8",
        "floats": "<f4",
        "nothing": "<u4",
    }


def test_arrays_are_mapped_aligned_and_read_only(path: Path) -> None:
    _, arrays = open_arrays(path)
    assert all(array.flags.aligned and not array.flags.writeable for array in arrays.values())
    # What is open stays as it was when the file is replaced or deleted.
    path.unlink()
    assert arrays["longs"].tolist() == [-(1 << 62), 7]


def test_safetensors_reads_it_too(path: Path) -> None:
    arrays = open_arrays(path)[1]
    assert {name: array.tolist() for name, array in load_file(path).items()} == {
        name: array.tolist() for name, array in arrays.items()
    }


def test_it_reads_other_files_of_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "other.safetensors"
    save_file({"grid": np.arange(6, dtype=np.int8).reshape(2, 3)}, path)
    facts, arrays = open_arrays(path)
    assert (facts, arrays["grid"].tolist()) == ({}, [0, 1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:5],
        lambda content: content[:-8],
        lambda content: content[: HEADER_BYTES // 2],
        lambda content: content + bytes(8),
        lambda content: b"\x89PNG" + content[4:],
        lambda content: content.replace(b'"U16"', b'"U64"'),
        lambda content: content.replace(b'"U16"', b'"F16'),
        lambda content: content.replace(b"[0, 8]", b"[0, 9]"),
    ],
    ids=["empty", "five bytes", "cut off", "half a header", "longer", "another", "type", "JSON", "offsets"],
)
def test_damage(path: Path, damage: Callable[[bytes], bytes]) -> None:
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ArrayFileError, match=f"{path}: cannot be read: "):
        open_arrays(path)


def test_no_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ArrayFileError, match=f"{path}: cannot be read"):
            open_arrays(path)


def test_a_type_that_numpy_lacks(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"U16"', b'"BF16"').replace(b"  ", b" ", 1))
    with pytest.raises(ArrayFileError, match="cannot be read"):
        open_arrays(path)


def test_the_checksum_is_that_of_all_arrays(path: Path) -> None:
    check_arrays(path)
    whole = path.read_bytes()
    for at in range(HEADER_BYTES, len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        with pytest.raises(ArrayFileError, match="damaged"):
            check_arrays(path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ArrayFileError, match="is no plain file"):
        open_arrays(tmp_path / "pipe")
