"""Elasticsearch compared with the embedded index: quality on a golden file, agreement, query times.

    python -m bench.elastic parity FILE... --url http://127.0.0.1:9200 --questions GOLDEN [--shards 3]
    python -m bench.elastic queries --url http://127.0.0.1:9200/NAME --questions GOLDEN [--rounds 3]

``parity`` loads the MEDLINE files into a temporary folder, and into two indices of the server, one with the
default k1 and b and one with tantivy's, which are deleted afterwards. ``queries`` measures an existing index.
The measures are those of bench.retrieval. Filters are those of bench.large_queries that some document passes.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import TypeVar

import numpy as np

from bench.large_queries import FILTERS
from bioqa.bioasq.domain import DEFAULT_DOCUMENTS, DEPTH, Candidate
from bioqa.bioasq.files import read_golden
from bioqa.bioasq.measures import document_measures
from bioqa.indexer.loading.elastic_target import ElasticTarget, ledger_name
from bioqa.indexer.loading.run import load
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.elastic.address import IndexAddress, parse_address
from bioqa.indexer.search.elastic.connection import connect
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.indexer.search.elastic.mapping import DEFAULT_SHAPE, Shape
from bioqa.indexer.search.filtering.filters import Filters
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.experiments.results import paired_p

TOP = 100
TANTIVYS = (1.2, 0.75)
"""k1 and b of tantivy, which cannot be changed."""

QUESTIONS_PER_REQUEST = 16
"""Questions in one multi-search request."""

LIMIT = Filters(published_before=date(2015, 1, 1))

Query = TypeVar("Query")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("parity", "queries"))
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--url", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    golden = read_golden(options.questions).responses
    questions = [response.question.body for response in golden]
    address = parse_address(options.url)
    if options.what == "queries":
        with ElasticIndex.open(connect(address), address) as index:
            report_speed(index, questions, options.rounds)
        return
    with tempfile.TemporaryDirectory() as folder:
        load(options.files, Path(folder, "index"))
        with TantivyIndex.open(Path(folder, "index")) as embedded:
            gold = [response.documents for response in golden]
            reference = Retrieval.of(embedded, questions, gold)
            print(reference.row("tantivy, k1 1.2 b .75", reference))
            for shape in (Shape(options.shards, 0, *TANTIVYS), Shape(options.shards)):
                with load_index(address, options.files, shape) as index:
                    run = Retrieval.of(index, questions, gold)
                    print(run.row(f"Elasticsearch, k1 {shape.k1} b {shape.b}", reference), flush=True)
                    if shape == Shape(options.shards):
                        report_speed(embedded, questions, options.rounds)
                        report_speed(index, questions, options.rounds)


@contextmanager
def load_index(
    address: IndexAddress, files: Sequence[Path], shape: Shape = DEFAULT_SHAPE
) -> Iterator[ElasticIndex]:
    """Yield an index of these files, merged into one segment; it is deleted afterwards."""
    name = f"bioqa-bench-{time.time_ns()}"
    client = connect(address).options(request_timeout=3600)
    index = ElasticIndex.create(client, IndexAddress(address.hosts, name), shape=shape)
    try:
        load(files, ElasticTarget(index))
        client.indices.forcemerge(index=name, max_num_segments=1)
        yield index
    finally:
        client.indices.delete(index=f"{name},{ledger_name(name)}")
        index.close()


@dataclass(frozen=True)
class Retrieval:
    """An index's candidates for each question, and their measures."""

    candidates: list[list[Candidate]]
    recalls: list[float]
    precisions: list[float]

    @classmethod
    def of(cls, index: SearchIndex, questions: Sequence[str], golden: Sequence[Sequence[str]]) -> "Retrieval":
        found = [index.search(question, TOP) for question in questions]
        measures = [
            (
                document_measures(gold, urls, 8).recall,
                document_measures(gold, urls[:DEPTH], 8).average_precision,
            )
            for gold, urls in zip(
                golden, ([c.document.url for c in candidates] for candidates in found), strict=True
            )
        ]
        return cls(found, [recall for recall, _ in measures], [precision for _, precision in measures])

    def row(self, name: str, beside: "Retrieval") -> str:
        pairs = list(zip(self.candidates, beside.candidates, strict=True))
        same = fmean(urls(a) == urls(b) for a, b in pairs)
        first = fmean(urls(a)[:DEPTH] == urls(b)[:DEPTH] for a, b in pairs)
        shared = fmean(len(set(urls(a)) & set(urls(b))) / max(1, len(a), len(b)) for a, b in pairs)
        p = paired_p(np.array(self.precisions), np.array(beside.precisions))
        return (
            f"{name:32} recall@{TOP} {fmean(self.recalls):.4f}  MAP@10 {fmean(self.precisions):.4f} "
            f"(p {p:.2f})   top {TOP} shared {shared:.2%}, "
            f"all in the same order {same:.1%}, first ten {first:.1%}"
        )


def urls(candidates: Sequence[Candidate]) -> list[str]:
    return [candidate.document.url for candidate in candidates]


def report_speed(index: SearchIndex, questions: Sequence[str], rounds: int) -> None:
    stats = index.stats()
    print(
        f"{stats.name}: {stats.documents} documents, {stats.size_bytes / 1e6:.0f} MB; "
        f"{len(questions)} questions, top {TOP}"
    )
    several = [
        questions[begin : begin + QUESTIONS_PER_REQUEST]
        for begin in range(0, len(questions), QUESTIONS_PER_REQUEST)
    ]
    passing = {name: index.count(None, filters) / stats.documents for name, filters in FILTERS.items()}
    report_times("first round, one by one", lambda q: index.search(q, TOP), questions, 1)
    for _ in range(rounds):
        report_times("one by one", lambda q: index.search(q, TOP), questions, 1)
        report_times("with a date limit", lambda q: index.search(q, TOP, LIMIT), questions, 1)
        report_times("the ten best", lambda q: index.search(q, DEFAULT_DOCUMENTS), questions, 1)
        report_times(
            f"{QUESTIONS_PER_REQUEST} together, each",
            lambda some: index.search_many(some, TOP),
            several,
            QUESTIONS_PER_REQUEST,
        )
        for name, share in passing.items():
            if share:
                ask = partial(index.search, size=TOP, filters=FILTERS[name])
                report_times(f"{name}, which {share:.2%} pass", ask, questions, 1)


def report_times(name: str, ask: Callable[[Query], object], questions: Sequence[Query], each: int) -> None:
    times = []
    for question in questions:
        begun = time.perf_counter()
        ask(question)
        times.append(1000 * (time.perf_counter() - begun) / each)
    print(f"  {name:36} p50 {median(times):6.2f} ms   p95 {quantiles(times, n=20)[-1]:6.2f} ms", flush=True)


if __name__ == "__main__":
    main()
