"""Arguments and options shared by several commands."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from bioqa.app.answers.question import (
    FILTERS,
    Options,
    is_made_of,
    option_names,
    read,
    read_texts,
    takes_many,
)
from bioqa.app.cli.console import say
from bioqa.app.exports.formats import FORMATS, format_named
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import STANDARD, has_lone_surrogate


def no_stream(value: Any) -> Any:
    """Callback of options that name a folder, or a file that is replaced: ``-`` would become its name."""
    if value is not None and str(value) == STANDARD:
        raise BioqaError("- is standard input or output; here a place on a disk is needed")
    return value


def check_question(question: str) -> None:
    """Raises BioqaError for one that is empty, or no valid Unicode."""
    if not question.strip():
        raise BioqaError("the question is empty")
    if has_lone_surrogate(question):
        raise BioqaError("the question is not valid Unicode")


def _known_format(value: str | None) -> str | None:
    if value is not None:
        format_named(value)
    return value


PANEL = "Filters"
"""Heading of their options in the help."""

IndexOption = Annotated[
    str | None,
    typer.Option(
        "--index",
        metavar="DIR|URL",
        help="The index: a folder, or http://host:9200/name. [BIOQA_INDEX]",
        callback=no_stream,
    ),
]
RankerOption = Annotated[
    str | None,
    typer.Option("--ranker", help="A bundled ranker's name, or a checkpoint's folder. [BIOQA_RANKER]"),
]
CandidatesOption = Annotated[
    int | None,
    typer.Option("--candidates", metavar="N", help=Options.model_fields["candidates"].description),
]
DeviceOption = Annotated[
    str | None,
    typer.Option("--device", help="Device of rankers: auto, cpu or cuda. [BIOQA_DEVICE]"),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="|".join(FORMATS),
        callback=_known_format,
        help="Format of citations: files for reference managers, or text to paste.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of every random choice.")]
MedlineFiles = Annotated[
    list[Path],
    typer.Argument(metavar="FILE…", help="MEDLINE or PubMed XML, plain or gzip.", show_default=False),
]


def with_options(
    names: Sequence[str], model: type[Options] = Options, **defaults: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator: the command takes these options of a question, and is called with ``options``.

    What ``model`` has beside them, such as a PMID, are the command's own arguments. ``defaults`` stand for
    options that the command does not offer.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**arguments: Any) -> None:
            if arguments.pop("plain", False):
                say("--plain is called --syntax never; the old name goes with the next release")
                arguments["syntax"] = "never"
            texts = {name: arguments.pop(name) for name in names}
            extra = {name: arguments[name] for name in arguments if name in model.model_fields}
            # A flag that is not given says nothing.
            given = ((name, value) for name, value in texts.items() if value not in (False, None, []))
            command(options=read(model, {**defaults, **extra, **read_texts(model, given)}), **arguments)

        own = inspect.signature(command).parameters
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [*(own[name] for name in own if name != "options"), *_parameters(names)]
        )
        return run

    return decorate


def _parameters(names: Sequence[str]) -> Iterator[inspect.Parameter]:
    for name in names:
        field = Options.model_fields[name]
        flags = [f"--{other_name.replace('_', '-')}" for other_name in option_names(name, field)]
        many, flag = takes_many(field), field.annotation is bool
        default = "" if field.default in ((), False, None) else f" [{field.default}]"
        option = typer.Option(
            *flags,
            help=f"{field.description}{' May be repeated.' if many else ''}{default}",
            metavar=None if flag else _metavar(name, field.annotation),
            rich_help_panel=PANEL if name in FILTERS else None,
            show_default=False,
        )
        kind: Any = bool if flag else list[str] | None if many else str | None
        yield inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if flag else None,
            annotation=Annotated[kind, option],
        )
    if "syntax" in names:
        plain = typer.Option("--plain", hidden=True, help="As --syntax never.")
        yield inspect.Parameter(
            "plain", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, plain]
        )


def _metavar(name: str, kind: Any) -> str:
    if name.startswith("published"):
        return "YYYY[-MM[-DD]]"
    choices = get_args(kind)
    if choices and all(isinstance(choice, str) for choice in choices):
        return "|".join(choices)
    return "N" if is_made_of(kind, int) else name.removesuffix("s").upper()
