"""Arguments and options shared by several commands."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from bioqa.app.exports.formats import FORMATS, format_named
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import STANDARD


def no_stream(value: Any) -> Any:
    """Callback of options that name a folder, or a file that is replaced: ``-`` would become its name."""
    if value is not None and str(value) == STANDARD:
        raise BioqaError("- is standard input or output; here a place on a disk is needed")
    return value


def _known_format(value: str | None) -> str | None:
    if value is not None:
        format_named(value)
    return value


FILTERS = "Filters"
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
    typer.Option("--candidates", help="Documents that BM25 retrieves for the ranker. [BIOQA_CANDIDATES]"),
]
DeviceOption = Annotated[
    str | None,
    typer.Option("--device", help="Device of rankers: auto, cpu or cuda. [BIOQA_DEVICE]"),
]
DAY_FORMATS = ["%Y-%m-%d", "%Y-%m", "%Y"]
AfterOption = Annotated[
    datetime | None,
    typer.Option(
        "--after",
        formats=DAY_FORMATS,
        metavar="YYYY[-MM[-DD]]",
        help="Only documents published then or later.",
        rich_help_panel=FILTERS,
    ),
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
BeforeOption = Annotated[
    datetime | None,
    typer.Option(
        "--before",
        "--published-before",
        formats=DAY_FORMATS,
        metavar="YYYY[-MM[-DD]]",
        help="Only documents published before that day, or before that year or month begins.",
        rich_help_panel=FILTERS,
    ),
]
UndatedOption = Annotated[
    bool,
    typer.Option(
        "--undated",
        help="With --after or --before: documents without a date, too.",
        rich_help_panel=FILTERS,
    ),
]
TypeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type", metavar="TYPE", help="Publication type; repeated: one of them.", rich_help_panel=FILTERS
    ),
]
LanguageOption = Annotated[
    list[str] | None,
    typer.Option(
        "--language",
        metavar="LANGUAGE",
        help="Name or ISO 639 code; repeated: one of them.",
        rich_help_panel=FILTERS,
    ),
]
HeadingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--heading", metavar="HEADING", help="MeSH heading; repeated: all of them.", rich_help_panel=FILTERS
    ),
]
JournalOption = Annotated[
    list[str] | None,
    typer.Option(
        "--journal",
        metavar="JOURNAL",
        help="NLM's abbreviation, title or ISSN; repeated: one of them.",
        rich_help_panel=FILTERS,
    ),
]
AuthorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--author", metavar="AUTHOR", help="As in “Smith J”; repeated: all of them.", rich_help_panel=FILTERS
    ),
]
HasAbstractOption = Annotated[
    bool, typer.Option("--has-abstract", help="Only with an abstract.", rich_help_panel=FILTERS)
]
FreeFullTextOption = Annotated[
    bool, typer.Option("--free-full-text", help="Only in PubMed Central.", rich_help_panel=FILTERS)
]
ExcludeRetractedOption = Annotated[
    bool,
    typer.Option("--exclude-retracted", help="Leave out retracted articles.", rich_help_panel=FILTERS),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of every random choice.")]
MedlineFiles = Annotated[
    list[Path],
    typer.Argument(metavar="FILE…", help="MEDLINE or PubMed XML, plain or gzip.", show_default=False),
]

WeakSnippetsOption = Annotated[
    bool, typer.Option("--weak-snippets", help="Also snippets that are much weaker than the best one.")
]
LiteralOption = Annotated[
    bool,
    typer.Option(
        "--literal",
        help="Search for the words of the question alone: no other spellings, abbreviations, synonyms or "
        "corrections.",
    ),
]
