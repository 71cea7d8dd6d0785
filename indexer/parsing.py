"""MEDLINE files parsed by other processes, ahead of the one that writes the index.

Each process takes every n-th file and streams its records through a pipe; a thread here reads the pipe into
a bounded queue. So the processes run ahead by a bounded amount of memory, and one that dies is noticed by
the end of its pipe.
"""

import hashlib
import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from bioasq.errors import BioqaError
from indexer.events import Delete
from indexer.medline import MedlineError, MedlineFile
from indexer.search.records import Record, encode, pmid_number

BATCH = 200
"""Changes a message; some 400 kB."""

AHEAD = 128
"""Messages that a process may be ahead: some 50 MB, most of a MEDLINE file."""

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Started:
    """A file's first message."""

    md5: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Known:
    """Instead of a file's records: it is in the index already."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file's last message: it was read to its end."""

    skipped: Mapping[str, int]
    rejected: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Refused:
    """A file's last message: nothing of it may be kept."""

    reason: str


Changes = list[Record | int]
"""Records to upsert and PMIDs to delete, in file order."""

Message = Started | Changes | Known | Parsed | Refused


class ParserPool:
    """Parses ``paths`` in ``workers`` processes. Ask for each file's messages once, in order."""

    def __init__(self, paths: Sequence[Path], joiner: str, known: set[str], workers: int) -> None:
        workers = max(1, min(workers, len(paths)))
        self._paths = paths
        self._parsers = [_Parser(paths[w::workers], joiner, known) for w in range(workers)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for parser in self._parsers:
            parser.stop()

    def messages(self, number: int) -> Iterator[Message]:
        """Ends after ``Known``, ``Parsed`` or ``Refused``. Raises ``BioqaError`` if the process died."""
        parser = self._parsers[number % len(self._parsers)]
        while True:
            message = parser.next(self._paths[number])
            yield message
            if isinstance(message, Known | Parsed | Refused):
                return


class _Parser:
    """A fresh interpreter, and not a process of multiprocessing's: a fork does not survive tantivy's threads,
    and "spawn" imports the program that was started, a web service maybe, once for each process."""

    def __init__(self, paths: Sequence[Path], joiner: str, known: set[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", "from indexer.parsing import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            start_new_session=True,  # control-C is the parent's to handle; this one ends with its pipe
        )
        self._queue: queue.Queue[bytes | None] = queue.Queue(AHEAD)
        self._stopped = threading.Event()
        task = pickle.dumps((list(paths), joiner, known))
        self._thread = threading.Thread(target=self._converse, args=(task,), daemon=True)
        self._thread.start()

    def next(self, path: Path) -> Message:
        data = self._queue.get()
        if data is None:
            raise BioqaError(
                f"the process that parsed {path} ended with code {self._process.wait()}; "
                "run it again to go on (with fewer workers if memory was short)"
            )
        message: Message = pickle.loads(data)  # noqa: S301 - our own process wrote it
        return message

    def stop(self) -> None:
        self._stopped.set()
        self._process.kill()
        self._process.wait()
        while self._thread.is_alive():
            with suppress(queue.Empty):  # makes room, should the thread wait for it
                self._queue.get_nowait()
            self._thread.join(0.01)

    def _converse(self, task: bytes) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError), self._process.stdin as stream:
            stream.write(task)
        data: bytes | None = b""
        with self._process.stdout as stream:
            while data is not None and not self._stopped.is_set():
                data = _read_frame(stream)
                self._queue.put(data)


def _read_frame(stream: IO[bytes]) -> bytes | None:
    """None at the end, also if it comes in the middle of a frame."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return data if len(data) == length else None


def serve() -> None:
    """What a parsing process runs: its task comes by standard input, messages go to standard output."""
    paths, joiner, known = pickle.load(sys.stdin.buffer)  # noqa: S301 - the parent wrote it
    with suppress(BrokenPipeError), os.fdopen(os.dup(1), "wb") as stream:  # broken: the parent is gone
        os.dup2(2, 1)  # should a library print, it must not get into the frames
        for path in paths:
            for message in parse(path, joiner, known):
                data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
                stream.write(_LENGTH.pack(len(data)) + data)
                stream.flush()


def parse(path: Path, joiner: str, known: set[str]) -> Iterator[Message]:
    """One file's messages, unless its md5 is known."""
    try:
        with path.open("rb") as stream:
            md5 = hashlib.file_digest(stream, "md5").hexdigest()
        yield Started(md5, path.stat().st_size)
        if md5 in known:
            yield Known()
            return
        file = MedlineFile(path, joiner)
        events = iter(file)
        while events_batch := list(islice(events, BATCH)):
            yield [
                pmid_number(event.pmid) if isinstance(event, Delete) else encode(event.document)
                for event in events_batch
            ]
        yield Parsed(dict(file.skipped), dict(file.rejected))
    except (MedlineError, OSError) as error:
        yield Refused(str(error))
