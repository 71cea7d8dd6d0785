"""Child processes and their messages."""

import io
import os
import subprocess
import sys
from contextlib import suppress

import pytest

from bioqa.system import processes


def echo() -> None:
    with processes.parent() as (incoming, outgoing), suppress(EOFError):
        os.write(1, b"a library prints")
        assert sys.stdin.read() == ""
        while True:
            processes.send(outgoing, processes.receive(incoming))


def test_a_child_gets_messages_and_answers_them() -> None:
    child = processes.start(echo)
    for message in (None, {"a": [1, 2]}, "x" * 100_000):
        processes.send(child.stdin, message)
        assert processes.receive(child.stdout) == message
    child.stdin.close()
    with pytest.raises(EOFError):
        processes.receive(child.stdout)
    child.stdout.close()
    assert child.process.wait() == 0


def test_a_child_ends_when_nobody_reads_it() -> None:
    child = processes.start(echo)
    child.stdout.close()
    processes.send(child.stdin, "anybody?")
    assert child.process.wait() == 0
    child.stdin.close()


def test_the_end_within_a_message_is_an_end() -> None:
    stream = io.BytesIO()
    processes.send(stream, ["whole"])
    data = stream.getvalue()
    assert processes.receive(io.BytesIO(data)) == ["whole"]
    for end in range(len(data)):
        with pytest.raises(EOFError):
            processes.receive(io.BytesIO(data[:end]))


def test_memory_is_given_back_when_no_message_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    grown: list[int] = []

    class Watched(processes.Memory):
        def give_back(self, grown_bytes: int = processes.GROWN_BYTES) -> None:
            grown.append(grown_bytes)

    memory = Watched()
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as incoming, os.fdopen(writing, "wb") as outgoing:
        monkeypatch.setattr(processes, "QUIET_S", 60.0)
        processes.send(outgoing, "a task")
        memory.give_back_when_quiet(incoming)
        assert processes.receive(incoming) == "a task"
        assert grown == []
        monkeypatch.setattr(processes, "QUIET_S", 0.0)
        memory.give_back_when_quiet(incoming)
        assert grown == [0]


GIVES_BACK = """
from bioqa.system import processes
memory = processes.Memory()
before = processes._resident_bytes()
# Pieces of which one in a thousand is kept, so that the C library does not give back by itself.
pieces = [bytes(2000) for _ in range(20_000)]
kept = pieces[::1000]
grown = processes._resident_bytes() - before
del pieces
memory.give_back(0)
print(grown > 30_000_000, processes._resident_bytes() - before < grown / 2, len(kept))
"""


def test_freed_memory_is_given_back() -> None:
    """In a process that holds nothing else."""
    done = subprocess.run([sys.executable, "-c", GIVES_BACK], capture_output=True, text=True, check=True)
    assert done.stdout == "True True 20\n"
