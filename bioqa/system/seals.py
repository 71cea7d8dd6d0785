"""Files that end with a digest of what comes before, so that damage is noticed when they are opened.

The last 64 bytes are the seal: a magic, zero bytes, and SHA-256 of all other bytes of the file. Readers of
formats that say themselves where they end, such as SQLite's, do not mind it.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from bioqa.system.errors import BioqaError
from bioqa.system.plain import require_plain

MAGIC = b"bioqa seal 1\n"
SEAL_BYTES = 64
_CHUNK = 1 << 20


class Damaged(BioqaError):
    """A file has not the content that was written, or ends too early."""


class Sealing:
    """The digest of a file that is written piece by piece."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def update(self, content: bytes) -> None:
        self._digest.update(content)

    def seal(self) -> bytes:
        """What the file ends with."""
        digest = self._digest.digest()
        return MAGIC.ljust(SEAL_BYTES - len(digest), b"\0") + digest


def seal(content: bytes) -> bytes:
    """A file's content with its seal."""
    sealing = Sealing()
    sealing.update(content)
    return content + sealing.seal()


def check_seal(path: Path) -> None:
    """Read a sealed file. Raises Damaged unless it is as it was written, BioqaError if it cannot be read.

    A hundred megabytes take a tenth of a second."""
    try:
        require_plain(path)
        with path.open("rb") as file:
            length = os.fstat(file.fileno()).st_size - SEAL_BYTES
            sealing = Sealing()
            for chunk in _chunks(file, length):
                sealing.update(chunk)
            seal = file.read()
    except OSError as error:
        raise BioqaError(f"{path}: cannot be read: {error.strerror or error}") from error
    if length < 0 or not seal.startswith(MAGIC):
        raise Damaged(f"{path} is damaged: it has no digest at its end")
    if seal != sealing.seal():
        raise Damaged(f"{path} is damaged: it has not the content that was written")


def _chunks(file: BinaryIO, length: int) -> Iterator[bytes]:
    while length > 0 and (chunk := file.read(min(_CHUNK, length))):
        yield chunk
        length -= len(chunk)
