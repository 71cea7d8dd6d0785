"""Options that several commands have say the same in each."""

import re
from typing import Any

import typer.main

from bioqa.app.cli import cli
from bioqa.app.environment import PREFIX
from bioqa.app.settings import Settings

COMMANDS: Any = typer.main.get_command(cli)
SHARED = ("--index", "--ranker", "--candidates", "--device", "--json")


def helps(option: str) -> set[str]:
    return {
        parameter.help
        for name, command in COMMANDS.commands.items()
        if name in ("ask", "batch", "serve", "mcp", "info", "index", "update", "validate", "evaluate")
        for parameter in getattr(command, "params", [])
        if option in parameter.opts
    }


def test_an_option_of_several_commands_has_one_help() -> None:
    assert {option: len(helps(option)) for option in SHARED} == dict.fromkeys(SHARED, 1)


def test_a_variable_that_help_names_is_a_setting() -> None:
    named = {
        variable
        for command in COMMANDS.commands.values()
        for parameter in getattr(command, "params", [])
        for variable in re.findall(r"\[(BIOQA_\w+)\]", parameter.help or "")
    }
    assert named <= {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    assert f"{PREFIX}INDEX" in named
