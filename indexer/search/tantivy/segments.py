"""Checking the files of tantivy's segments before tantivy maps them into memory.

Reading a mapped file beyond its end stops the whole process (SIGBUS), which no program can catch. Each file
ends with a footer: JSON with the CRC-32 of what comes before, the JSON's length and a constant. A truncated
file has none, so reading the footers is enough to recognise it.
"""

import json
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bioqa.system.errors import BioqaError
from bioqa.system.plain import require_plain

META = "meta.json"

_SUFFIXES = ("idx", "pos", "term", "store", "fast", "fieldnorm")
_END = struct.Struct("<II")
_MAGIC = 1337
_MAX_FOOTER_BYTES = 50_000
_CHUNK = 1 << 20


class _Footer(NamedTuple):
    size: int
    """Bytes of the whole file."""
    begin: int
    crc: int


Sizes = tuple[tuple[Path, int], ...]
"""Files, and their numbers of bytes."""


def check_footers(folder: Path) -> Sizes:
    """Raise BioqaError if a file of the index's segments is truncated. Takes about a millisecond.

    Returns the files' sizes, for ``check_sizes``."""
    footers = ((path, _footer(path)) for path in files(folder))
    return tuple((path, footer.size) for path, footer in footers if footer is not None)


def check_sizes(sizes: Sizes) -> None:
    """Raise BioqaError if a file has another size than when it was mapped. Takes some microseconds a file."""
    for path, size in sizes:
        try:
            size_now = os.stat(path).st_size  # noqa: PTH116 - half the time of Path.stat
        except FileNotFoundError:  # removed after a merge; what is mapped stays readable
            continue
        if size_now < size:
            raise BioqaError(
                describe_damage(path.parent, f"{path.name} was truncated to {size_now} bytes while in use")
            )


def check_checksums(folder: Path) -> int:
    """Read all files of the index's segments, and return their number.

    Raises BioqaError for the first one whose content is not what tantivy wrote."""
    number = 0
    for path in files(folder):
        footer = _footer(path)
        if footer is not None:
            number += 1
            if _crc(path, footer.begin) != footer.crc:
                raise BioqaError(describe_damage(folder, f"{path.name} has not the content that was written"))
    return number


def describe_damage(folder: Path, what: str) -> str:
    """Describe a damaged index, and what to do about it."""
    return (
        f"the index in {folder} is damaged: {what}; restore the folder from a copy, or load the files into a "
        "new folder"
    )


def files(folder: Path) -> Iterator[Path]:
    """Yield the files that the committed segments may have."""
    try:
        require_plain(folder / META)
        meta = json.loads((folder / META).read_bytes())
        for segment in meta["segments"]:
            name = segment["segment_id"].replace("-", "")
            yield from (folder / f"{name}.{suffix}" for suffix in _SUFFIXES)
            if deletes := segment["deletes"]:
                yield folder / f"{name}.{deletes['opstamp']}.del"
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BioqaError(f"the index in {folder} cannot be used: {META} is damaged ({error})") from error


def _footer(path: Path) -> _Footer | None:
    """Read a file's footer; None if there is no such file, which tantivy reports itself if it needs it: a
    merge may have removed it meanwhile."""
    try:
        require_plain(path)
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _END.size))
            end = file.read(_END.size)
            length, magic = _END.unpack(end) if len(end) == _END.size else (0, 0)
            begin = size - _END.size - length
            if magic != _MAGIC or length > _MAX_FOOTER_BYTES or begin < 0:
                raise BioqaError(
                    describe_damage(path.parent, f"{path.name} is truncated (it has {size} bytes)")
                )
            file.seek(begin)
            return _Footer(size, begin, int(json.loads(file.read(length))["crc"]))
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError) as error:
        raise BioqaError(describe_damage(path.parent, f"the end of {path.name} cannot be read")) from error


def _crc(path: Path, length: int) -> int:
    crc = 0
    with path.open("rb") as file:
        while length > 0 and (chunk := file.read(min(_CHUNK, length))):
            crc = zlib.crc32(chunk, crc)
            length -= len(chunk)
    return crc
