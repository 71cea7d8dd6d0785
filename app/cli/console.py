"""Output of the command line: results to stdout; progress, counts and errors to stderr."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

PLAIN_EVERY_S = 10.0
"""Seconds between progress lines where there is no terminal."""

out = Console(highlight=False, markup=False, emoji=False)
err = Console(stderr=True, highlight=False, markup=False, emoji=False)

Report = Callable[[int, str], None]
"""Called with the amount done and a few words on it."""


def say(text: str) -> None:
    err.print(text, soft_wrap=True)


def fail(text: str) -> None:
    # A lone surrogate in a message must not make printing it fail.
    say("error: " + text.encode(errors="backslashreplace").decode())


def json_line(value: object) -> str:
    """Encode as one line for stdout, in ASCII unless stdout is UTF-8."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(value, ensure_ascii=not unicode, allow_nan=False) + "\n"


def print_json(value: object) -> None:
    sys.stdout.write(json_line(value))


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
