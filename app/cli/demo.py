"""The command ``demo``: everything on the bundled sample."""

import hashlib
import os
from contextlib import closing
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.opening import load_ranker, open_index, open_target
from bioqa.app.cli.answering import print_answer
from bioqa.app.cli.console import out, progress, say
from bioqa.app.cli.files import print_measures
from bioqa.app.cli.indexing import load_files
from bioqa.app.cli.options import RankerOption, no_stream
from bioqa.app.settings import DEFAULT_PORT, Settings, load_settings
from bioqa.bioasq.domain import Response
from bioqa.bioasq.files import read_golden
from bioqa.bioasq.measures import evaluate
from bioqa.indexer.search.tantivy.folder import FORMAT
from bioqa.system.errors import BioqaError
from bioqa.system.home import home

EDITION = 9


def demo(
    index: Annotated[
        str | None,
        typer.Option(
            "--index",
            metavar="DIR|URL",
            callback=no_stream,
            help="Where to index the sample: a folder, or http://host:9200/name; default: a cache.",
        ),
    ] = None,
    ranker: RankerOption = None,
    only_index: Annotated[
        bool, typer.Option("--only-index", help="Index the sample and do nothing else.")
    ] = False,
) -> None:
    """Index the bundled sample, answer a question, evaluate the sample's questions, show how to serve it."""
    with as_file(files("bioqa.app") / "sample") as sample:
        citations = sample / "medline.xml"
        where = index or str(_cache() / f"sample-{_version(citations)}")
        settings = load_settings(index=where, ranker=ranker)
        _load(citations, settings)
        golden = read_golden(sample / "questions.json").responses
    if only_index:
        return
    answerer = Answerer(open_index(settings), load_ranker(settings))
    print_answer(answerer.answer(golden[0].question))
    out.print(f"\nThe sample's {len(golden)} questions against their gold:")
    print_measures(evaluate(golden, _answers(answerer, golden), EDITION))
    out.print(f'\nTo ask:    bioqa ask "…" --index {where}', soft_wrap=True)
    out.print(f"To serve:  bioqa serve --index {where}", soft_wrap=True)
    # Not the settings' host and port: one that is wrong must not end a command that does not serve.
    out.print(f"           then open http://127.0.0.1:{DEFAULT_PORT}/ (by default)", soft_wrap=True)


def _load(citations: Path, settings: Settings) -> None:
    with closing(open_target(settings)) as target:
        say(f"Indexing the bundled sample into {settings.index}")
        report = load_files([citations], target, workers=1)
    for _, rejection in report.rejections:
        raise BioqaError(f"{settings.index} rejected citation {rejection.pmid}: {rejection.reason}")


def _answers(answerer: Answerer, golden: tuple[Response, ...]) -> list[Response]:
    answers = []
    with progress("answering", len(golden)) as report:
        for done, gold in enumerate(golden, start=1):
            answers.append(answerer.answer(gold.question).response())
            report(done, f"{done}/{len(golden)} questions")
    return answers


def _cache() -> Path:
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "bioqa"
    if (folder := home()) is None:
        raise BioqaError("no home folder for the sample's index: give --index DIR, or set XDG_CACHE_HOME")
    return folder / ".cache" / "bioqa"


def _version(citations: Path) -> str:
    """Hash the sample and the index format, so that a new one of either gets a new folder."""
    return hashlib.sha256(b"%d\0" % FORMAT + citations.read_bytes()).hexdigest()[:8]
