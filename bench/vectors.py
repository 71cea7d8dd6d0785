"""What vectors cost: a question's, an index's by its size, and memory.

    python -m bench.vectors nearest [--citations 1000000]
    python -m bench.vectors encode --index DIR [--threads 2]

``nearest`` searches a file of random vectors; its questions compare with all of them, or with those that a
filter lets pass. ``encode`` measures questions and citations with the bundled encoder.
"""

import argparse
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import torch

from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.indexer.vectors.file import (
    EncoderRecord,
    VectorFile,
    VectorsError,
    file_name,
    header_of,
    record_type,
)
from bioqa.models import bundled
from bioqa.models.encoders.vectors import VectorEncoder

WIDTH = 256
SHARES = (1.0, 0.5, 0.01, 0.0001)
QUESTIONS = (
    "Does metformin lower mortality in heart failure?",
    "what helps against hiccups that last for days",
    "Which genes influence the dose of warfarin?",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("nearest").add_argument("--citations", type=int, default=1_000_000)
    encoding = commands.add_parser("encode")
    encoding.add_argument("--index", type=Path, required=True)
    encoding.add_argument("--threads", type=int, default=2)
    encoding.add_argument("--citations", type=int, default=2000)
    options = parser.parse_args()
    if options.command == "nearest":
        with TemporaryDirectory() as folder:
            nearest(Path(folder), options.citations)
    else:
        encode(options.index, options.threads, options.citations)


def nearest(folder: Path, citations: int) -> None:
    encoder = EncoderRecord("random", "0" * 64, WIDTH)
    random = np.random.default_rng(0)
    path = folder / file_name(encoder)
    with path.open("wb") as file:
        file.write(header_of(encoder))
        for begin in range(0, citations, 100_000):
            count = min(100_000, citations - begin)
            records = np.zeros(count, dtype=record_type(WIDTH))
            records["pmid"], records["scale"] = np.arange(begin + 1, begin + count + 1), 1 / 127
            records["codes"] = random.integers(-40, 41, (count, WIDTH))
            file.write(records.tobytes())
    print(f"{citations:,} citations, {path.stat().st_size / citations:.0f} bytes each")
    began = time.perf_counter()
    opened = VectorFile.open(path)
    print(f"opened in {1000 * (time.perf_counter() - began):.0f} ms")
    question = random.standard_normal(WIDTH).astype(np.float32)
    for share in SHARES:
        passing = None if share == 1 else random.permutation(citations)[: int(share * citations)] + 1

        def once(passing: np.ndarray[tuple[int], np.dtype[np.int64]] | None = passing) -> None:
            with suppress(VectorsError):  # records of random bytes have no checksums
                opened.nearest(question, 100, passing)

        print(f"{share:8.2%} pass: {_milliseconds(once, 15)}")


def encode(folder: Path, threads: int, citations: int) -> None:
    torch.set_num_threads(threads)
    loaded = VectorEncoder.load(bundled.vector_encoder(bundled.VECTOR_ENCODER), device="cpu")
    with TantivyIndex.open(folder) as index:
        documents = [*islice(index.documents(), citations)]
    began = time.perf_counter()
    loaded.passages(documents)
    print(f"{len(documents) / (time.perf_counter() - began):.0f} citations a second, {threads} threads")
    for question in QUESTIONS:
        print(f"{_milliseconds(partial(loaded.questions, [question]), 60)}: {question}")


def _milliseconds(call: Callable[[], object], times: int) -> str:
    found = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        found.append(1000 * (time.perf_counter() - began))
    return f"median {median(found):.1f} ms, least {min(found):.1f}"


if __name__ == "__main__":
    main()
