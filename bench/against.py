"""The speed of this checkout beside another one, question by question in one run, and whether scores differ.

    python -m bench.against CHECKOUT --index DIR --questions GOLDEN [--ranker NAME] [--first N] [--threads N]

For each question two processes, one of either checkout, retrieve, re-rank documents that they have never
seen (but that may be stored beside the index, by `bioqa tokens` of either checkout), and select, in turn:
whatever else the machine does, it does to both, so that the ratio holds even where the times do not. The
first half of the questions goes before, as in ``bench.reranking``.
"""

import argparse
import hashlib
import json
import os
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import torch

from bioqa.bioasq.files import read_golden
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.answers.selection import select
from bioqa.models.bundled import DEFAULT
from bioqa.models.reranker import Reranker

HERE = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path, help="the root of the other checkout")
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--ranker", default=DEFAULT)
    parser.add_argument("--first", type=int, help="only the first N questions")
    parser.add_argument("--threads", type=int, default=1, help="of torch, in either process")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        answer_all(options.index, options.ranker, options.threads)
        return
    questions = [each.question.body for each in read_golden(options.questions).responses[: options.first]]
    checkouts = [options.checkout.resolve(), HERE]
    workers = [start(checkout, options) for checkout in checkouts]
    answers: list[list[Answered]] = [[], []]
    for number, question in enumerate(questions):
        # The one that comes second finds the index's pages in the processor's caches.
        for which in (0, 1) if number % 2 else (1, 0):
            answers[which].append(ask(workers[which], question))
    for worker in workers:
        worker.communicate()
    print(report(options.ranker, answers[0], answers[1]))


@dataclass(frozen=True)
class Answered:
    milliseconds: float
    processor_milliseconds: float
    digest: str
    """A hash of all documents and scores."""


def answer_all(index_folder: Path, name: str, threads: int) -> None:
    """Answer a question a line; a line for each."""
    torch.set_num_threads(threads)
    ranker = Reranker.load(name, cached_documents=0)
    # Older checkouts have none.
    if read := getattr(ranker, "read_stored_tokens", None):
        read(index_folder)
    with TantivyIndex.open(index_folder) as index:
        for line in sys.stdin:
            question: str = json.loads(line)
            begun, begun_working = time.perf_counter(), time.process_time()
            ranking = ranker.rank(question, index.search(question, 100))
            select(ranking, ranker.calibration)
            spent = time.perf_counter() - begun, time.process_time() - begun_working
            digest = hashlib.sha256()
            for each in ranking.documents:
                scores = each.score, *each.sentence_scores
                digest.update(each.document.pmid.encode() + struct.pack(f"<{len(scores)}d", *scores))
            print(json.dumps([1000 * spent[0], 1000 * spent[1], digest.hexdigest()]), flush=True)


def start(checkout: Path, options: argparse.Namespace) -> "subprocess.Popen[str]":
    # This file, with the modules of either checkout.
    command = [sys.executable, "-P", str(Path(__file__).resolve()), str(checkout), "--worker"]
    command += ["--index", str(options.index.resolve()), "--questions", str(options.questions)]
    command += ["--ranker", options.ranker, "--threads", str(options.threads)]
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )


def ask(worker: "subprocess.Popen[str]", question: str) -> Answered:
    assert worker.stdin
    assert worker.stdout
    worker.stdin.write(json.dumps(question) + "\n")
    worker.stdin.flush()
    values: list[Any] = json.loads(worker.stdout.readline())
    return Answered(*values)


def report(ranker: str, others: Sequence[Answered], ours: Sequence[Answered]) -> str:
    half = len(ours) // 2
    pairs = [*zip(others, ours, strict=True)]
    equal = sum(other.digest == our.digest for other, our in pairs)
    ratios = [other.milliseconds / our.milliseconds for other, our in pairs[half:]]
    working = [other.processor_milliseconds / our.processor_milliseconds for other, our in pairs[half:]]
    lines = [f"{ranker}: all scores equal to the last bit for {equal} of {len(pairs)} questions"]
    for name, answered in (("the other checkout", others), ("this one", ours)):
        times = [each.milliseconds for each in answered[half:]]
        spent = median(each.processor_milliseconds for each in answered[half:])
        lines.append(
            f"{name:20} p50 {median(times):7.2f} ms   p95 {quantiles(times, n=20)[-1]:7.2f} ms   "
            f"processor {spent:7.2f} ms (median)"
        )
    lines.append(
        f"{median(ratios):.2f} × as fast, {median(working):.2f} × in processor time (median of ratios)"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
