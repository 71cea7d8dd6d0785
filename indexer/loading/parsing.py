"""Parsing MEDLINE files in worker processes, ahead of the process that writes the index.

Of n processes, each parses every n-th file and streams its records through a pipe; in this process, a thread
for each reads the pipe into a bounded queue. The queues bound the memory, and a process that dies is noticed
by the end of its pipe. If nothing of a broken file may be written, the process spools the messages of a file
to a temporary file until it has reached the file's end.
"""

import gc
import queue
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from bioqa.indexer.loading.ledger import md5_of
from bioqa.indexer.medline.events import Delete
from bioqa.indexer.medline.reader import MedlineError, MedlineFile
from bioqa.indexer.search.records import EncodedEvent, encode, pmid_number
from bioqa.system import processes
from bioqa.system.errors import BioqaError

EVENTS_PER_MESSAGE = 200
"""About 400 kB. Smaller messages cost more in pickling and switching threads, larger ones more memory."""

MESSAGES_AHEAD = 128
"""Messages queued from one process: about 50 MB, most of a MEDLINE file."""


@dataclass(frozen=True, slots=True)
class Started:
    """First message of a file."""

    md5: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class EncodedEvents:
    """Some of a file's events."""

    events: list[EncodedEvent]
    """In file order."""
    position: int
    """Bytes read so far, counted in the file on disk (before decompression)."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """Last message of a file that was read to its end."""

    skipped: Mapping[str, int]
    rejected: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Last message of a file of which nothing may be kept."""

    reason: str


Message = Started | EncodedEvents | Parsed | Refusal


class ParserPool:
    """Parses ``paths`` in up to ``workers`` processes; none is started if there are no paths.

    ``whole_files``: events of a file are sent only once it was parsed to its end, so never before
    ``Refusal``.
    """

    def __init__(self, paths: Sequence[Path], joiner: str, workers: int, whole_files: bool = False) -> None:
        workers = min(workers, len(paths))
        self._paths = paths
        self._parsers = [_ParsingProcess(paths[w::workers], joiner, whole_files) for w in range(workers)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for parser in self._parsers:
            parser.stop()

    def files(self) -> Iterator[Iterator[Message]]:
        """Yield each file's messages, in the order of the paths; exhaust them before the next file's."""
        for number, path in enumerate(self._paths):
            yield _messages(self._parsers[number % len(self._parsers)], path)


def _messages(parser: "_ParsingProcess", path: Path) -> Iterator[Message]:
    """Yield messages up to ``Parsed`` or ``Refusal``. Raises ``BioqaError`` if the process died."""
    while True:
        message = parser.next(path)
        yield message
        if isinstance(message, Parsed | Refusal):
            return


class _ParsingProcess:
    """A worker process."""

    def __init__(self, paths: Sequence[Path], joiner: str, whole_files: bool) -> None:
        self._child = processes.start(serve)
        self._queue: queue.Queue[bytes | None] = queue.Queue(MESSAGES_AHEAD)
        self._stopped = threading.Event()
        task = (list(paths), joiner, whole_files)
        self._thread = threading.Thread(target=self._converse, args=(task,), daemon=True)
        self._thread.start()

    def next(self, path: Path) -> Message:
        packed = self._queue.get()
        if packed is None:
            raise BioqaError(
                f"the process that parsed {path} ended with code {self._child.process.wait()}; "
                "run it again to resume (with fewer workers if memory was short)"
            )
        message: Message = processes.unpack(packed)
        return message

    def stop(self) -> None:
        self._stopped.set()
        self._child.process.kill()
        self._child.process.wait()
        while self._thread.is_alive():
            with suppress(queue.Empty):  # the thread may be waiting for room in the queue
                self._queue.get_nowait()
            self._thread.join(0.01)

    def _converse(self, task: object) -> None:
        with suppress(BrokenPipeError), self._child.stdin as stream:
            processes.send(stream, task)
        with suppress(EOFError), self._child.stdout as stream:
            while not self._stopped.is_set():
                # Unpacked when it is wanted: objects would take more memory.
                self._queue.put(processes.receive_packed(stream))
        self._queue.put(None)


def serve() -> None:
    """Run a worker process: its task comes from the parent, messages go to it."""
    with processes.parent() as (incoming, outgoing):
        paths, joiner, whole_files = processes.receive(incoming)
        # What records are made of has no cycles. Looking for them took a tenth of the time.
        processes.keep_loaded()
        gc.set_threshold(100_000)
        for path in paths:
            messages = parse(path, joiner)
            if whole_files:
                _send_whole(path, messages, outgoing)
            else:
                for message in messages:
                    processes.send(outgoing, message)


def _send_whole(path: Path, messages: Iterator[Message], stream: IO[bytes]) -> None:
    first = next(messages)
    processes.send(stream, first)
    if isinstance(first, Refusal):
        return
    try:
        spool, last = _spool(messages)
    except OSError as error:
        processes.send(stream, Refusal(f"{path}: cannot be kept in {tempfile.gettempdir()}: {error}"))
        return
    with spool:
        if isinstance(last, Parsed):
            shutil.copyfileobj(spool, stream)
    processes.send(stream, last)


def _spool(messages: Iterator[Message]) -> tuple[IO[bytes], Message]:
    """Send all messages except the last to a file on disk. Raises ``OSError`` if the disk is full."""
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        last: Message = Refusal("")
        for message in messages:
            last = message
            if isinstance(message, EncodedEvents):
                processes.send(spool, message)
        spool.seek(0)
    except BaseException:
        spool.close()
        raise
    return spool, last


def parse(path: Path, joiner: str) -> Iterator[Message]:
    """Yield one file's messages."""
    try:
        yield Started(md5_of(path), path.stat().st_size)
        file = MedlineFile(path, joiner)
        events = iter(file)
        while chunk := list(islice(events, EVENTS_PER_MESSAGE)):
            encoded = [pmid_number(e.pmid) if isinstance(e, Delete) else encode(e.document) for e in chunk]
            yield EncodedEvents(encoded, file.position)
        yield Parsed(dict(file.skipped), dict(file.rejected))
    except (MedlineError, OSError) as error:
        yield Refusal(str(error))
