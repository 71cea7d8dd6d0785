"""The command ``cite``: articles of an index, cited."""

from contextlib import closing
from typing import Annotated

import typer

from bioqa.app.answers.opening import open_index
from bioqa.app.answers.question import read_pmid
from bioqa.app.cli.console import print_file
from bioqa.app.cli.options import FormatOption, IndexOption
from bioqa.app.exports.formats import FORMATS
from bioqa.app.settings import load_settings
from bioqa.system.errors import BioqaError


def cite(
    pmids: Annotated[
        list[str], typer.Argument(metavar="PMID…", help="PMIDs, or their addresses.", show_default=False)
    ],
    index: IndexOption = None,
    format: FormatOption = "nlm",
) -> None:
    """Cite articles of an index, each once, in the order given. Nothing is printed if one is missing."""
    wanted = list(dict.fromkeys(map(read_pmid, pmids)))
    with closing(open_index(load_settings(index=index))) as opened:
        documents = opened.get(wanted)
    if missing := [pmid for pmid in wanted if pmid not in documents]:
        raise BioqaError(f"not in the index: {', '.join(missing)}")
    assert format is not None
    print_file(FORMATS[format].write([documents[pmid] for pmid in wanted]))
