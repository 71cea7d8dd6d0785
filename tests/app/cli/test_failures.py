"""Exceptions that no module of ours expected: one line each, without secrets."""

import errno
import socket
import ssl
from pathlib import Path

import pytest

from bioqa.app.cli import files
from bioqa.app.cli.failures import describe, trace
from bioqa.system.errors import BioqaError
from bioqa.system.secret import Secret
from tests.app.conftest import Run

FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (BioqaError("as it is"), "as it is"),
        (FULL, "No space left on device: free some space and run it again"),
        (
            PermissionError(errno.EACCES, "Permission denied", "a/b"),
            "a/b: Permission denied: choose another place",
        ),
        (
            OSError(errno.EXDEV, "Invalid cross-device link", "a", None, b"b"),
            "a and b: Invalid cross-device link",
        ),
        (
            socket.gaierror(-2, "Name or service not known"),
            "cannot be resolved (Name or service not known): check",
        ),
        (ssl.SSLError(1, "CERTIFICATE_VERIFY_FAILED"), "no trusted TLS connection"),
        (MemoryError(), "not enough memory"),
        (ModuleNotFoundError("No module named 'x'", name="x"), "the package x is not installed"),
        (UnicodeEncodeError("ascii", "\xe4", 0, 1, "ordinal not in range"), "rename the file, or use UTF-8"),
        (ValueError("two\nlines"), "unexpected ValueError: two lines; with BIOQA_LOG_LEVEL=debug"),
        (KeyError(), "unexpected KeyError: no reason is given"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_exception_is_one_line_that_says_what_to_do(error: Exception, line: str) -> None:
    described = describe(error)
    assert line in described
    assert "\n" not in described


def test_the_command_shows_it_without_a_traceback_and_ends_with_2(
    command: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = Secret("M4rker-of-a-secret").reveal()

    def read(path: Path) -> None:
        raise ValueError(f"Invalid header value b'ApiKey {secret}\\n'")

    monkeypatch.setattr(files, "read_bytes", read)
    result = command("evaluate", "a", "b", "--edition", 9)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: unexpected ValueError: Invalid header value b'ApiKey ***")
    assert result.err.count("\n") == 1


def test_the_traceback_that_debug_shows_has_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = Secret("M4rker-of-a-secret").reveal()
    error = ValueError(f"Invalid header value b'ApiKey {secret}\\n'")
    assert trace(error) is None
    monkeypatch.setenv("BIOQA_LOG_LEVEL", "debug")
    shown = trace(error)
    assert shown is not None
    assert "ValueError: Invalid header value b'ApiKey ***" in shown
    assert secret not in shown
    assert trace(BioqaError("expected")) is None
