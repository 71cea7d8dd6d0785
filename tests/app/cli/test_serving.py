"""``bioqa serve`` where it cannot serve."""

import socket
from pathlib import Path

import pytest

from bioqa.app.cli.serving import log_environment
from tests.app.conftest import Run


def test_a_port_that_is_taken_is_an_error_and_nothing_is_logged(command: Run, index_folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = command("serve", "--index", index_folder, "--port", port)
    assert (result.code, result.out) == (2, "")
    (line,) = result.err.splitlines()
    assert line.startswith(f"error: cannot listen on 127.0.0.1:{port}: another program listens there: ")


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host"])
def test_so_is_a_host_that_is_none_of_ours(command: Run, index_folder: Path, host: str) -> None:
    result = command("serve", "--index", index_folder, "--host", host, "--port", "0")
    assert result.code == 2
    assert result.err.startswith(f"error: cannot listen on {host}:0: ")


def test_what_is_odd_in_the_environment_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("BIOQA_CANDIDATE", "1")
    monkeypatch.setenv("BIOQA_PORT", "tcp://10.96.0.12:8000")
    caplog.set_level("DEBUG")
    log_environment()
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "BIOQA_CANDIDATE is no setting: is BIOQA_CANDIDATES meant?"),
        ("DEBUG", "ignored, as Kubernetes sets them for a service: BIOQA_PORT"),
    ]
