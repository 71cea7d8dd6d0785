"""Loading Elasticsearch: citations a second, processor time and memory, alone or beside the client's helper.

    python -m bench.elastic_loading compare FILE... --url http://127.0.0.1:9200 --server-pid PID [--rounds 3]
    python -m bench.elastic_loading load FILE... --url http://127.0.0.1:9200/NAME --server-pid PID
    python -m bench.elastic_loading fill FILE... --url http://127.0.0.1:9200/NAME --server-pid PID
    python -m bench.elastic_loading parts FILE... --url http://127.0.0.1:9200 --server-pid PID [--rounds 3]

``compare`` loads the same citations in turn with the whole loader (parsing processes and a writer), with the
loader's writing alone, and with ``elasticsearch.helpers.parallel_bulk``, the last two from prepared
citations; each into a new index, which is deleted afterwards. ``load`` fills one index, which is kept, and
reports its size before and after merging; ``fill`` does so with ``--citations`` that are recombined of those
in the files (see ``bench.large_records``) and need not be parsed. ``parts`` writes the same citations whole,
without what their records say beside the text, and so on, in turn: what each part costs.
"""

import argparse
import gc
import json
import os
import resource
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from elasticsearch import Elasticsearch
from elasticsearch.helpers import parallel_bulk

from bench.large import FIRST_PMID
from bench.large_records import Recombining
from bioqa.bioasq.domain import Document
from bioqa.indexer.loading.elastic_target import ElasticTarget, ledger_name
from bioqa.indexer.loading.parsing import EVENTS_PER_MESSAGE
from bioqa.indexer.loading.run import DEFAULT_WORKERS, load
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.medline.reader import read
from bioqa.indexer.search.elastic.address import IndexAddress, parse_address
from bioqa.indexer.search.elastic.bulk import REQUEST_BYTES, SENDERS
from bioqa.indexer.search.elastic.connection import connect
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.indexer.search.elastic.mapping import Shape, source
from bioqa.indexer.search.records import Record, encode

TICKS = os.sysconf("SC_CLK_TCK")

RECOVERABLE_S = 65
"""The server keeps what it may need to recover a copy for twice as long as it takes to hear of the copies."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("compare", "load", "fill", "parts"))
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--url", required=True)
    parser.add_argument("--server-pid", type=int, action="append", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=DEFAULT_WORKERS)
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--citations", type=int, default=300_000)
    options = parser.parse_args()
    address = parse_address(options.url)
    servers = options.server_pid
    if options.what == "load":
        report_load(address, options.files, Shape(options.shards), options.workers, servers)
    elif options.what == "fill":
        fill(address, options.files, Shape(options.shards), options.citations, servers)
    elif options.what == "parts":
        compare_parts(address, options.files, Shape(options.shards), servers, options.rounds)
    else:
        compare(address, options.files, Shape(options.shards), options.workers, servers, options.rounds)


@dataclass
class Cost:
    seconds: float = 0.0
    client_s: float = 0.0
    server_s: float = 0.0
    load: float = 0.0
    """Load average of the last minute, this process included."""

    def row(self, name: str, citations: int) -> str:
        return (
            f"{name:44} {citations / self.seconds:6,.0f} a second   "
            f"µs a citation: client {1e6 * self.client_s / citations:5.0f}, "
            f"server {1e6 * self.server_s / citations:5.0f}   load average {self.load:.1f}"
        )


@contextmanager
def measure(servers: Sequence[int]) -> Iterator[Cost]:
    cost = Cost()
    wall, client, server = time.perf_counter(), own_seconds(), sum(map(seconds_of, servers))
    yield cost
    cost.seconds = time.perf_counter() - wall
    cost.client_s = own_seconds() - client
    cost.server_s = sum(map(seconds_of, servers)) - server
    cost.load = os.getloadavg()[0]


def own_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def seconds_of(pid: int) -> float:
    """Processor time of another process."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / TICKS


def compare(
    address: IndexAddress,
    files: Sequence[Path],
    shape: Shape,
    workers: int,
    servers: Sequence[int],
    rounds: int,
) -> None:
    records = [encode(document) for document in documents_of(files)]
    documents = [(record, json.loads(source(record, order))) for order, record in enumerate(records)]
    gc.freeze()  # the prepared citations must not slow down the collector while measuring
    print(f"{len(records)} citations, {len(os.sched_getaffinity(0))} cores, {workers} parsing processes")
    helper: dict[str, Any] = {
        "thread_count": SENDERS,
        "chunk_size": 100_000,
        "max_chunk_bytes": REQUEST_BYTES,
    }
    ways: dict[str, Callable[[ElasticIndex], None]] = {
        "the loader, parsing included": lambda index: whole(index, files, workers),
        "the loader's writing alone": lambda index: written(index, records),
        "parallel_bulk as it is": lambda index: by_helper(index, documents, {}),
        "parallel_bulk, requests as the loader's": lambda index: by_helper(index, documents, helper),
    }
    for _ in range(rounds):
        for name, way in ways.items():
            with fresh(address, shape) as index:
                gc.collect()
                with measure(servers) as cost:
                    way(index)
                assert index.stats().documents == len(records)
            print(cost.row(name, len(records)), flush=True)


def documents_of(files: Sequence[Path]) -> Iterator[Document]:
    return (event.document for file in files for event in read(file) if isinstance(event, Upsert))


