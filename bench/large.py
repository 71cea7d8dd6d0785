"""A folder index as it grows: loading, bytes, memory, questions and filters, at any size.

    python -m bench.synthetic POOL... --citations 600000 --out FILES --brief --plain
    python -m bench.large grow --files FILES --base FILES/pubmed99n001*.xml --index DIR --citations 5000000
                               --questions GOLDEN --report FILE
    python -m bench.large table FILE
    python -m bench.large measure --index DIR --questions GOLDEN [--asked 100]

``grow`` goes up in steps of ``--every`` citations. At each it loads the next of the files, as ``bioqa index``
does, and removes it; writes as many records as are missing to the step, recombined of those in the ``--base``
files (see ``bench.large_records``), with a commit for each 30,000, as many as a file of NLM has; applies a
file of ``--revised`` revisions and a tenth as many deletions, as NLM publishes one a day; and measures the
index in a process of its own. If it is interrupted, or killed with ``kill -9``, call it again: it goes on.
What it measures is appended to the report, one JSON object a line. ``table`` prints that. ``measure``
measures any index once.

On a shared machine compare the processor times: they are there for that.
"""

import argparse
import json
import os
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from bench.large_queries import ASKED, cell, measure, own_memory
from bench.large_records import Recombining
from bench.synthetic import CITATIONS_PER_FILE
from bioqa.bioasq.domain import Document
from bioqa.indexer.loading.run import load
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.medline.reader import MedlineFile
from bioqa.indexer.search.tantivy.index import TantivyIndex

FIRST_PMID = 10_000_000
"""First PMID of recombined records; those of the files are below."""
DELETED = 0.1
"""Deletions of a day's file, relative to its revisions."""

_RECORD_PMID = re.compile(r'(<MedlineCitation [^>]*><PMID Version="1">)\d+')

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("grow", "table", "measure"))
    parser.add_argument("reports", type=Path, nargs="*")
    parser.add_argument("--files", type=Path)
    parser.add_argument("--base", type=Path, nargs="+")
    parser.add_argument("--index", type=Path)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--citations", type=int, default=5_000_000)
    parser.add_argument("--every", type=int, default=500_000)
    parser.add_argument("--revised", type=int, default=5_000)
    parser.add_argument("--asked", type=int, default=ASKED)
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    if options.what == "table":
        for report in options.reports:
            print(table([json.loads(line) for line in report.read_text("utf-8").splitlines()]))
    elif options.what == "measure":
        print(json.dumps(measure(options.index, options.questions, options.asked)), flush=True)
    else:
        grow(options)


