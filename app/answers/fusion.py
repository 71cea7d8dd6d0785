"""One list of two: candidates by words and by vectors, fused by reciprocal ranks (Cormack et al., 2009).

A document's rank in each list counts, not its score, as BM25's scores and cosines have no common scale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bioqa.system.schema import DESCRIBED_BY_DOCSTRINGS

RANK_CONSTANT = 10
"""In reciprocal ranks: the larger, the less the first places count more than later ones. The paper has 60."""

WEIGHT_OF_VECTORS = 0.4
"""The rest is that of words. Both were chosen on development questions and claims."""


@dataclass(frozen=True, slots=True)
class FoundBy:
    """Which stage of retrieval found a document, at which rank."""

    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    words: int | None
    """Rank by BM25, from 1; null if it is not in that list."""
    vectors: int | None
    """Rank by meaning, from 1; null if it is not in that list."""
    cosine: float | None
    """That of the vectors of question and document; null if it is not in that list."""


def found_by(by_words: Sequence[str], cosines: Mapping[str, float]) -> dict[str, FoundBy]:
    """Where each document of both lists was found. ``by_words``: PMIDs, best first; ``cosines``: of those
    closest in meaning, closest first."""
    words = {pmid: rank for rank, pmid in enumerate(by_words, start=1)}
    vectors = {pmid: rank for rank, pmid in enumerate(cosines, start=1)}
    return {
        pmid: FoundBy(words.get(pmid), vectors.get(pmid), cosines.get(pmid))
        for pmid in dict.fromkeys([*words, *vectors])
    }


def fused_score(ranks: FoundBy) -> float:
    words = 0.0 if ranks.words is None else (1 - WEIGHT_OF_VECTORS) / (RANK_CONSTANT + ranks.words)
    vectors = 0.0 if ranks.vectors is None else WEIGHT_OF_VECTORS / (RANK_CONSTANT + ranks.vectors)
    return words + vectors
