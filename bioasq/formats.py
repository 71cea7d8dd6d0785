"""Recognising packed files by their first bytes, to name them: bioqa reads plain files and gzip."""

from bioqa.bioasq.errors import BioqaError

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
