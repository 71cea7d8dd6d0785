"""MEDLINE files parsed by other processes, ahead of the one that writes the index.

Each process takes every n-th file and streams its records through a pipe; a thread here reads the pipe into
a bounded queue. So the processes run ahead by a bounded amount of memory, and one that dies is noticed by
the end of its pipe. Where nothing of a broken file may be written, a process keeps a file's messages in a
temporary file until it has seen the file's end.
"""

import hashlib
import os
import pickle
import queue
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.medline.events import Delete
from bioqa.indexer.medline.reader import MedlineError, MedlineFile
from bioqa.indexer.search.records import EncodedEvent, encode, pmid_number

EVENTS_PER_MESSAGE = 200
"""Changes a message; some 400 kB."""

MESSAGES_AHEAD = 128
"""Messages that a process may be ahead: some 50 MB, most of a MEDLINE file."""

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Started:
    """A file's first message."""

    md5: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class EncodedEvents:
    changes: list[EncodedEvent]
    """Records to upsert and PMIDs to delete, in file order."""
    position: int
    """Bytes of the file, as it lies on disk, that were read so far."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file's last message: it was read to its end."""

    skipped: Mapping[str, int]
    rejected: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Refused:
    """A file's last message: nothing of it may be kept."""

    reason: str


Message = Started | EncodedEvents | Parsed | Refused


class ParserPool:
    """Parses ``paths`` in ``workers`` processes; none is started if there are no paths.

    ``whole_files``: a file's batches come only once it was parsed to its end, so never before ``Refused``.
    """

    def __init__(self, paths: Sequence[Path], joiner: str, workers: int, whole_files: bool = False) -> None:
        workers = min(workers, len(paths))
        self._paths = paths
        self._parsers = [_Parser(paths[w::workers], joiner, whole_files) for w in range(workers)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for parser in self._parsers:
            parser.stop()

    def files(self) -> Iterator[Iterator[Message]]:
        """Each file's messages, in the order of the paths; to be read to their end before the next file's."""
        for number, path in enumerate(self._paths):
            yield _messages(self._parsers[number % len(self._parsers)], path)


def _messages(parser: "_Parser", path: Path) -> Iterator[Message]:
    """Ends after ``Parsed`` or ``Refused``. Raises ``BioqaError`` if the process died."""
    while True:
        message = parser.next(path)
        yield message
        if isinstance(message, Parsed | Refused):
            return


class _Parser:
    """A fresh interpreter, and not a process of multiprocessing's: a fork does not survive tantivy's threads,
    and "spawn" imports the program that was started, a web service maybe, once for each process."""

    def __init__(self, paths: Sequence[Path], joiner: str, whole_files: bool) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", "from bioqa.indexer.loading.parsing import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            start_new_session=True,  # control-C is the parent's to handle; this one ends with its pipe
        )
        self._queue: queue.Queue[bytes | None] = queue.Queue(MESSAGES_AHEAD)
        self._stopped = threading.Event()
        task = pickle.dumps((list(paths), joiner, whole_files))
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
    paths, joiner, whole_files = pickle.load(sys.stdin.buffer)  # noqa: S301 - the parent wrote it
    with suppress(BrokenPipeError), os.fdopen(os.dup(1), "wb") as stream:  # broken: the parent is gone
        os.dup2(2, 1)  # should a library print, it must not get into the frames
        for path in paths:
            messages = parse(path, joiner)
            if whole_files:
                _send_whole(path, messages, stream)
            else:
                for message in messages:
                    _write_frame(message, stream)


def _write_frame(message: Message, stream: IO[bytes]) -> None:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def _send_whole(path: Path, messages: Iterator[Message], stream: IO[bytes]) -> None:
    first = next(messages)
    _write_frame(first, stream)
    if isinstance(first, Refused):
        return
    try:
        spool, last = _spooled(messages)
    except OSError as error:
        _write_frame(Refused(f"{path}: cannot be kept in {tempfile.gettempdir()}: {error}"), stream)
        return
    with spool:
        if isinstance(last, Parsed):
            shutil.copyfileobj(spool, stream)
    _write_frame(last, stream)


def _spooled(messages: Iterator[Message]) -> tuple[IO[bytes], Message]:
    """The frames of all messages but the last, on disk; and the last. ``OSError`` if the disk is full."""
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        last: Message = Refused("")
        for message in messages:
            last = message
            if isinstance(message, EncodedEvents):
                _write_frame(message, spool)
        spool.seek(0)
    except BaseException:
        spool.close()
        raise
    return spool, last


def parse(path: Path, joiner: str) -> Iterator[Message]:
    """One file's messages."""
    try:
        yield Started(md5_of(path), path.stat().st_size)
        file = MedlineFile(path, joiner)
        events = iter(file)
        while some := list(islice(events, EVENTS_PER_MESSAGE)):
            changes = [pmid_number(e.pmid) if isinstance(e, Delete) else encode(e.document) for e in some]
            yield EncodedEvents(changes, file.position)
        yield Parsed(dict(file.skipped), dict(file.rejected))
    except (MedlineError, OSError) as error:
        yield Refused(str(error))


def md5_of(path: Path) -> str:
    """In hexadecimal digits. Raises ``OSError``."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "md5").hexdigest()
