"""The documentation names every setting, command, option and operation there is, and no others."""

import pkgutil
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from fastapi import FastAPI

from bioqa.app.cli import cli
from bioqa.app.environment import PREFIX
from bioqa.app.exports.formats import FORMATS
from bioqa.app.exports.standing import WORDS
from bioqa.app.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md"), ROOT / "app" / "sample" / "README.md"])


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
    shown["TORCH_THREADS"] = "1; with an encoder, the cores"
    shown["RANKING_PROCESSES"] = "the cores, at most 4"
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


def test_every_status_of_an_operation_has_one_row(application: FastAPI) -> None:
    section = read("http.md").split("## Errors")[1]
    rows = re.findall(r"^\| (\d{3}) \|", section, re.MULTILINE)
    operations = [each for path in application.openapi()["paths"].values() for each in path.values()]
    statuses = {status for each in operations for status in each["responses"] if status >= "400"}
    assert rows == sorted(set(rows))
    assert statuses <= set(rows)


def test_every_field_of_a_question_is_documented(application: FastAPI) -> None:
    fields = application.openapi()["components"]["schemas"]["SearchRequest"]["properties"]
    text = read("http.md").split("## A question")[1].split("The answer:")[0]
    rows = re.findall(r"^\| (`.*?`) \|", text, re.M)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(fields)


def test_every_format_and_every_standing_is_in_the_page_on_citing() -> None:
    text = read("citing.md")
    formats, _, standings = text.partition("## Withdrawn")
    assert re.findall(r"^\| `(\w+)` \|", formats, re.MULTILINE) == list(FORMATS)
    assert dict(re.findall(r"^\| `(\w+)` \| ?(.*?) ?\|", standings, re.MULTILINE)) == WORDS


def anchors(page: Path) -> set[str]:
    """Those of its headings, as GitHub and mkdocs make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_name_in_the_architecture_is_there() -> None:
    names = set(re.findall(r"`(bioqa(?:\.\w+)+)`", read("architecture.md")))
    assert len(names) > 40
    for name in names:
        assert pkgutil.resolve_name(name) is not None, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_is_named_is_there(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        pytest.skip("it tells of files that were")
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\b(?:app|models|indexer|bioasq|bench|tests|deploy|docs)/[\w/]+\.\w+", text):
        assert (ROOT / name).exists(), name


def test_every_room_of_the_house_is_in_the_architecture() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    text = read("architecture.md")
    for contract in contracts["contracts"]:
        container = contract["containers"][0].replace("bioqa", "", 1).strip(".")
        section = text.split(f"Rooms of `{container}`" if container else "## The house")[1].split("\n\n| ")[1]
        for layer in contract["layers"]:
            for room in layer.split(" | "):
                of_the_library = not container and (ROOT / "bioqa" / f"{room}.py").exists()
                shown = f"`{room}/`" in section or f"`{room}.py`" in section or of_the_library
                assert shown, f"{container}: {room}"


def test_every_page_of_the_documentation_is_on_the_site() -> None:
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in DOCS.glob("*.md"):
        assert re.search(rf"\b{page.name}$", site, re.MULTILINE), page.name
