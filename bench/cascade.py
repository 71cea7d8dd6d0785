"""A cascade beside its cheap ranker and tuned BM25: documents, snippets, sentences, and time by budget.

    python -m bench.cascade --cascade DIR --index INDEX --dev GOLDEN --test GOLDEN [--questions N]

Both samples of questions are random and always the same. BM25's constants and its selection are tuned on
dev; the others select as they ship. p: approximate randomisation, single-tailed, of being better than
BM25+BM25 and than the cheap ranker.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from statistics import median, quantiles

import numpy as np
import torch

from bioqa.bioasq.domain import Candidate
from bioqa.bioasq.files import read_golden
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.answers.calibration import calibrate
from bioqa.models.answers.evaluation import SentenceCase, measure, sentence_auc
from bioqa.models.answers.ranking import Ranking
from bioqa.models.answers.selection import Calibration
from bioqa.models.cascade import files as cascade_files
from bioqa.models.cascade.ranker import BUDGET_MS, Cascade
from bioqa.models.cascade.tuning import ranking_of, read_questions
from bioqa.models.experiments import baselines
from bioqa.models.experiments.results import paired_p
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.baseline import tune_bm25, tuned_bm25
from bioqa.models.training.data import Prepared, prepare
from bioqa.models.training.development import rankings_of
from bioqa.models.training.sampling import sample


@dataclass(frozen=True, slots=True)
class System:
    """Measures of one system on the sample of test."""

    name: str
    documents: tuple[float, ...]
    """[questions] average precision, edition 8"""
    snippets: tuple[float, ...]
    """[questions] F1"""
    sentence_auc: float


def systems(
    cascade: Cascade,
    dev: Sequence[Prepared],
    test: Sequence[Prepared],
    budgets_ms: Sequence[float],
    documents: int,
) -> list[System]:
    """BM25+BM25, the cheap ranker, and the cascade at each budget."""
    made = [_bm25(cascade.first.checkpoint.vocabulary, dev, test)]
    bodies = [q.response.question.body.strip() for q in test]
    first = [cascade.first.rank(body, q.retrieved.candidates) for body, q in zip(bodies, test, strict=True)]
    cheap, read = _gold_cases(cascade, test)
    made.append(_system(cascade.first.name, test, first, cascade.first.calibration, cheap))
    read_once = read_questions(cascade, test, documents, sentences=cascade.combination.most_sentences)
    for budget_ms in budgets_ms:
        pieces = cascade.speed.pieces(budget_ms)
        rankings = [ranking_of(q, cascade.combination, pieces) for q in read_once]
        name = f"{cascade.name}, {budget_ms:.0f} ms, {pieces} pieces"
        made.append(_system(name, test, rankings, cascade.calibration, read))
    return made


def _bm25(vocabulary: Vocabulary, dev: Sequence[Prepared], test: Sequence[Prepared]) -> System:
    grid = tune_bm25(dev, vocabulary)
    k1, b = max(grid, key=lambda constants: grid[constants])
    scored = [
        baselines.with_sentence_bm25(questions, tuned_bm25(questions, vocabulary, k1, b), stemmed=True)
        for questions in (dev, test)
    ]
    calibration, _ = calibrate(rankings_of(dev, scored[0]), [q.response for q in dev])
    cases = []
    for question, scores in zip(test, scored[1], strict=True):
        ends = np.cumsum([len(c.document.sentences) for c in question.gold.candidates])[:-1]
        split = (np.split(values, ends) for values in (scores.gold_sentences, question.gold.labels))
        cases += [SentenceCase(s, labels) for s, labels in zip(*split, strict=True)]
    name = f"BM25+BM25 (k1 {k1}, b {b}, stemmed)"
    return _system(name, test, rankings_of(test, scored[1]), calibration, cases)


def _gold_cases(cascade: Cascade, test: Sequence[Prepared]) -> tuple[list[SentenceCase], list[SentenceCase]]:
    """Every sentence of the gold documents, by the cheap ranker and by the cascade, which reads them all."""
    cheap: list[SentenceCase] = []
    read: list[SentenceCase] = []
    for question in test:
        body = question.response.question.body.strip()
        begin = 0
        for candidate in question.gold.candidates:
            end = begin + len(candidate.document.sentences)
            labels = question.gold.labels[begin:end]
            begin = end
            if labels.all() or not labels.any():
                continue
            (ranked,) = cascade.first.rank(body, [candidate]).documents
            reading = cascade.read(body, [ranked], inf, cascade.combination.most_sentences)
            (combined,) = cascade.combination.apply([ranked], reading)
            for cases, of in ((cheap, ranked), (read, combined)):
                cases.append(SentenceCase(np.array(of.sentence_scores), labels))
    return cheap, read


def _system(
    name: str,
    test: Sequence[Prepared],
    rankings: Sequence[Ranking],
    calibration: Calibration,
    cases: Sequence[SentenceCase],
) -> System:
    measures = measure(rankings, [q.response for q in test], calibration)
    return System(
        name,
        tuple(m.documents.average_precision for m in measures),
        tuple(m.snippets.f1 for m in measures),
        sentence_auc(cases),
    )


def table(made: Sequence[System]) -> list[str]:
    """In Markdown; p of document MAP and snippet F1 against the first two systems."""
    head = ["system", "document MAP", "snippet F1", "sentence AUC", "p BM25", "p cheap"]
    lines = [head, ["---"] * len(head)]
    for system in made:
        cells = [system.name, *(f"{np.mean(v):.3f}" for v in (system.documents, system.snippets))]
        ps = [
            ""
            if system is other
            else f"{_p(system.documents, other.documents):.3f} / {_p(system.snippets, other.snippets):.3f}"
            for other in made[:2]
        ]
        lines.append([*cells, f"{system.sentence_auc:.3f}", *ps])
    return [f"| {' | '.join(cells)} |" for cells in lines]


def _p(system: Sequence[float], other: Sequence[float]) -> float:
    return paired_p(np.array(system), np.array(other))


def _sample(path: Path, count: int, index: TantivyIndex, vocabulary: Vocabulary) -> list[Prepared]:
    return prepare(index, sample(read_golden(path).responses, count), vocabulary)


def _time(cascade: Cascade, asked: Sequence[tuple[str, Sequence[Candidate]]]) -> None:
    for body, candidates in asked[:3]:
        cascade.rank(body, candidates)
    times = []
    for body, candidates in asked:
        begun = time.perf_counter()
        cascade.rank(body, candidates)
        times.append(1000 * (time.perf_counter() - begun))
    print(
        f"budget {cascade.budget_ms:.0f} ms, {torch.get_num_threads()} threads, {len(times)} questions: "
        f"p50 {median(times):.0f} ms, p95 {quantiles(times, n=20)[-1]:.0f} ms",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cascade", type=Path, required=True)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument(
        "--questions", type=int, default=100, help="size of the random samples of dev and test"
    )
    parser.add_argument("--documents", type=int, default=12, help="documents that are read at most")
    parser.add_argument("--budgets", type=float, nargs="+", default=[BUDGET_MS])
    parser.add_argument("--timed", type=int, default=20, help="questions to time")
    options = parser.parse_args()
    cascade = cascade_files.load(options.cascade)
    vocabulary = cascade.first.checkpoint.vocabulary
    with TantivyIndex.open(options.index) as index:
        dev, test = (_sample(p, options.questions, index, vocabulary) for p in (options.dev, options.test))
    print(f"{len(test)} test questions", flush=True)
    for line in table(systems(cascade, dev, test, options.budgets, options.documents)):
        print(line, flush=True)
    asked = [(q.response.question.body, q.retrieved.candidates) for q in test[: options.timed]]
    for budget_ms in options.budgets if len(asked) > 1 else ():
        cascade.budget_ms = budget_ms
        _time(cascade, asked)


if __name__ == "__main__":
    main()
