"""Processes: children, the messages between them and this one (length-prefixed pickles), and what they hold.

A child is a fresh interpreter. A fork does not survive torch's and tantivy's threads, and "spawn" of
``multiprocessing`` would import the program that was started, perhaps a web service, once more.
"""

import ctypes
import gc
import os
import pickle
import resource
import select
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

GROWN_BYTES = 32_000_000
"""What a busy process may keep of freed memory."""

QUIET_S = 5.0
"""After so long without a message, a process gives back all that it can."""

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Child:
    """A process that was started, and both streams of its messages."""

    process: subprocess.Popen[bytes]
    stdin: IO[bytes]
    stdout: IO[bytes]


def start(serve: Callable[[], None]) -> Child:
    """Start a process that calls ``serve``, a function of a module, and can import what this one can."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", f"from {serve.__module__} import {serve.__name__} as run; run()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,  # Control-C is handled by the parent; the child ends with its pipe
    )
    assert process.stdin is not None
    assert process.stdout is not None
    return Child(process, process.stdin, process.stdout)


def keep_loaded() -> None:
    """Tell the garbage collector that what this process holds now stays as long as the process does.

    Otherwise it would look through all of it again and again, for 100 to 200 ms during which nothing else
    runs.
    """
    gc.collect()
    gc.freeze()


class Memory:
    """What this process holds, so that it gives back what it needs no more. The C library keeps much of what
    was freed, for a next time that may never come.
    """

    def __init__(self) -> None:
        self._usual = _resident_bytes()

    def give_back(self, grown_bytes: int = GROWN_BYTES) -> None:
        """Cheap if the process has not grown by so much since the last time."""
        if _resident_bytes() > self._usual + grown_bytes:
            with suppress(AttributeError):  # another C library
                ctypes.CDLL(None).malloc_trim(0)
            self._usual = _resident_bytes()

    def give_back_when_quiet(self, incoming: IO[bytes]) -> None:
        """Wait for a message. Nothing of it is buffered yet, as its sender has waited for the last answer."""
        if not select.select([incoming], [], [], QUIET_S)[0]:
            self.give_back(grown_bytes=0)


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


@contextmanager
def parent() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """In the child, the streams of messages from the parent and to it.

    Should a library read or print, it does not get between them. The block ends if the parent is gone.
    """
    # Outermost: closing tries once more to write what nobody took.
    with (
        suppress(BrokenPipeError),
        os.fdopen(os.dup(0), "rb") as incoming,
        os.fdopen(os.dup(1), "wb") as outgoing,
    ):
        with Path(os.devnull).open() as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        yield incoming, outgoing


def send(stream: IO[bytes], message: object) -> None:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Raises EOFError at the end, also if it comes in the middle of a message."""
    return unpack(receive_packed(stream))


def receive_packed(stream: IO[bytes]) -> bytes:
    """A message, for ``unpack``. Raises EOFError as ``receive`` does."""
    (length,) = _LENGTH.unpack(_exactly(_LENGTH.size, stream))
    return _exactly(length, stream)


def unpack(message: bytes) -> Any:
    return pickle.loads(message)  # noqa: S301  # this program wrote it


def _exactly(length: int, stream: IO[bytes]) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data
