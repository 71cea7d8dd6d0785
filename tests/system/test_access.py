"""Owner, group, mode and access list of a file that is replaced."""

import errno
import os
import struct
from pathlib import Path

import pytest

from bioqa.system.access import ACL, keep_access

UNSET = 0xFFFFFFFF


def access_list(user: int) -> bytes:
    """The kernel's form (version 2): the owner reads and writes, that user reads, others nothing."""
    entries = ((0x01, 6, UNSET), (0x02, 4, user), (0x04, 0, UNSET), (0x10, 4, UNSET), (0x20, 0, UNSET))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *each) for each in entries)


def test_the_mode_is_kept(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.touch()
    old.chmod(0o640)
    with (tmp_path / "new").open("w") as new:
        keep_access(old, new.fileno())
    assert (tmp_path / "new").stat().st_mode & 0o7777 == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_owner_and_group_are_kept(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.touch()
    os.chown(old, 4321, 4322)
    with (tmp_path / "new").open("w") as new:
        keep_access(old, new.fileno())
    state = (tmp_path / "new").stat()
    assert (state.st_uid, state.st_gid) == (4321, 4322)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no access lists here")
def test_the_access_list_is_kept_and_none_is_added(tmp_path: Path) -> None:
    listed, plain = tmp_path / "listed", tmp_path / "plain"
    listed.touch()
    plain.touch()
    plain.chmod(0o600)
    try:
        os.setxattr(listed, ACL, access_list(4321))
    except OSError as error:
        if error.errno not in (errno.ENOTSUP, errno.EOPNOTSUPP):
            raise
        pytest.skip("this file system has no access lists")
    with (tmp_path / "new").open("w") as new:
        keep_access(listed, new.fileno())
        assert os.getxattr(new.fileno(), ACL) == access_list(4321)
        keep_access(plain, new.fileno())
        assert ACL not in os.listxattr(new.fileno())
        assert os.fstat(new.fileno()).st_mode & 0o777 == 0o600
