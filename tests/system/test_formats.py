"""Packed files."""

import gzip

import pytest

from bioqa.system.errors import BioqaError
from bioqa.system.formats import TooLarge, unpack


@pytest.mark.parametrize("most", [0, 9, 10])
def test_a_gzip_file_is_unpacked_no_further_than_allowed(most: int) -> None:
    raw = gzip.compress(b"12345") + gzip.compress(b"67890") + b"\0" * 9
    if most < 10:
        with pytest.raises(TooLarge, match=f"f: unpacks to more than {most} bytes"):
            unpack(raw, "f", most)
    else:
        assert unpack(raw, "f", most) == b"1234567890"


@pytest.mark.parametrize(
    "raw",
    [gzip.compress(b"{}", mtime=0)[:-4], gzip.compress(b"{}", mtime=0) + b"more", b"\x1f\x8bnothing"],
    ids=["cut", "followed", "nothing"],
)
def test_broken_gzip_is_said_to_be_broken(raw: bytes) -> None:
    with pytest.raises(BioqaError, match="f: broken gzip file"):
        unpack(raw, "f", 1000)
