"""Output of the command line: results to stdout; progress, counts and errors to stderr.

All text goes through here, as it may be other people's: control characters in it could change a terminal's
title and colours, hide lines, or turn their order round. They are shown as escapes.
"""

import errno
import io
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from bioqa.system.errors import BioqaError

PLAIN_EVERY_S = 10.0
"""Seconds between progress lines where there is no terminal."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Control characters except tab and newline, Unicode's ends of lines, and what turns the direction round."""


def visible(text: str) -> str:
    """The text with its control characters as escapes, such as \\x1b."""
    return _CONTROL.sub(lambda match: _escape(match[0]), text)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


class PlainConsole(Console):
    """A console that adds styles of its own, and prints all else as ``visible`` text."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*map(_visible_object, objects), **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **options)


def _visible_object(printed: Any) -> Any:
    if isinstance(printed, Text) and _CONTROL.search(printed.plain):
        return Text(visible(printed.plain), printed.style)
    return visible(printed) if isinstance(printed, str) else printed


out = PlainConsole(highlight=False, markup=False, emoji=False)
err = PlainConsole(stderr=True, highlight=False, markup=False, emoji=False)

Report = Callable[[int, str], None]
"""Called with the amount done and a few words on it."""


class CannotPrint(BioqaError):
    """Standard output does not take the result."""


class NobodyReads(CannotPrint):
    """The program that read standard output has ended, as `head` does when it has enough."""


class Closed(io.StringIO):
    """Stands for a standard output that was closed before the start."""

    def write(self, text: str) -> int:
        raise BrokenPipeError(errno.EPIPE, "it is closed")


class Output:
    """Standard output, whose failures are CannotPrint: nobody takes them for those of a file of the work."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._failure: CannotPrint | None = None

    def write(self, text: str) -> int:
        if text == "":  # with which typer tries what a stream takes
            return 0
        with self._report_faults():
            return self._stream.write(text)

    def flush(self) -> None:
        with self._report_faults():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @contextmanager
    def _report_faults(self) -> Iterator[None]:
        # Once more at the end, where a library ignored the first failure.
        if self._failure is not None:
            raise self._failure
        try:
            yield
        except OSError as error:
            self._discard()
            gone = error.errno == errno.EPIPE
            kind, reason = (NobodyReads if gone else CannotPrint), error.strerror or error
            self._failure = kind(f"cannot write the result: {reason}")
            raise self._failure from error

    def _discard(self) -> None:
        """Let what is still in the buffer go nowhere: Python would fail at its end by writing it again."""
        with suppress(io.UnsupportedOperation):  # a test's stream has no descriptor
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


def echo(text: str) -> None:
    """Print a result to stdout."""
    typer.echo(visible(text))


def say(text: str) -> None:
    # The work does not end because its progress cannot be shown.
    with suppress(OSError):
        err.print(text, soft_wrap=True)


def fail(text: str) -> None:
    # A lone surrogate in a message must not make printing it fail.
    say("error: " + text.encode(errors="backslashreplace").decode())


def json_line(value: object) -> str:
    """Encode as one line for stdout, in ASCII unless stdout is UTF-8."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    line = json.dumps(value, ensure_ascii=not unicode, allow_nan=False)
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", line) + "\n"


def print_json(value: object) -> None:
    sys.stdout.write(json_line(value))


def print_file(text: str) -> None:
    """Write what is a file for other programs: in UTF-8, whatever the terminal's encoding is."""
    with suppress(AttributeError):  # a stream that was replaced has no encoding to change
        cast(io.TextIOWrapper, sys.stdout).reconfigure(encoding="utf-8", newline="")
    sys.stdout.write(visible(text.replace("\r\n", "\n")) if sys.stdout.isatty() else text)


@contextmanager
def progress(what: str, total: int) -> Iterator[Report]:
    """Show progress: a bar on a terminal, lines elsewhere."""
    if not err.is_terminal:
        yield _Lines(what, total).report
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[words]}"),
    )
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(what, total=total, words="")
        yield lambda done, words: bar.update(task, completed=done, words=words)


class _Lines:
    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._said = time.monotonic()

    def report(self, done: int, words: str) -> None:
        now = time.monotonic()
        if done < self._total and now - self._said < PLAIN_EVERY_S:
            return
        self._said = now
        share = 100 * done // self._total if self._total else 100
        say(f"{self._what}: {share}% {words}".rstrip())
