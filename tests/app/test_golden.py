"""What every face offers and answers, word for word: a change here is on purpose, or a fault.

``BIOQA_RENEW_GOLDEN=1`` writes the files anew; the difference is then to be read.
"""

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from fastapi import FastAPI
from fastapi.testclient import TestClient
from mcp import Client

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.engine import Engine
from bioqa.app.answers.service import Service
from bioqa.app.cli import cli
from bioqa.app.main import create_app
from bioqa.app.mcp.backends import LocalBackend
from bioqa.app.mcp.server import create_server
from bioqa.app.settings import Settings
from tests.app.engines import local
from tests.app.requests import BODY

GOLDEN = Path(__file__).with_name("golden")


def agree(name: str, text: str) -> None:
    file = GOLDEN / name
    if os.environ.get("BIOQA_RENEW_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), f"{name} differs; see the docstring of {__name__}"


def as_json(content: Any, depth: int = 5, indent: str = "") -> str:
    """JSON, indented to a depth: each property of a schema is a line of its own, so that differences show."""
    if not isinstance(content, dict | list) or not content or not depth:
        return json.dumps(content, ensure_ascii=False)
    inner = indent + " "
    if isinstance(content, list):
        items = [as_json(value, depth - 1, inner) for value in content]
    else:
        items = [f"{json.dumps(key)}: {as_json(value, depth - 1, inner)}" for key, value in content.items()]
    left, right = "[]" if isinstance(content, list) else "{}"
    return left + ",".join(f"\n{inner}{item}" for item in items) + f"\n{indent}{right}"


def test_openapi(application: FastAPI) -> None:
    schema = application.openapi()
    schema["info"].pop("version")
    agree("openapi.json", as_json(schema) + "\n")


def test_tools_of_assistants(answerer: Answerer) -> None:
    async def tools() -> list[dict[str, Any]]:
        async with Client(create_server(LocalBackend(service))) as client:
            return [tool.model_dump(mode="json") for tool in (await client.list_tools()).tools]

    service = Service(Settings(), local(answerer))
    try:
        agree("mcp.json", as_json(asyncio.run(tools())) + "\n")
    finally:
        service.close()


def parameters(command: Any, name: str) -> Iterator[str]:
    """Each command with its arguments and options: names, kind, default, help."""
    if subcommands := getattr(command, "commands", None):
        for sub, each in subcommands.items():
            yield from parameters(each, f"{name} {sub}")
        return
    yield f"\n{name}: {command.help}"
    for parameter in command.params:
        shown = [*parameter.opts, *parameter.secondary_opts]
        given = "" if parameter.default is None else f" [{parameter.default}]"
        several = " (repeated)" if getattr(parameter, "multiple", False) else ""
        kind = parameter.metavar or ""
        yield f"  {', '.join(shown)} {kind}{several}{given}: {getattr(parameter, 'help', '')}"


def test_commands() -> None:
    agree("commands.txt", "\n".join(parameters(typer.main.get_command(cli), "bioqa")).lstrip() + "\n")


def shape(value: Any) -> Any:
    """The keys of an object in their order; of lists, the first item's."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


@pytest.mark.parametrize(
    ("name", "path", "body"),
    [
        ("answer", "/v1/search", {"facets": True, "include": ["abstract"]}),
        ("answer-corrected", "/v1/search", {"body": "Is metfornin better AND mice[mh] NOT x[ti]?"}),
        ("explanation", "/v1/explain", {"pmid": "90000001"}),
        ("documents", "/v1/documents", {"pmids": ["90000001", "5"]}),
    ],
)
def test_order_of_fields(name: str, path: str, body: dict[str, Any], engine: Engine) -> None:
    client = TestClient(create_app(Settings(), engine))
    asked = body if "pmids" in body else {"body": BODY, **body}
    agree(f"{name}.json", as_json(shape(client.post(path, json=asked).json())) + "\n")
