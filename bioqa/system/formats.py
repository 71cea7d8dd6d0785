"""Unpacking gzip, and recognising other packed files by their first bytes, to name them."""

import zlib

from bioqa.system.errors import BioqaError

GZIP_MAGIC = b"\x1f\x8b"

_PACKED = {
    b"PK\x03\x04": "a zip file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ\x00": "an xz file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"7z\xbc\xaf\x27\x1c": "a 7z file",
    GZIP_MAGIC: "a gzip file within a gzip file",
}

HEAD_BYTES = max(map(len, _PACKED))
"""Bytes of a file that ``refuse_packed`` needs."""


def refuse_packed(head: bytes, name: str) -> None:
    """Raise BioqaError if the content, already unpacked if it was gzip, is of a packed file."""
    for magic, kind in _PACKED.items():
        if head.startswith(magic):
            raise BioqaError(f"{name}: is {kind}; unpack it first, or pack it with gzip once")


class TooLarge(BioqaError):
    """A packed file unpacks to more than is allowed."""


def unpack(raw: bytes, name: str, most: int) -> bytes:
    """Every member of a gzip file; zero bytes may follow, as tapes and object stores add them (RFC 1952).

    Raises TooLarge, after no more than ``most`` bytes, and BioqaError for a broken file.
    """
    content, rest = bytearray(), raw
    while rest:
        # Bounded, because a few kilobytes can unpack to gigabytes.
        unpacking = zlib.decompressobj(wbits=31)
        try:
            content += unpacking.decompress(rest, most + 1 - len(content))
        except zlib.error as error:
            raise BioqaError(f"{name}: broken gzip file: {error}") from error
        if len(content) > most:
            raise TooLarge(f"{name}: unpacks to more than {most} bytes")
        if not unpacking.eof:
            raise BioqaError(f"{name}: broken gzip file: it ends too early")
        rest = unpacking.unused_data.lstrip(b"\0")
    return bytes(content)
