"""The command ``bioqa synonyms``."""

from pathlib import Path
from typing import Annotated

import typer

from bioqa.app.answers.opening import index_location
from bioqa.app.cli.console import say
from bioqa.app.cli.options import IndexOption
from bioqa.app.settings import load_settings
from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.search.address import folder_path, is_url
from bioqa.indexer.search.synonyms import FILE, build


def synonyms(
    descriptors: Annotated[
        Path,
        typer.Argument(
            help="NLM's descriptor file: desc2026.xml, plain or gzip.", metavar="FILE", show_default=False
        ),
    ],
    index: IndexOption = None,
) -> None:
    """Make the synonyms of MeSH's descriptors, in a file beside an index in a folder.

    From then on, also by a running service, questions are searched for with them, and [mh] finds narrower
    headings. Run it again for a new
    year's file; releases that `bioqa update` makes keep the file.
    """
    where = index_location(load_settings(index=index))
    if is_url(where):
        raise BioqaError(
            f"{where} is in Elasticsearch, and synonyms are a file in an index's folder; "
            "Elasticsearch has no place for them yet"
        )
    folder = folder_path(where)
    if not folder.is_dir():
        raise BioqaError(f"no index at {folder}: no such folder")
    made = build(descriptors, folder / FILE)
    say(f"{folder / FILE}: descriptors {made.descriptors}, terms of those with synonyms {made.terms}")
