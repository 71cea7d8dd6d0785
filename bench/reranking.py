"""Re-ranking 100 documents and answering end to end: milliseconds a question, and where they go.

    python -m bench.reranking --index DIR --questions FILE [--ranker NAME] [--first N] [--brief]

Warm: the model has run before. Cold documents have never been tokenised by this process, the usual case on
all of MEDLINE: the first half of the questions goes before, so that the words that most texts have are known,
and the other half is timed. Known documents come from the ranker's cache. Stored ones have never been in the
process's memory either, but in the file that `bioqa tokens` makes: rows with it are there if it is beside the
index, and the system's cache may hold its pages, as it may those of the index.
"""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles

import numpy as np
import torch

from bioqa.app.settings import load_settings
from bioqa.bioasq.domain import Candidate
from bioqa.bioasq.files import read_golden
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.answers.selection import select
from bioqa.models.bundled import DEFAULT
from bioqa.models.features.extractor import FeatureExtractor
from bioqa.models.rankers.batch import collate
from bioqa.models.reranker import Reranker
from bioqa.models.text.stored_tokens import TokensBeside, file_name
from bioqa.models.text.strings import KnownStrings
from bioqa.models.text.tokens import tokenise_documents, tokenise_question

WARM_UP = 20

Work = Callable[[str, list[Candidate]], object]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--ranker", default=DEFAULT)
    parser.add_argument(
        "--first",
        type=int,
        help="only the first N questions; a ranker over an encoder takes seconds for each",
    )
    parser.add_argument("--brief", action="store_true", help="only re-ranking of cold documents")
    options = parser.parse_args()
    responses = read_golden(options.questions).responses[: options.first]
    questions = [response.question.body for response in responses]
    rankers = _rankers(options.ranker, options.index)
    torch.set_num_threads(load_settings().threads(encoder=rankers["cold"].reads_pieces))
    with TantivyIndex.open(options.index) as index:
        found = [index.search(question, 100) for question in questions]
        sentences = [sum(len(c.document.sentences) for c in candidates) for candidates in found]
        print(
            f"{options.ranker}, {len(questions)} questions, {torch.get_num_threads()} threads; "
            f"{median(map(len, found)):.0f} documents and {median(sentences):.0f} sentences a question"
        )
        half = 2 if options.brief else len(questions) // 2
        _report(
            {f"re-rank, {name} documents": ranker.rank for name, ranker in rankers.items()},
            questions,
            found,
            half,
            half,
        )
        if options.brief:
            return
        known = Reranker.load(options.ranker, cached_documents=1_000_000)
        for question, candidates in zip(questions, found, strict=True):
            known.rank(question, candidates)
        _report({"re-rank, known documents": known.rank}, questions, found)

        # Anew: these know the strings of all questions by now.
        rankers = _rankers(options.ranker, options.index)

        def whole(ranker: Reranker) -> Work:
            return lambda question, _: select(
                ranker.rank(question, index.search(question, 100)), ranker.calibration
            )

        _report(
            {f"retrieve, re-rank ({name}) and select": whole(ranker) for name, ranker in rankers.items()},
            questions,
            found,
            half,
            half,
        )
        folder = options.index if "stored" in rankers else None
        _stages(rankers["cold"], questions, found, half, folder)
        _together(known, questions, found)


def _rankers(name: str, folder: Path) -> dict[str, Reranker]:
    """Rankers that have seen no document; the second reads tokens in the index's folder, if there are any."""
    cold, stored = (Reranker.load(name, cached_documents=0) for _ in range(2))
    if not (folder / file_name(stored.vocabulary)).exists():
        return {"cold": cold}
    stored.read_stored_tokens(folder)
    return {"cold": cold, "stored": stored}


def _report(
    works: Mapping[str, Work],
    questions: Sequence[str],
    found: Sequence[list[Candidate]],
    warm_up: int = WARM_UP,
    timed_from: int = 0,
) -> None:
    """Works are done in turn for each question: what else the machine does slows them alike."""
    for question, candidates in zip(questions[:warm_up], found[:warm_up], strict=True):
        for work in works.values():
            work(question, candidates)
    times: dict[str, list[float]] = {name: [] for name in works}
    asked = [*zip(questions[timed_from:], found[timed_from:], strict=True)]
    for number, (question, candidates) in enumerate(asked):
        # The one that comes second finds what it reads in the processor's caches.
        for name in sorted(works, reverse=number % 2 == 1):
            begun = time.perf_counter()
            works[name](question, candidates)
            times[name].append(1000 * (time.perf_counter() - begun))
    for name, spent in times.items():
        print(f"{name:38} p50 {median(spent):6.2f} ms   p95 {quantiles(spent, n=20)[-1]:6.2f} ms", flush=True)


def _together(ranker: Reranker, questions: Sequence[str], found: Sequence[list[Candidate]]) -> None:
    """Speed-up of ranking several questions in one pass, with cached documents; both ways in turn."""
    for count in (2, 4, 8):
        ratios = []
        for begin in range(0, len(questions) - count + 1, count):
            items = list(zip(questions, found, strict=True))[begin : begin + count]
            marks = [time.perf_counter()]
            for item in items:
                ranker.rank(*item)
            marks.append(time.perf_counter())
            ranker.rank_many(items)
            marks.append(time.perf_counter())
            ratios.append((marks[1] - marks[0]) / (marks[2] - marks[1]))
        print(f"{count} questions in one pass: {median(ratios):.2f} × as fast as one by one (median)")


def _stages(
    ranker: Reranker,
    questions: Sequence[str],
    found: Sequence[list[Candidate]],
    half: int,
    folder: Path | None,
) -> None:
    """Medians of the stages of re-ranking cold documents, of the questions from ``half`` on.

    ``folder``: of the index, if tokens are stored there.
    """
    loaded = ranker.checkpoint
    vocabulary, extract = loaded.vocabulary, FeatureExtractor(loaded.vocabulary)
    names = ("tokenise", "or read stored", "features", "collate", "model")
    spent: dict[str, list[float]] = {name: [] for name in names}
    strings = KnownStrings(vocabulary)
    stored = None if folder is None else TokensBeside(folder, vocabulary)
    for candidates in found[:half]:
        tokenise_documents([c.document for c in candidates], vocabulary, strings)
    for question, candidates in zip(questions[half:], found[half:], strict=True):
        documents = [candidate.document for candidate in candidates]
        marks = [time.perf_counter()]
        tokens = tokenise_documents(documents, vocabulary, strings)
        marks.append(time.perf_counter())
        if stored is not None:
            stored(documents)
        marks.append(time.perf_counter())
        bm25 = np.array([candidate.score for candidate in candidates], dtype=np.float32)
        extract(tokenise_question(question, vocabulary), tokens, bm25)
        marks.append(time.perf_counter())
        # Tokens and features are taken from a warm cache here, so that only the rest is new.
        example, _ = ranker.example(question, candidates)
        begun = time.perf_counter()
        batch = collate([example], vocabulary)
        collated = time.perf_counter()
        with torch.inference_mode():
            loaded.model(batch)
        ends = (*np.diff(marks).tolist(), collated - begun, time.perf_counter() - collated)
        for name, seconds in zip(names, ends, strict=True):
            spent[name].append(1000 * seconds)
    print("of which: " + ", ".join(f"{name} {median(spent[name]):.2f} ms" for name in names))


if __name__ == "__main__":
    main()
