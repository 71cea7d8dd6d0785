"""The command ``update``: releases of MEDLINE."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bioqa.app.answers.opening import index_location
from bioqa.app.cli.console import echo, fail, print_json, progress
from bioqa.app.cli.options import IndexOption, JsonOption, no_stream
from bioqa.app.settings import Settings, load_settings
from bioqa.indexer.loading.run import DEFAULT_WORKERS, LoadProgress
from bioqa.indexer.releases.folder_shelf import FolderShelf
from bioqa.indexer.releases.shelf import Shelf
from bioqa.indexer.releases.source import FolderSource, Source
from bioqa.indexer.releases.update import Preview, UpdateOptions, UpdateReport, preview, roll_back
from bioqa.indexer.releases.update import update as bring_up_to_date
from bioqa.indexer.search.elastic.address import folder_path, is_url, parse_address
from bioqa.system.errors import BioqaError

PERMILLE = 1000
SHOWN_NAMES = 5


def update(
    index: IndexOption = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="DIR|URL",
            help="A folder with baseline/ and updatefiles/, or https://ftp.ncbi.nlm.nih.gov/pubmed/.",
            show_default=False,
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            callback=no_stream,
            help="Folder for downloaded files; all of MEDLINE takes 60 GB.",
            show_default=False,
        ),
    ] = None,
    rollback: Annotated[
        bool,
        typer.Option("--rollback", help="Serve the previous release again, and do nothing else."),
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Rebuild this year's release beside the serving one.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Serve a new release even if its checks fail.")
    ] = False,
    keep: Annotated[
        int | None,
        typer.Option(metavar="N", help="Releases kept beside the serving one. [BIOQA_KEEP_RELEASES]"),
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes that parse.")] = DEFAULT_WORKERS,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Update an index to what NLM publishes: baseline and update files, a release for each year.

    Run it daily; after an interruption, run it again to resume. A new year's baseline is built beside the
    serving release and replaces it only when it is complete and passes its checks. Exit code 1: files are
    missing or broken, or checks failed; everything else was done.
    """
    settings = load_settings(index=index, keep_releases=keep)
    options = UpdateOptions(rebuild, force, settings.keep_releases, workers)
    with _shelf(settings) as shelf:
        if rollback:
            _roll_back(shelf, json)
            return
        with _source(source, cache) as files:
            if dry_run:
                passed = _say_preview(preview(files, shelf, options), json)
            else:
                passed = _run(files, shelf, options, json)
    if not passed:
        raise typer.Exit(1)


@contextmanager
def _shelf(settings: Settings) -> Iterator[Shelf]:
    where = index_location(settings)
    if not is_url(where):
        yield FolderShelf(folder_path(where))
        return
    # Imported here because the client takes a second.
    from bioqa.indexer.releases.elastic_shelf import ElasticShelf

    with ElasticShelf(parse_address(where), settings.access(), settings.shape()) as shelf:
        yield shelf


@contextmanager
def _source(where: str | None, cache: Path | None) -> Iterator[Source]:
    if where is None:
        raise BioqaError(
            "no source is named: give --from with a folder or https://ftp.ncbi.nlm.nih.gov/pubmed/"
        )
    if "://" not in where:
        yield FolderSource(folder_path(where))
        return
    if cache is None:
        raise BioqaError(
            "a folder for downloads is needed: give --cache DIR, with 60 GB of space for all of MEDLINE"
        )
    from bioqa.indexer.releases.site import SiteSource

    with SiteSource(where, folder_path(str(cache))) as source:
        yield source


def _roll_back(shelf: Shelf, json: bool) -> None:
    done = roll_back(shelf)
    if json:
        print_json(asdict(done))
    else:
        echo(f"serving {done.serving}, no longer {done.before}")


def _run(source: Source, shelf: Shelf, options: UpdateOptions, json: bool) -> bool:
    with progress("updating", PERMILLE) as report:

        def show(release: str, state: LoadProgress) -> None:
            words = f"{release}: {state.files_done}/{state.files} files, {state.file}"
            report(PERMILLE * state.files_done // max(1, state.files), words)

        done = bring_up_to_date(source, shelf, options, show)
    if json:
        print_json({**asdict(done), "passed": done.passed})
    else:
        _say_report(done)
    return done.passed


def _say_report(done: UpdateReport) -> None:
    _say_lines(
        [
            f"downloaded: {_names(done.downloaded)}",
            f"loaded into {done.release}: {_names([entry.name for entry in done.loaded])}",
            *([f"known under other names: {_names(done.known)}"] if done.known else []),
            *([f"waiting: {_names(done.waiting)}"] if done.waiting else []),
        ]
    )
    for check in done.checks:
        echo(f"check {check.name}: {'passed' if check.passed else 'FAILED'}: {check.says}")
    _say_lines(f"note: {note}" for note in done.notes)
    if done.dropped:
        echo(f"dropped: {', '.join(done.dropped)}")
    changed = f", before: {done.before or 'nothing'}" if done.before != done.serving else ""
    echo(f"serving: {done.serving or 'nothing'}{changed}; {done.release} has {done.documents:,} documents")
    for refused in done.refused:
        fail(f"refused: {refused.reason}")
    for fault in done.faults:
        fail(fault)
    if failed := [check.name for check in done.checks if not check.passed]:
        fail(f"checks failed: {', '.join(failed)}" + ("; served because of --force" if done.forced else ""))


def _say_preview(preview: Preview, json: bool) -> bool:
    names = [file.name for file in preview.plan.files]
    faults = (*preview.choice.faults, *preview.plan.faults)
    if json:
        waiting = list(preview.plan.waiting)
        print_json(
            {
                "year": preview.year,
                "release": preview.choice.release,
                "in_place": preview.choice.in_place,
                "load": names,
                "waiting": waiting,
                "faults": list(faults),
                "notes": [*preview.choice.notes, *preview.plan.notes],
            }
        )
    else:
        what = "bring up to date" if preview.choice.in_place else "build"
        echo(f"would {what} {preview.choice.release}, loading {_names(names)}")
        _say_lines(f"note: {note}" for note in (*preview.choice.notes, *preview.plan.notes))
        for fault in faults:
            fail(fault)
    return not faults


def _say_lines(lines: Iterator[str] | list[str]) -> None:
    for line in lines:
        echo(line)


def _names(names: tuple[str, ...] | list[str]) -> str:
    if not names:
        return "no files"
    if len(names) <= SHOWN_NAMES:
        return ", ".join(names)
    return f"{len(names)} files, {names[0]} to {names[-1]}"
