"""The documentation names every setting, command, option and operation there is, and no others."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from fastapi import FastAPI

from bioqa.app.cli import cli
from bioqa.app.settings import PREFIX, Settings

DOCS = Path(__file__).resolve().parents[2] / "docs"


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def commands(command: Any, name: str) -> Iterator[tuple[str, set[str]]]:
    """Each command's full name with its options, ``--help`` left out."""
    if subcommands := getattr(command, "commands", None):
        for sub, each in subcommands.items():
            yield from commands(each, f"{name} {sub}")
        return
    options = [option for parameter in command.params for option in parameter.opts]
    yield name, {option for option in options if option.startswith("-")} - {"--help"}


COMMANDS = dict(commands(typer.main.get_command(cli), "bioqa"))
SECTIONS = dict(
    re.findall(r"^### `(bioqa[^`]*)`\n(.*?)(?=^##|\Z)", read("command-line.md"), re.MULTILINE | re.DOTALL)
)


def test_every_setting_stands_in_the_table_with_its_default() -> None:
    rows = dict(re.findall(rf"^\| `{PREFIX}(\w+)` \| (.*?) \|", read("settings.md"), re.M))
    defaults = {name: field.default for name, field in Settings.model_fields.items()}
    shown = {name.upper(): "none" if value is None else f"`{value}`" for name, value in defaults.items()}
    shown["TORCH_THREADS"] = "the cores"
    assert rows == shown


def test_every_command_has_a_section() -> None:
    documented = [re.sub(r" [A-Z].*", "", heading) for heading in SECTIONS]
    assert sorted(documented) == sorted(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_in_its_commands_section(name: str) -> None:
    text = next(t for heading, t in SECTIONS.items() if re.sub(r" [A-Z].*", "", heading) == name)
    items = "".join(re.findall(r"^- .*(?:\n  .*)*", text, re.MULTILINE))
    assert set(re.findall(r"`(--?[a-z-]+)", items)) == COMMANDS[name]


def test_every_operation_is_in_the_table(application: FastAPI) -> None:
    table = set(re.findall(r"^\| `([A-Z]+) (/\S+)` \|", read("http.md"), re.M))
    paths = application.openapi()["paths"]
    assert table == {(method.upper(), path) for path, methods in paths.items() for method in methods}


def test_every_field_of_a_question_is_documented(application: FastAPI) -> None:
    fields = application.openapi()["components"]["schemas"]["SearchRequest"]["properties"]
    text = read("http.md").split("## A question")[1].split("The answer:")[0]
    rows = re.findall(r"^\| (`.*?`) \|", text, re.M)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(fields)
