"""Digests at the end of files."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bioqa.system.errors import BioqaError
from bioqa.system.seals import SEAL_BYTES, Damaged, Sealing, check_seal, seal


@pytest.mark.parametrize("content", [b"", b"abc", b"\0" * 3_000_000])
def test_what_was_written_is_right(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(seal(content))
    assert file.read_bytes()[:-SEAL_BYTES] == content
    check_seal(file)


def test_pieces_have_the_seal_of_the_whole() -> None:
    sealing = Sealing()
    for piece in (b"ab", b"", b"c"):
        sealing.update(piece)
    assert b"abc" + sealing.seal() == seal(b"abc")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200), data=st.data())
def test_one_bit_is_noticed_wherever_it_is(tmp_path: Path, content: bytes, data: st.DataObject) -> None:
    whole = bytearray(seal(content))
    bit = data.draw(st.integers(0, 8 * len(whole) - 1))
    whole[bit // 8] ^= 1 << bit % 8
    (tmp_path / "file").write_bytes(whole)
    with pytest.raises(Damaged, match="file is damaged"):
        check_seal(tmp_path / "file")


@pytest.mark.parametrize("length", [0, 1, SEAL_BYTES - 1, SEAL_BYTES, SEAL_BYTES + 2])
def test_a_file_that_ends_too_early_is_damaged(tmp_path: Path, length: int) -> None:
    (tmp_path / "file").write_bytes(seal(b"abc")[:length])
    with pytest.raises(Damaged):
        check_seal(tmp_path / "file")


def test_more_at_the_end_is_damage_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(seal(b"abc") + b"d")
    with pytest.raises(Damaged):
        check_seal(tmp_path / "file")


def test_what_cannot_be_read_is_no_damage(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("nothing", "pipe"):
        with pytest.raises(BioqaError, match=name) as raised:
            check_seal(tmp_path / name)
        assert not isinstance(raised.value, Damaged)
