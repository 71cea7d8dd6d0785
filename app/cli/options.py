"""Arguments and options shared by several commands."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from bioqa.app.exports.formats import FORMATS
from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.jsonfile import STANDARD, shown


def no_stream(value: Any) -> Any:
    """Callback of options that name a folder, or a file that is replaced: ``-`` would become its name."""
    if value is not None and str(value) == STANDARD:
        raise BioqaError("- is standard input or output; here a place on a disk is needed")
    return value


def _known_format(value: str | None) -> str | None:
    if value is not None and value not in FORMATS:
        raise BioqaError(f"the format must be one of {', '.join(FORMATS)}, not {shown(value)}")
    return value


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
    typer.Option("--device", help="Device for encoders: auto, cpu or cuda. [BIOQA_DEVICE]"),
]
PublishedBeforeOption = Annotated[
    datetime | None,
    typer.Option(
        "--published-before",
        formats=["%Y-%m-%d"],
        metavar="YYYY-MM-DD",
        help="Only documents published before that day, and those without a date.",
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
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of every random choice.")]
MedlineFiles = Annotated[
    list[Path],
    typer.Argument(metavar="FILE…", help="MEDLINE or PubMed XML, plain or gzip.", show_default=False),
]
