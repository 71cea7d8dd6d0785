"""The command as a whole: its help, its errors, its exit codes."""

import subprocess
import sys

import pytest

from tests.app.conftest import Run


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", " ", "--index", "."], "empty"),
        (["ask", "a\udcff", "--index", "."], "Unicode"),
        (["ask", "a", "--index", "nowhere"], "nowhere"),
        (["ask", "a", "--index", "."], "no bioqa index"),
        (["ask", "a"], "--index DIR"),
        (["ask", "a", "--index", ".", "--candidates", "0"], "candidates: must be greater than or equal to 1"),
        (["ask", "a", "--published-before", "soon"], "published_before: must be a day as YYYY-MM-DD"),
        (["batch", "missing", "-o", "x", "--index", "."], "missing"),
        (["serve"], "--index DIR"),
        (["index", "missing.xml", "--index", "x"], "missing.xml"),
        (["vocabulary", "missing.xml", "-o", "x"], "missing.xml"),
        (["experiment", "pappas-2021", "--train", "a"], "--train, --dev and --test"),
        (["nonsense"], "nonsense"),
    ],
)
def test_bad_input_is_told_on_stderr_with_exit_code_2(run: Run, arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err


def test_version_and_help(run: Run) -> None:
    assert run("--version").out.startswith("bioqa 0.")
    assert "demo" in run("--help").out
    assert run().code == 2


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = "import sys, bioqa.app.cli; sys.exit('torch' in sys.modules or 'fastapi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
