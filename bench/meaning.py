"""What vectors add: articles among the candidates, and the weight of closeness in meaning in ranking.

    python -m bench.meaning --index INDEX [--golden GOLDEN] [--judged FILE]... [--weights 0 1 2 3 4 8]

``--golden``: questions of BioASQ, by the share of gold documents that is found. ``--judged``: questions with
judged sentences (``judged``: pmid, section, begin, end, grade; 2 answers), by whether an article that answers
is found, and by whether the first sentence, or one of the first three, answers. The index needs vectors.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

from bioqa.app.answers.answering import Retrieved, rank_and_select, retrieve
from bioqa.app.answers.question import Options
from bioqa.app.answers.vectors import Retrieval
from bioqa.bioasq.domain import PUBMED_URL, Question, Response
from bioqa.bioasq.files import read_golden
from bioqa.bioasq.measures import per_question
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.answers import meaning
from bioqa.models.answers.ranking import RankedSentence, Selection
from bioqa.models.reranker import Reranker

DEPTHS = (10, 20, 100)
ANSWERS = 2
"""The grade of a sentence that answers."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question, and what is right."""

    question: Question
    articles: frozenset[str]
    """PMIDs of those that answer."""
    judged: Sequence[Mapping[str, Any]] = ()
    """Sentences that answer."""
    gold: Response | None = None
    """None for judged questions."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--golden", type=Path, action="append", default=[])
    parser.add_argument("--judged", type=Path, action="append", default=[])
    parser.add_argument("--weights", type=float, nargs="*", default=[0.0, meaning.WEIGHT])
    options = parser.parse_args()
    sets = {path.name: [*golden_cases(path)] for path in options.golden}
    sets |= {path.name: [*judged_cases(path)] for path in options.judged}
    ranker = Reranker.load()
    with TantivyIndex.open(options.index) as index:
        for name, cases in sets.items():
            print(f"{name}: {len(cases)} questions")
            retrieved: list[Retrieved] = []
            for way in get_args(Retrieval):
                retrieved = [retrieve(index, case.question, Options(retrieval=way)) for case in cases]
                print(f"  {way:8} {report_candidates(cases, retrieved)}", flush=True)
            for weight in options.weights:
                selections = select_all(ranker, retrieved, weight)
                print(f"  weight {weight:4} {report_answers(cases, selections)}", flush=True)


def golden_cases(path: Path) -> Iterator[Case]:
    for response in read_golden(path).responses:
        articles = frozenset(url.removeprefix(PUBMED_URL) for url in response.documents)
        if articles:
            yield Case(response.question, articles, gold=response)


def judged_cases(path: Path) -> Iterator[Case]:
    """The questions that a judged sentence answers."""
    for entry in json.loads(path.read_text(encoding="utf-8")):
        judged = [judgment for judgment in entry["judged"] if judgment["grade"] == ANSWERS]
        if judged:
            articles = frozenset(judgment["pmid"] for judgment in judged)
            yield Case(Question(entry["id"], entry["body"]), articles, judged)


def report_candidates(cases: Sequence[Case], retrieved: Sequence[Retrieved]) -> str:
    shares: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    for case, question in zip(cases, retrieved, strict=True):
        pmids = [candidate.document.pmid for candidate in question.candidates]
        for depth, values in shares.items():
            right = len(case.articles.intersection(pmids[:depth]))
            values.append(float(right > 0) if case.gold is None else right / len(case.articles))
    return "   ".join(f"@{depth} {fmean(values):.3f}" for depth, values in shares.items())


def select_all(ranker: Reranker, retrieved: Sequence[Retrieved], weight: float) -> list[Selection]:
    """The answers, if closeness in meaning has this weight."""
    shipped, meaning.WEIGHT = meaning.WEIGHT, weight
    try:
        return [rank_and_select(ranker, [question])[0].selection for question in retrieved]
    finally:
        meaning.WEIGHT = shipped


def report_answers(cases: Sequence[Case], selections: Sequence[Selection]) -> str:
    golden = [case.gold for case in cases if case.gold is not None]
    if golden:
        answers = [
            selection.response(case.question) for case, selection in zip(cases, selections, strict=True)
        ]
        measures = per_question(golden, answers, 9)
        average_precision = fmean(question.documents.average_precision for question in measures)
        return f"MAP {average_precision:.4f}   F1 {fmean(question.snippets.f1 for question in measures):.4f}"
    rows = []
    for case, selection in zip(cases, selections, strict=True):
        right = [answers_it(sentence, case.judged) for sentence in selection.sentences]
        among_ten = not case.articles.isdisjoint(ranked.document.pmid for ranked in selection.documents)
        rows.append((any(right[:1]), any(right[:3]), among_ten))
    first, three, article = (fmean(column) for column in zip(*rows, strict=True))
    return f"P@1 {first:.3f}   S@3 {three:.3f}   an article that answers among the ten {article:.3f}"


def answers_it(ranked: RankedSentence, judged: Sequence[Mapping[str, Any]]) -> bool:
    """Whether half of the shorter of the sentence and one that answers is the same text."""
    sentence, pmid = ranked.sentence, ranked.document.pmid
    for judgment in judged:
        if (judgment["pmid"], judgment["section"]) == (pmid, sentence.section):
            begin, end = int(judgment["begin"]), int(judgment["end"])
            shared = min(end, sentence.end) - max(begin, sentence.begin)
            if shared > 0 and 2 * shared >= min(end - begin, sentence.end - sentence.begin):
                return True
    return False


if __name__ == "__main__":
    main()
