"""Child processes and their messages."""

import io
import os
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
