"""What is written where: results to stdout, all else to stderr."""

import errno
import io
import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from bioqa.app.cli import console
from bioqa.app.cli.console import (
    CannotPrint,
    NobodyReads,
    Output,
    echo,
    fail,
    json_line,
    out,
    print_file,
    print_json,
    progress,
    say,
)


def test_errors_go_to_stderr_whatever_they_hold(capsys: pytest.CaptureFixture[str]) -> None:
    fail("no \ud800 [bold]file[/bold] \u00e9")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "error: no \\ud800 [bold]file[/bold] \u00e9\n")


def test_json_is_a_line_of_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": "\u03b1\nb"})
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {"a": "\u03b1\nb"}
    assert (shown.out.count("\n"), shown.err) == (1, "")
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_json(float("nan"))


@pytest.mark.parametrize(("encoding", "line"), [("utf-8", '"\u03b1"\n'), ("latin-1", '"\\u03b1"\n')])
def test_json_suits_the_terminal(monkeypatch: pytest.MonkeyPatch, encoding: str, line: str) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    assert json_line("\u03b1") == line


def test_without_a_terminal_progress_is_a_line_now_and_then_and_one_at_the_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with progress("loading", 40) as report:
        for done in range(1, 41):
            now[0] += 0.625
            report(done, f"{done} files")
    assert capsys.readouterr().err.splitlines() == [
        "loading: 40% 16 files",
        "loading: 80% 32 files",
        "loading: 100% 40 files",
    ]


def test_nothing_to_do_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("loading", 0) as report:
        report(0, "")
    assert capsys.readouterr().err == "loading: 100%\n"


class Failing(io.StringIO):
    """A stream on a full disk, or one that nobody reads."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        raise self.error


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device"),
            CannotPrint,
            "cannot write the result: No space left",
        ),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), NobodyReads, "cannot write the result: Broken pipe"),
    ],
)
def test_a_result_that_cannot_be_written_is_an_error_of_its_own(
    error: OSError, kind: type[Exception], said: str
) -> None:
    output = Output(Failing(error))
    with pytest.raises(kind, match=said):
        output.write("a")
    # Also where a library ignored it, what was lost is reported at the end.
    with pytest.raises(kind, match=said):
        output.flush()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_what_a_full_disk_did_not_take_is_forgotten() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123
        output = Output(full)
        output.write("a")
        with pytest.raises(CannotPrint, match="No space left on device"):
            output.flush()
        full.flush()  # as Python does at its end


def test_progress_that_cannot_be_shown_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Failing(OSError(errno.ENOSPC, "No space left on device")))
    say("loading: 40%")
    fail("no file")


FOREIGN = "\x1b]0;owned\x07\x1b[31mred\x9b32m \u202eturned\u2066 \u2028 \r \x00 \x7f"
ESCAPED = "\\x1b]0;owned\\x07\\x1b[31mred\\x9b32m \\u202eturned\\u2066 \\u2028 \\x0d \\x00 \\x7f"


@pytest.mark.parametrize(
    "show",
    [
        echo,
        lambda text: out.print(text, soft_wrap=True),
        say,
        fail,
    ],
)
def test_control_characters_are_shown_as_escapes(
    show: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    show(f"a title: {FOREIGN}\n\tand é, \u200f")
    shown = "".join(capsys.readouterr()).expandtabs()
    assert shown.endswith(f"a title: {ESCAPED}\n        and é, \u200f\n")


def test_styled_text_is_escaped_too(capsys: pytest.CaptureFixture[str]) -> None:
    out.print(Text(FOREIGN, style="red"), soft_wrap=True)
    # rich leaves out bells and carriage returns.
    assert capsys.readouterr().out == ESCAPED.replace("\\x07", "").replace("\\x0d", "") + "\n"


def test_the_cells_of_a_table_are_escaped_too(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table()
    table.add_column("\x1b[31mname")
    table.add_row("\x1b[31mvalue")
    out.print(table)
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert shown.count("\\x1b[31m") == 2


def test_json_with_control_characters_has_the_same_value(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({FOREIGN: FOREIGN})
    shown = capsys.readouterr().out
    assert json.loads(shown) == {FOREIGN: FOREIGN}
    assert not {*FOREIGN} & {*"\x1b\x9b\u202e\u2066\u2028"} & {*shown}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_file_is_exact_but_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, shown in ((io.StringIO(), "\x1b\r\n"), (Terminal(), "\\x1b\n")):
        monkeypatch.setattr(sys, "stdout", stream)
        print_file("\x1b\r\n")
        assert stream.getvalue() == shown


def test_all_commands_print_by_way_of_the_console() -> None:
    for file in Path(console.__file__).parent.glob("*.py"):
        if file.name != "console.py":
            text = file.read_text("utf-8")
            assert not re.search(
                r"\btyper\.s?echo|\bclick\.echo|(?<![.\w])print\(|sys\.std(out|err)\.write", text
            ), file
