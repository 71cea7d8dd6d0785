"""Exceptions of other libraries that reach the command line, each as one line that says what to do."""

import errno
import os
import socket
import ssl
import traceback

from bioqa.app.environment import PREFIX
from bioqa.system.errors import BioqaError
from bioqa.system.secret import scrub

DEBUG = PREFIX + "LOG_LEVEL"

_ADVICE = {
    errno.ENOSPC: "free some space and run it again",
    errno.EDQUOT: "free some space and run it again",
    errno.EACCES: "choose another place, or change who may use this one",
    errno.EPERM: "choose another place, or change who may use this one",
    errno.EROFS: "choose a place that can be written",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "close other programs",
    errno.ENOMEM: "close other programs, or give this one more memory",
}


def describe(error: Exception) -> str:
    """What went wrong, and what to do about it, on one line and without any secret."""
    text = str(error) if isinstance(error, BioqaError) else _foreign(error)
    return scrub(text)


def trace(error: Exception) -> str | None:
    """The traceback, where the log level asks for it: for a report of a fault."""
    if isinstance(error, BioqaError) or os.environ.get(DEBUG, "").lower() != "debug":
        return None
    return scrub("".join(traceback.format_exception(error)))


def _foreign(error: Exception) -> str:
    reason = " ".join(str(error).split()) or "no reason is given"
    match error:
        case socket.gaierror():
            return f"a host's name cannot be resolved ({error.strerror or reason}): check the address and DNS"
        case ssl.SSLError():
            return f"no trusted TLS connection ({reason}): check the certificates and the clock"
        case OSError():
            return _system(error, reason)
        case MemoryError():
            return "there is not enough memory: close other programs, or give this one more"
        case ModuleNotFoundError():
            return f"the package {error.name} is not installed: docs/install.md names those of each extra"
        case UnicodeError():
            return f"a name or text cannot be encoded or decoded ({reason}): rename the file, or use UTF-8"
    return (
        f"unexpected {type(error).__name__}: {reason}; "
        f"with {DEBUG}=debug the same command prints a traceback, for a report"
    )


def _system(error: OSError, reason: str) -> str:
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
    where = f"{' and '.join(names)}: " if names else ""
    advice = _ADVICE.get(error.errno or 0)
    return f"{where}{error.strerror or reason}" + (f": {advice}" if advice else "")
