"""The command ``bioqa synonyms``."""

from pathlib import Path
from typing import Annotated

import typer

from bioqa.app.answers.opening import index_location
from bioqa.app.cli.console import say
from bioqa.app.cli.options import IndexOption
from bioqa.app.settings import Settings, load_settings
from bioqa.indexer.search.elastic.address import folder_path, is_url, parse_address
from bioqa.indexer.search.synonyms import FILE, Built
from bioqa.system.errors import BioqaError


def synonyms(
    descriptors: Annotated[
        Path,
        typer.Argument(
            help="NLM's descriptor file: desc2026.xml, plain or gzip.", metavar="FILE", show_default=False
        ),
    ],
    index: IndexOption = None,
) -> None:
    """Make the synonyms of MeSH's descriptors, beside an index.

    From then on, also by a running service, questions are searched for with them, and [mh] finds narrower
    headings. Run it again for a new year's file; releases that `bioqa update` makes keep them.
    """
    settings = load_settings(index=index)
    where = index_location(settings)
    location, written = (
        _in_elastic(descriptors, where, settings) if is_url(where) else _in_folder(descriptors, where)
    )
    say(f"{location}: descriptors {written.descriptors}, terms of those with synonyms {written.terms}")


def _in_folder(descriptors: Path, where: str) -> tuple[str, Built]:
    from bioqa.indexer.search.synonyms import build

    folder = folder_path(where)
    if not folder.is_dir():
        raise BioqaError(f"no index at {folder}: no such folder")
    return str(folder / FILE), build(descriptors, folder / FILE)


def _in_elastic(descriptors: Path, where: str, settings: Settings) -> tuple[str, Built]:
    from bioqa.indexer.search.elastic.connection import connect
    from bioqa.indexer.search.elastic.index import ElasticIndex
    from bioqa.indexer.search.elastic.synonyms import build, synonyms_name

    access = settings.access()
    address = parse_address(where)
    # Opened, as synonyms of an index that does not exist are a mistake.
    with ElasticIndex.open(connect(address, access), address, access.patience_s) as opened:
        return f"the index {synonyms_name(address.name)}", build(descriptors, opened.client, address)
