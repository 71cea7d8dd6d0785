"""What is written where: results to stdout, all else to stderr."""

import io
import json
import sys
import time

import pytest

from bioqa.app.cli.console import fail, json_line, print_json, progress


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