def grow(options: argparse.Namespace) -> None:
    """Load up to ``options.citations``, and append to the report."""
    make = Recombining([document for path in options.base for document in read_all(path)])
    done = documents(options.index)
    while done < options.citations:
        # Some are missing to the step before: they were deleted after it.
        goal = min(options.citations, ((done + options.revised) // options.every + 1) * options.every)
        path = min(options.files.glob("pubmed*.xml"))
        note(options.report, load_files([path], options.index, "load"))
        for row in fill(make, options.index, goal, next_pmid(options.report)):
            note(options.report, row)
        update = path.with_name(f"update{goal}.xml")
        known = range(FIRST_PMID, next_pmid(options.report))
        update.write_text(revise(path.read_text("utf-8"), known, options.revised), "utf-8")
        note(options.report, load_files([update], options.index, "update"))
        note(options.report, in_own_process(options.index, options.questions, options.asked))
        path.unlink()
        update.unlink()
        done = goal


def read_all(path: Path) -> Iterator[Document]:
    return (event.document for event in MedlineFile(path) if isinstance(event, Upsert))


def documents(folder: Path) -> int:
    if not (folder / "meta.json").exists():
        return 0
    with TantivyIndex.open(folder) as index:
        return index.stats().documents


def next_pmid(report: Path) -> int:
    """The first PMID above those of all records that were written."""
    rows = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    return max((row.get("next_pmid", 0) for row in rows), default=0) or FIRST_PMID


def fill(make: Recombining, folder: Path, goal: int, first: int) -> Iterator[Row]:
    """Write recombined records until the index has ``goal`` documents. Yields what each commit took."""
    with TantivyIndex.create(folder) as index:
        records = make.records(first)
        missing = goal - index.stats().documents
        while missing > 0:
            batch = list(islice(records, min(missing, CITATIONS_PER_FILE)))
            spent = Spent()
            index.write(batch)
            index.commit()
            missing -= len(batch)
            first += len(batch)
            yield {**spent.row("fill"), "records": len(batch), "next_pmid": first, "left": missing}
        closing = Spent()
    yield {**closing.row("merges"), "records": 0}


class Spent:
    """What this process and its children spend from now on."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._before = self._now()

    def row(self, what: str) -> Row:
        spent = (now - before for now, before in zip(self._now(), self._before, strict=True))
        writer_s, parser_s, written = spent
        return {
            "what": what,
            "seconds": time.monotonic() - self._begun,
            "writer_s": writer_s,
            "parser_s": parser_s,
            "written_bytes": written,
            "writer_mb": own_memory("RssAnon") / 1e6,
            "mapped_mb": own_memory("RssFile") / 1e6,
            "load": os.getloadavg()[0],
        }

    def _now(self) -> tuple[float, float, int]:
        return _seconds(resource.RUSAGE_SELF), _seconds(resource.RUSAGE_CHILDREN), _written()


def revise(text: str, known: Sequence[int], number: int) -> str:
    """A day's file of ``number`` records of ``text`` that replace some of the ``known`` PMIDs, and of
    deletions of others."""
    chosen = random.Random(len(known)).sample(known, min(len(known), number + int(DELETED * number)))
    updated, deleted = chosen[:number], chosen[number:]
    head, *records = re.split(r"(?=<PubmedArticle>)", text.removesuffix("</PubmedArticleSet>\n"))
    changed = (
        _RECORD_PMID.sub(rf"\g<1>{pmid}", record) for pmid, record in zip(updated, records, strict=False)
    )
    gone = "".join(f'<PMID Version="1">{pmid}</PMID>' for pmid in deleted)
    return f"{head}{''.join(changed)}<DeleteCitation>{gone}</DeleteCitation></PubmedArticleSet>\n"


def load_files(files: Sequence[Path], index: Path, what: str) -> Row:
    """Load files as one run, and say what it took."""
    spent = Spent()
    report = load(files, index, workers=1)
    return {
        **spent.row(what),
        "records": sum(entry.records for entry in report.loaded),
        "deleted": report.applied.deleted,
        "stale": report.applied.stale,
    }


def in_own_process(index: Path, questions: Path, asked: int) -> Row:
    """So that memory is that of a reader, and nothing of the loading is kept open."""
    command = [sys.executable, "-m", "bench.large", "measure"]
    arguments = ["--index", str(index), "--questions", str(questions), "--asked", str(asked)]
    done = subprocess.run([*command, *arguments], check=True, stdout=subprocess.PIPE)
    row: Row = json.loads(done.stdout)
    return row


def note(report: Path, row: Row) -> None:
    with report.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row) + "\n")
    print(json.dumps(row), flush=True)


def table(rows: Sequence[Row]) -> str:
    """Markdown, one line for each measurement, with the loading since the one before."""
    return "\n".join(_lines(rows))


def _lines(rows: Sequence[Row]) -> Iterator[str]:
    since: dict[str, list[Row]] = {}
    names: list[str] = []
    for row in rows:
        if row["what"] != "measure":
            since.setdefault(row["what"], []).append(row)
            continue
        cells = {**_measure(row), **_spent(since)}
        if names != list(cells):
            names = list(cells)
            yield f"| {' | '.join(names)} |"
            yield "|---" * len(names) + "|"
        yield f"| {' | '.join(cells.values())} |"
        since = {}


def _measure(row: Row) -> dict[str, str]:
    return {
        "citations": f"{row['documents']:,}",
        "GB": f"{sum(row['sizes'].values()) / 1e9:.2f}",
        "segments": str(row["segments"]),
        "open, ms: warm / cold": f"{row['opened_ms']:.0f} / {row['opened_cold_ms']:.0f}",
        "reader, MB": f"{row['memory']['RssAnon'] / 1e6:.0f}",
        **{name: cell(summary) for name, summary in row["milliseconds"].items()},
    }


def _spent(since: Mapping[str, Sequence[Row]]) -> dict[str, str]:
    """What was spent since the measurement before."""
    loads, fills = since.get("load", ()), (*since.get("fill", ()), *since.get("merges", ()))
    (update,) = since.get("update", ()) or (None,)
    return {
        "loaded a second": _each(loads, lambda row: row["seconds"], per_second=True),
        "processor µs each: parsed": _each(loads, lambda row: row["parser_s"]),
        "written": _each(loads, lambda row: row["writer_s"]),
        "recombined and written": _each(fills, lambda row: row["writer_s"]),
        "kB written to disk each": _each(fills, lambda row: row["written_bytes"] / 1e9),
        "writer, MB": f"{max((row['writer_mb'] for row in fills), default=0):,.0f}",
        "update, s (of the processor)": (
            update and f"{update['seconds']:.1f} ({update['writer_s'] + update['parser_s']:.1f})"
        )
        or "",
        "load average": f"{max((row['load'] for row in (*loads, *fills)), default=0):.0f}",
    }


def _each(rows: Sequence[Row], spent: Callable[[Row], float], per_second: bool = False) -> str:
    """Millionths for each record, or records for each."""
    records, total = sum(row["records"] for row in rows), sum(map(spent, rows))
    if not records or not total:
        return ""
    return f"{records / total:,.0f}" if per_second else f"{1e6 * total / records:,.4g}"


def _seconds(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def _written() -> int:
    """Bytes that this process had written to disk."""
    found = re.search(r"write_bytes: (\d+)", Path("/proc/self/io").read_text("ascii"))
    return int(found[1]) if found else 0


if __name__ == "__main__":
    main()