PARTS: dict[str, Callable[[Record], Record]] = {
    "whole": lambda record: record,
    "without keys of filters": lambda record: record._replace(keys=""),
    "without metadata and keys": lambda record: record._replace(metadata=b"", keys=""),
    "text alone, no definitions either": lambda record: record._replace(metadata=b"", keys="", defined=""),
}


def compare_parts(
    address: IndexAddress, files: Sequence[Path], shape: Shape, servers: Sequence[int], rounds: int
) -> None:
    given = [encode(document) for document in documents_of(files)]
    gc.freeze()
    for number in range(rounds):
        for name, part in PARTS.items():
            records = [part(record) for record in given]
            with fresh(address, shape) as index:
                with measure(servers) as cost:
                    written(index, records)
                print(cost.row(name, len(records)), flush=True)
                if number == rounds - 1:
                    report_before_and_after_merging(index.client, index.name, len(records))


@contextmanager
def fresh(address: IndexAddress, shape: Shape) -> Iterator[ElasticIndex]:
    name = f"bioqa-bench-{time.time_ns()}"
    index = ElasticIndex.create(connect(address), IndexAddress(address.hosts, name), shape=shape)
    try:
        yield index
    finally:
        index.client.indices.delete(index=f"{name},{ledger_name(name)}", ignore_unavailable=True)
        index.close()


def whole(index: ElasticIndex, files: Sequence[Path], workers: int) -> None:
    load(files, ElasticTarget(index), workers=workers)


def written(index: ElasticIndex, records: Sequence[Record]) -> None:
    for begin in range(0, len(records), EVENTS_PER_MESSAGE):
        index.write(records[begin : begin + EVENTS_PER_MESSAGE], begin)
    index.drain()
    index.commit()


def by_helper(
    index: ElasticIndex, documents: Sequence[tuple[Record, dict[str, Any]]], settings: dict[str, Any]
) -> None:
    actions = (
        {
            "_index": index.name,
            "_id": str(record.pmid),
            "_version": 1 << 48 | order,
            "_version_type": "external_gte",
            "_source": document,
        }
        for order, (record, document) in enumerate(documents)
    )
    for _ in parallel_bulk(index.client.options(request_timeout=120), actions, **settings):
        pass
    index.commit()


def report_load(
    address: IndexAddress, files: Sequence[Path], shape: Shape, workers: int, servers: Sequence[int]
) -> None:
    client = connect(address).options(request_timeout=7200)
    with ElasticIndex.create(client, address, shape=shape) as index:
        with measure(servers) as cost:
            report = load(files, ElasticTarget(index), workers=workers, progress=None)
        # The run started with an empty index.
        citations = report.applied.upserted
        print(cost.row(f"{shape.shards} shards, {workers} parsing processes", citations))
        writer, parser = (
            resource.getrusage(who).ru_maxrss / 1024
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        print(f"peak memory {writer:.0f} MiB writing, {parser:.0f} MiB parsing (the larger one)")
        print(f"{report.applied}; {len(report.refused)} files refused")
        report_before_and_after_merging(client, index.name, citations, servers)


def fill(
    address: IndexAddress, files: Sequence[Path], shape: Shape, citations: int, servers: Sequence[int]
) -> None:
    records = Recombining([*documents_of(files)]).records(FIRST_PMID)
    client = connect(address).options(request_timeout=7200)
    with ElasticIndex.create(client, address, shape=shape) as index:
        with measure(servers) as cost:
            for begin in range(0, citations, EVENTS_PER_MESSAGE):
                index.write([*islice(records, EVENTS_PER_MESSAGE)], begin)
            index.drain()
            index.commit()
        print(cost.row(f"{shape.shards} shards, recombining included", citations))
        report_before_and_after_merging(client, index.name, citations)


def report_before_and_after_merging(
    client: Elasticsearch, name: str, citations: int, servers: Sequence[int] = ()
) -> None:
    client = client.options(request_timeout=7200)
    report_sizes(client, name, citations, "as loaded")
    time.sleep(RECOVERABLE_S)
    with measure(servers) as cost:
        client.indices.forcemerge(index=name, max_num_segments=1)
    print(f"merging: {cost.seconds:.0f} s, {cost.server_s:.0f} s of processor time")
    report_sizes(client, name, citations, "merged")


def report_sizes(client: Elasticsearch, name: str, citations: int, when: str) -> None:
    """Bytes a citation, in all and of each field: what is stored of it, and what it is searched or sorted by.

    ``_recovery_source`` is what was sent, kept beside ``_source`` where that leaves something out. Merging
    drops it of citations that were written half a minute before, and are in all copies.
    """
    with warnings.catch_warnings():
        # The server calls this API a preview. The index's statistics may be ten seconds old.
        warnings.simplefilter("ignore")
        usage = client.indices.disk_usage(index=name, run_expensive_tasks=True)[name]
    segments = client.indices.stats(index=name, metric="segments")["_all"]["primaries"]["segments"]["count"]
    size = usage["store_size_in_bytes"]
    fields = {field: each["total_in_bytes"] / citations for field, each in usage["fields"].items()}
    largest = sorted(fields.items(), key=lambda each: -each[1])
    print(f"{when}: {size / 1e6:,.0f} MB, {size / citations:.0f} bytes a citation, {segments} segments")
    print(
        "  of fields: " + ", ".join(f"{field} {each:.0f}" for field, each in largest if each >= 1), flush=True
    )


if __name__ == "__main__":
    main()
