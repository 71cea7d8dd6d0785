"""``bioqa mcp``, as assistants start it."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from importlib import metadata
from pathlib import Path
from types import ModuleType

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI
from mcp.client.stdio import StdioServerParameters

from bioqa.app.cli.assistants import INSTALL
from tests.app.conftest import Run
from tests.app.mcp.calls import answered
from tests.app.requests import BODY

COMMAND = (sys.executable, "-c", "from bioqa.app.cli import main; main()", "mcp")


ROOT = Path(__file__).parents[3]


def test_over_pipes_as_assistants_start_it(index_folder: Path) -> None:
    parameters = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "--index", str(index_folder)], cwd=ROOT, env=dict(os.environ)
    )
    found = answered(parameters, "search", question=BODY, max_snippets=1)
    assert found["ranker"] == "soft"
    assert found["index"] == "sample"
    assert found["snippets"][0]["text"].startswith("The metformin group improved more than placebo")


def test_nothing_but_the_protocol_is_on_stdout_and_the_end_of_stdin_ends_it() -> None:
    """Also where something is wrong."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    asked = {"name": "search", "arguments": {"question": "Zebra?"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked},
    ]
    command = [*COMMAND, "--url", "http://127.0.0.1:1"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        replies = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait(60) == 0
    assert [reply["id"] for reply in replies] == [1, 2]
    assert replies[0]["result"]["serverInfo"]["name"] == "bioqa"
    assert replies[1]["result"]["isError"] is True
    assert "cannot be reached" in replies[1]["result"]["content"][0]["text"]


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def test_over_http_before_a_running_service(application: FastAPI) -> None:
    ports = free_port(), free_port()
    config = uvicorn.Config(application, port=ports[0], log_config=None, lifespan="off")
    serving = uvicorn.Server(config)
    thread = threading.Thread(target=serving.run)
    thread.start()
    arguments = ["--http", "--port", str(ports[1]), "--url", f"http://127.0.0.1:{ports[0]}"]
    with subprocess.Popen([*COMMAND, *arguments], cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(ports[1])
            found = answered(f"http://127.0.0.1:{ports[1]}/mcp", "search", question=BODY)
            foreign = httpx2.post(f"http://127.0.0.1:{ports[1]}/mcp", json={}, headers={"Host": "evil.test"})
        finally:
            process.terminate()
            serving.should_exit = True
            thread.join(30)
    assert found["ranker"] == "lexical"
    assert foreign.status_code == 421  # a page that got itself a name for this address


def wait_for(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"nothing listens at port {port}")


def test_without_an_index_or_the_package_the_command_says_so(
    command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = command("mcp")
    assert (result.code, "no index is named" in result.err) == (2, True)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.delitem(sys.modules, "bioqa.app.mcp.server", raising=False)
    monkeypatch.setattr(metadata, "version", lambda name: no_version(name))
    result = command("mcp", "--index", "x")
    assert (result.code, result.out) == (2, "")
    assert f"needs packages that are not installed: {INSTALL}" in result.err


def no_version(name: str) -> str:
    raise metadata.PackageNotFoundError(name)


@pytest.mark.parametrize("lacking", [{"mcp.server": ModuleType("mcp.server")}, {"mcp_types": None}])
def test_another_major_version_of_the_package_is_named(
    command: Run, monkeypatch: pytest.MonkeyPatch, lacking: dict[str, ModuleType | None]
) -> None:
    for name, module in lacking.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "bioqa.app.mcp.server", raising=False)
    monkeypatch.setattr(metadata, "version", lambda name: "1.30.0")
    result = command("mcp", "--index", "x")
    assert (result.code, result.out) == (2, "")
    assert "needs packages of other versions than are installed (of mcp 1.30.0): " in result.err
    assert INSTALL in result.err


def test_a_port_that_is_taken_is_an_error(command: Run, index_folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = command("mcp", "--http", "--port", port, "--index", index_folder)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: cannot listen on 127.0.0.1:{port}: another program listens there: ")
