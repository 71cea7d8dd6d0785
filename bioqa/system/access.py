"""Who may read a file: carried from an old file to the one that replaces it."""

import errno
import os
from contextlib import suppress
from pathlib import Path

ACL = "system.posix_acl_access"
_NO_ACL = {errno.ENODATA, errno.ENOTSUP, errno.EOPNOTSUPP}


def keep_access(old: Path, new: int) -> None:
    """Give the open file ``new`` the owner, group, mode and access list of ``old``.

    Raises OSError (EPERM) where this process may not. Replacing ``old`` then would lock others out, such as a
    service that runs as the old file's owner.
    """
    state = old.stat()
    own = os.fstat(new)
    if (state.st_uid, state.st_gid) != (own.st_uid, own.st_gid):
        os.fchown(new, state.st_uid, state.st_gid)
    os.fchmod(new, state.st_mode & 0o7777)  # after the owner, whose change clears set-id bits
    if not hasattr(os, "getxattr"):
        return
    try:
        acl = os.getxattr(old, ACL)
    except OSError as error:
        if error.errno not in _NO_ACL:
            raise
        # A default list of the folder may have given the new file one.
        with suppress(OSError):
            os.removexattr(new, ACL)
            os.fchmod(new, state.st_mode & 0o7777)
    else:
        os.setxattr(new, ACL, acl)
