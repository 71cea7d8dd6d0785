"""Commands on an index: index, info."""

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bioqa.app.answers.opening import index_location, open_index, open_target
from bioqa.app.cli.console import echo, fail, print_json, progress, say
from bioqa.app.cli.options import IndexOption, JsonOption, MedlineFiles
from bioqa.app.settings import load_settings
from bioqa.indexer import opening
from bioqa.indexer.loading.ledger import LoadedFile
from bioqa.indexer.loading.run import DEFAULT_WORKERS, LoadProgress, LoadReport, load, require_files
from bioqa.indexer.loading.target import LoadTarget
from bioqa.indexer.search.base import IndexStats, SearchIndex
from bioqa.indexer.vectors.beside import VectorsBeside
from bioqa.indexer.vectors.file import VectorsError


def index(
    files: MedlineFiles,
    index: IndexOption = None,
    workers: Annotated[int, typer.Option(help="Processes that parse.")] = DEFAULT_WORKERS,
    joiner: Annotated[str, typer.Option(help="Text between the parts of an abstract.")] = "",
) -> None:
    """Load MEDLINE files into an index, in the given order; the index is created if necessary.

    NLM's files are loaded in the order of their numbers. After an interruption, run the same command to
    resume; files that are loaded already are skipped. Broken files, and citations that the search engine
    rejects, are reported; the others are loaded, and the exit code is 1.
    """
    require_files(files)
    with closing(open_target(load_settings(index=index), joiner)) as target:
        report = load_files(files, target, workers)
    _say_report(report)
    if report.refused or report.rejections:
        raise typer.Exit(1)


def load_files(files: list[Path], where: Path | LoadTarget, workers: int, joiner: str = "") -> LoadReport:
    """Call ``load`` and show its progress."""
    size = sum(path.stat().st_size for path in files if path.is_file())
    with progress("indexing", size) as report:

        def show(state: LoadProgress) -> None:
            words = f"{state.files_done}/{state.files} files, {state.events} citations"
            report(state.bytes_done, words)

        return load(files, where, workers=workers, joiner=joiner, progress=show)


def _say_report(report: LoadReport) -> None:
    applied = report.applied
    say(
        f"files loaded: {len(report.loaded)} in {report.seconds:.1f} s; upserts {applied.upserted}, "
        f"deletions {applied.deleted}, stale {applied.stale}"
        + _counts("skipped", (f.skipped for f in report.loaded))
        + _counts("rejected", (f.rejected for f in report.loaded))
    )
    if report.known:
        say(f"files loaded before: {len(report.known)}")
    if report.reapplied:
        say(f"files applied again, after one that was loaded late: {len(report.reapplied)}")
    for refused in report.refused:
        fail(f"refused: {refused.reason}")
    for name, rejection in report.rejections:
        fail(f"rejected: {name}: PMID {rejection.pmid}: {rejection.reason}")
    if report.rejections_unlisted:
        fail(f"rejected: {report.rejections_unlisted} more")


def _counts(what: str, counts: Iterable[Mapping[str, int]]) -> str:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    kinds = ", ".join(f"{kind} {number}" for kind, number in total.items())
    return f", {what} {total.total()} ({kinds})" if total else ""


def info(
    index: IndexOption = None,
    json: JsonOption = False,
    check: Annotated[
        bool, typer.Option("--check", help="Read the folder's files, and compare their checksums first.")
    ] = False,
) -> None:
    """Show what an index contains: documents, size, and the files that it was loaded from."""
    settings = load_settings(index=index)
    if check:
        say(f"files with the right checksum: {opening.check(index_location(settings))}")
    with closing(open_index(settings)) as opened:
        stats, vectors = opened.stats(), _vectors(opened)
    entries = opening.ledger(index_location(settings), settings.access())
    if json:
        files = [asdict(entry) for entry in entries]
        print_json({**asdict(stats), "vectors": vectors, "files": files})
    else:
        _print_info(index_location(settings), stats, entries, vectors)


def _vectors(opened: SearchIndex) -> dict[str, object] | None:
    """What is known of the vectors beside the index; None if there are none."""
    try:
        file = None if opened.beside is None else VectorsBeside(opened.beside).current()
    except VectorsError as error:
        return {"problem": str(error)}
    if file is None:
        return None
    encoder = file.encoder
    return {"encoder": encoder.name, "hash": encoder.hash, "width": encoder.width, "citations": len(file)}


def _print_info(
    location: str, stats: IndexStats, entries: tuple[LoadedFile, ...], vectors: Mapping[str, object] | None
) -> None:
    lines = {
        "index": f"{stats.name} ({location})",
        "documents": (
            f"{stats.documents:,}, {stats.without_abstract:,} of them without abstract, "
            f"{stats.without_title:,} without title"
        ),
        "size": f"{stats.size_bytes / 1e6:,.1f} MB",
        "parts joined by": repr(stats.joiner),
        "vectors": _of_vectors(vectors),
        "files": f"{len(entries)}, with {sum(e.records for e in entries):,} records",
    }
    for name, value in lines.items():
        echo(f"{name:<16} {value}")
    for entry in entries:
        echo(
            f"  {entry.loaded_at}  {entry.name}: records {entry.records:,}: upserts {entry.upserted:,}, "
            f"deletions {entry.deleted:,}, stale {entry.stale:,}, skipped {sum(entry.skipped.values()):,}, "
            f"rejected {sum(entry.rejected.values()):,}"
        )


def _of_vectors(vectors: Mapping[str, object] | None) -> str:
    if vectors is None:
        return "none: questions find by their words alone"
    if "problem" in vectors:
        return f"cannot be used: {vectors['problem']}"
    return f"{vectors['citations']:,}, of {vectors['width']} numbers, by {vectors['encoder']}"
