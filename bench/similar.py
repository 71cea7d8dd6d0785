"""How many of the articles that answer the same question are similar articles of each other.

    python -m bench.similar --index DIR --questions GOLDEN

Up to ``--articles`` of a question's relevant articles are looked up in turn. A way's figures are the share of
the question's other relevant articles among the ten that it calls most similar (of ten, if there are more),
and the share of articles that have one of them among the first five. The index needs vectors.
"""

import argparse
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bioqa.app.answers.fusion import FoundBy, fused_score
from bioqa.app.answers.similar import LISTED, SimilarArticles, similar
from bioqa.bioasq.files import read_golden
from bioqa.indexer.search.tantivy.index import TantivyIndex

SHOWN = 10
FIRST = 5


@dataclass(frozen=True, slots=True)
class Case:
    """An article, and the others that answer the same question."""

    pmid: str
    others: frozenset[str]


def _rank_by(score: Callable[[FoundBy], float]) -> Callable[[Mapping[str, FoundBy]], Sequence[str]]:
    return lambda places: sorted(places, key=lambda pmid: -score(places[pmid]))


WAYS: Mapping[str, Callable[[Mapping[str, FoundBy]], Sequence[str]]] = {
    "words": _rank_by(lambda place: -(place.words or 10**6)),
    "vectors": _rank_by(lambda place: -(place.vectors or 10**6)),
    "both": _rank_by(fused_score),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--articles", type=int, default=5, help="of each question")
    options = parser.parse_args()
    cases = read_cases(options.questions, options.articles)
    with TantivyIndex.open(options.index) as index:
        known = index.get([pmid for case in cases for pmid in (case.pmid, *case.others)])
        cases = [
            Case(case.pmid, others)
            for case in cases
            if case.pmid in known and (others := frozenset(case.others & known.keys()))
        ]
        listed = [similar(index, known[case.pmid], 2 * LISTED) for case in cases]
    print(f"{len(cases)} articles")
    shares = {name: _measure(rank, cases, listed) for name, rank in WAYS.items()}
    base = shares["words"]
    for name, (recall, hits) in shares.items():
        error = np.std(recall - base[0]) / len(cases) ** 0.5
        print(
            f"{name:8s} others among the first {SHOWN}: {recall.mean():.3f} "
            f"({recall.mean() - base[0].mean():+.3f} ± {error:.3f}), "
            f"one among the first {FIRST}: {hits.mean():.3f}"
        )


def read_cases(golden: Path, most: int) -> list[Case]:
    chance = random.Random(0)
    cases = []
    for response in read_golden(golden).responses:
        relevant = list(dict.fromkeys(url.rpartition("/")[2] for url in response.documents))
        for pmid in chance.sample(relevant, min(most, len(relevant))):
            cases.append(Case(pmid, frozenset(relevant) - {pmid}))
    return [case for case in cases if case.others]


Shares = np.ndarray[tuple[int], np.dtype[np.float64]]


def _measure(
    rank: Callable[[Mapping[str, FoundBy]], Sequence[str]],
    cases: Sequence[Case],
    listed: Sequence[SimilarArticles],
) -> tuple[Shares, Shares]:
    """Of each article: the share of the others among the first ten, and whether there is one among five."""
    recalls, hits = [], []
    for case, found in zip(cases, listed, strict=True):
        places = {article.document.pmid: article.found_by for article in found.articles}
        best = rank({pmid: place for pmid, place in places.items() if place is not None})
        recalls.append(len(case.others & set(best[:SHOWN])) / min(SHOWN, len(case.others)))
        hits.append(float(not case.others.isdisjoint(best[:FIRST])))
    return np.array(recalls), np.array(hits)


if __name__ == "__main__":
    main()
