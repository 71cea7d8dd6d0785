"""Loading: citations per second, of each stage alone and of the whole run, and memory.

    python -m bench.indexing FILE... [--workers N ...]

Stages run in sequence in one process, each on the results of the one before, so their shares show where the
time is spent. The whole run is ``bioqa.indexer.loading.run.load``: parsing processes and a writer.
"""

import argparse
import os
import pickle
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bioqa.bioasq.domain import Document
from bioqa.indexer.loading.parsing import EVENTS_PER_MESSAGE
from bioqa.indexer.loading.run import DEFAULT_WORKERS, load
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.medline.reader import MedlineFile
from bioqa.indexer.medline.sentences import sentences_of
from bioqa.indexer.search.records import Record, encode
from bioqa.indexer.search.tantivy.index import TantivyIndex

SAMPLE = 10_000
"""Number of citations of the first file on which the stages are measured."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--workers", type=int, nargs="+", default=[DEFAULT_WORKERS])
    options = parser.parse_args()
    print(f"{len(os.sched_getaffinity(0))} cores")
    for workers in options.workers:
        report_run(options.files, workers)
    report_stages(options.files[0])


def report_run(files: Sequence[Path], workers: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        report = load(files, Path(folder, "index"), workers=workers)
        with TantivyIndex.open(Path(folder, "index")) as index:
            megabytes = index.stats().size_bytes / 1e6
    records = sum(entry.records for entry in report.loaded)
    # In kibibytes on Linux. Both are peaks since the program began; for children, of the largest one.
    writer, parser = (
        resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(
        f"{workers} parsing processes: {records} citations in {report.seconds:.2f} s, "
        f"{records / report.seconds:,.0f} a second; index {megabytes:.0f} MB; "
        f"peak memory {writer:.0f} MiB writing, {parser:.0f} MiB parsing"
    )


def report_stages(file: Path) -> None:
    documents: list[Document] = []
    records: list[Record] = []
    messages: list[bytes] = []

    def parse() -> None:
        for event in MedlineFile(file):
            if isinstance(event, Upsert):
                documents.append(event.document)
                if len(documents) == SAMPLE:
                    return

    def split() -> None:
        for document in documents:
            sentences_of(document.title, document.abstract, document.parts)

    def pack() -> None:
        records.extend(map(encode, documents))

    def send() -> None:
        messages.extend(
            pickle.dumps(records[i : i + EVENTS_PER_MESSAGE], -1)
            for i in range(0, len(records), EVENTS_PER_MESSAGE)
        )

    def receive() -> None:
        for message in messages:
            pickle.loads(message)

    def write() -> None:
        with tempfile.TemporaryDirectory() as folder, TantivyIndex.create(Path(folder, "index")) as index:
            index.write(records)
            index.commit()

    print(f"stages on {file.name}, alone:")
    time_stage("XML to documents with sentences", parse, documents)
    time_stage("  of which sentences", split, documents)
    time_stage("documents to records", pack, documents)
    time_stage("records to pickles", send, documents)
    time_stage("pickles to records", receive, documents)
    time_stage("records to a committed index", write, documents)


def time_stage(name: str, stage: Callable[[], None], documents: Sequence[Document]) -> None:
    wall, busy = time.perf_counter(), time.process_time()
    stage()
    wall, busy = time.perf_counter() - wall, time.process_time() - busy
    each = 1e6 / len(documents)
    print(f"{name:34} {wall * each:6.1f} µs a citation ({busy * each:6.1f} µs of processor time)")


if __name__ == "__main__":
    main()
