"""Worker processes that parse: what they send, when, and with how much memory."""

import errno
import io
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bioqa.indexer.loading import parsing
from bioqa.system import processes
from tests.indexer.medline_xml import citation, write

MANY = 3 * parsing.EVENTS_PER_MESSAGE
"""Citations enough that some are written before the file's end is seen."""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return [write(tmp_path / "n1.xml", *(citation(n, f"First {n}.") for n in range(1, MANY + 1)))]


@pytest.mark.parametrize("broken", [False, True])
def test_a_whole_file_is_sent_once_its_end_was_seen(files: list[Path], broken: bool) -> None:
    if broken:
        files[0].write_text(files[0].read_text()[:-30])
    kinds = []
    for whole_files in (False, True):
        with parsing.ParserPool(files[:1], "", 1, whole_files) as pool:
            kinds.append([message for messages in pool.files() for message in messages])
    streamed, whole = kinds
    assert sum(isinstance(message, parsing.EncodedEvents) for message in streamed) >= 2
    assert whole == ([streamed[0], streamed[-1]] if broken else streamed)
    assert isinstance(whole[-1], parsing.Refusal if broken else parsing.Parsed)


def sent(path: Path) -> list[parsing.Message]:
    stream = io.BytesIO()
    parsing._send_whole(path, parsing.parse(path, ""), stream)
    stream.seek(0)
    messages = []
    with suppress(EOFError):
        while True:
            messages.append(processes.receive(stream))
    return messages


def test_a_disk_that_is_full_refuses_the_file(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", Full)
    monkeypatch.setattr(tempfile, "tempdir", "/some/folder")
    started, refused = sent(files[0])
    assert isinstance(started, parsing.Started)
    assert refused == parsing.Refusal(
        f"{files[0]}: cannot be kept in /some/folder: [Errno 28] No space left on device"
    )


def test_a_file_that_cannot_be_opened_is_refused_once(tmp_path: Path) -> None:
    (message,) = sent(tmp_path / "missing.xml")
    assert isinstance(message, parsing.Refusal)
    assert "missing.xml" in message.reason


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak")
@pytest.mark.parametrize("whole_files", [False, True])
def test_the_memory_of_parsing_does_not_grow_with_the_file(tmp_path: Path, whole_files: bool) -> None:
    peaks = [peak_of_parsing(tmp_path, citations, whole_files) for citations in (600, 6_000)]
    assert peaks[1] < 1.2 * peaks[0]


PARSE = """
import re, sys
from bioqa.indexer.loading.parsing import serve
serve()
# Not getrusage: its peak includes what the parent had when it forked.
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1], file=sys.stderr)
"""


def peak_of_parsing(folder: Path, citations: int, whole_files: bool) -> int:
    """In kB."""
    task = io.BytesIO()
    file = write(folder / "big.xml", *(citation(n, abstract="Words " * 400) for n in range(1, citations)))
    processes.send(task, ([file], "", whole_files))
    result = subprocess.run(
        [sys.executable, "-c", PARSE],
        input=task.getvalue(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).resolve().parents[3],
        check=True,
    )
    return int(result.stderr)
