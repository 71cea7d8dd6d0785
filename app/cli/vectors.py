"""The command ``bioqa vectors``."""

import time
from typing import Annotated

import typer

from bioqa.app.answers.opening import index_folder
from bioqa.app.cli.console import progress, say
from bioqa.app.cli.options import DeviceOption, IndexOption
from bioqa.app.settings import load_settings
from bioqa.models.bundled import VECTOR_ENCODER


def vectors(
    index: IndexOption = None,
    encoder: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Encoder of the texts: a folder, an installed package, or a name in the local model cache.",
        ),
    ] = VECTOR_ENCODER,
    pooling: Annotated[
        str | None,
        typer.Option(
            metavar="cls|mean",
            help="What a vector is made of: the first piece's state, or the mean of all. "
            "By default what the encoder's folder says of itself.",
        ),
    ] = None,
    prompt: Annotated[
        str | None, typer.Option(help="Prefix that the encoder expects before questions.")
    ] = None,
    pieces: Annotated[
        int | None, typer.Option(help="Word pieces that are read of a citation, 8 to 512.")
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes",
            "--threads",
            metavar="N",
            help="Processes that encode on a CPU, by default one for each core, at most 8.",
            min=1,
        ),
    ] = None,
    device: DeviceOption = None,
) -> None:
    """Store vectors of an index's citations, in a file beside it: questions then find by meaning, too.

    From then on, also in a running service, candidates are found by words and by vectors. Run it again after
    an update: only citations that are new or revised are encoded. Interrupted at any moment, it continues
    where it was.
    """
    # Not while `bioqa --help` waits.
    from bioqa.app.answers.vectors_building import build
    from bioqa.indexer.releases.folder_shelf import current_folder
    from bioqa.indexer.search.tantivy.index import TantivyIndex

    settings = load_settings(index=index, device=device)
    folder = index_folder(settings, "vectors")
    changes = {"pooling": pooling, "question_prefix": prompt, "pieces": pieces}
    with TantivyIndex.open(current_folder(folder), folder) as opened:
        total, began = opened.stats().documents, time.monotonic()
        with progress("encoding", total) as report:
            written = build(
                opened,
                encoder,
                {name: value for name, value in changes.items() if value is not None},
                device=settings.device,
                processes=processes,
                progress=lambda done, encoded: report(
                    done, _words(done, encoded, total, time.monotonic() - began)
                ),
            )
    say(
        f"{written.path}: citations {written.citations:,}, of these new or revised {written.encoded:,}; "
        f"withdrawn {written.withdrawn:,}; {written.bytes / 1e6:,.1f} MB"
    )


def _words(done: int, encoded: int, total: int, seconds: float) -> str:
    """How far it is, how fast, and how long it will take."""
    words = f"{done:,}/{total:,} citations"
    if not encoded or seconds <= 0:
        return words
    # Those that have a vector already cost next to nothing.
    speed = encoded / seconds
    return f"{words}, {speed:,.0f} encoded a second, at most {(total - done) / speed / 60:,.0f} min left"
