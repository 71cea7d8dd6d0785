"""Arrays in one file of safetensors, mapped into memory: processes share them, and only what is used is read.

safetensors itself writes only arrays that are all in memory. The content's checksum is compared by
``check_arrays`` alone, which reads all of it: whoever stores what must not be wrong puts checksums beside it.
"""

import json
import mmap
import struct
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from bioqa.system.errors import BioqaError
from bioqa.system.plain import require_plain

CHECKSUM = "crc32"
"""The fact that holds the content's checksum, in hexadecimal."""

_CHUNK = 1 << 20

HEADER_BYTES = 4096
"""The beginning of a file written here: the header's length, and the header, filled up with spaces."""

Array = npt.NDArray[Any]


class ArrayFileError(BioqaError):
    """A file of arrays is damaged, cut off, or something else."""


def write_arrays(
    file: BinaryIO, facts: Mapping[str, str], arrays: Mapping[str, tuple[str, Iterable[Array]]]
) -> None:
    """Write arrays, each given as its type (such as "U16" or "F32") and its content in pieces.

    Pieces are written as they come, in order, so that no array need be in memory. If an array's bytes are no
    multiple of eight, the next is not aligned, and numpy copies it whenever it computes with it. ``facts``
    are the file's metadata; with the table of arrays they take at most 4 kB.
    """
    file.write(bytes(HEADER_BYTES))
    table: dict[str, Any] = {}
    checksum = 0
    for name, (kind, pieces) in arrays.items():
        begin = file.tell() - HEADER_BYTES
        for piece in pieces:
            content = piece.astype(_dtype(kind)).tobytes()
            checksum = zlib.crc32(content, checksum)
            file.write(content)
        end = file.tell() - HEADER_BYTES
        shape = [(end - begin) // _dtype(kind).itemsize]
        table[name] = {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}
    table["__metadata__"] = {**facts, CHECKSUM: f"{checksum:08x}"}
    header = json.dumps(table).encode().ljust(HEADER_BYTES - 8)
    file.seek(0)
    file.write(struct.pack("<Q", len(header)) + header)


def open_arrays(path: Path) -> tuple[dict[str, str], dict[str, Array]]:
    """Map a file; returns its facts and its arrays, flat and read-only. Raises ArrayFileError."""
    facts, arrays = _open(path)
    facts.pop(CHECKSUM, None)
    return facts, arrays


def _open(path: Path) -> tuple[dict[str, str], dict[str, Array]]:
    try:
        require_plain(path)
        # It refuses tables that contradict themselves or the file's length: reading what is mapped, but not
        # in the file, would end the process.
        with safe_open(path, "numpy") as checked:
            facts = checked.metadata() or {}
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        start = 8 + struct.unpack_from("<Q", mapped)[0]
        table = json.loads(mapped[8:start])
        arrays = {name: _array(mapped, start, table[name]) for name in table.keys() - {"__metadata__"}}
    except (OSError, SafetensorError, ValueError, BioqaError) as error:
        raise ArrayFileError(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from error
    return facts, arrays


def check_arrays(path: Path) -> None:
    """Read all of a file. Raises ArrayFileError unless its content is what was written."""
    facts, _ = _open(path)
    checksum = 0
    with path.open("rb") as file:
        file.seek(HEADER_BYTES)
        while chunk := file.read(_CHUNK):
            checksum = zlib.crc32(chunk, checksum)
    if facts.get(CHECKSUM) != f"{checksum:08x}":
        raise ArrayFileError(f"{path}: damaged: it has not the content that was written; make it anew")


def _array(mapped: mmap.mmap, start: int, entry: Mapping[str, Any]) -> Array:
    begin, end = entry["data_offsets"]
    dtype = _dtype(entry["dtype"])
    return np.frombuffer(mapped, dtype, (end - begin) // dtype.itemsize, start + begin)


def _dtype(kind: str) -> np.dtype[Any]:
    return np.dtype(f"<{kind[0].lower()}{int(kind[1:]) // 8}")
