"""A ranker without weights that keeps the real one's promises. Light to import, as processes import it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bioqa.bioasq.domain import Candidate, Document
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.scale import Scale
from bioqa.models.answers.selection import Calibration


class LexicalRanker:
    """Documents by BM25, sentences by the share of their words that the question has."""

    name = "lexical"
    hash = "00" * 32
    calibration = Calibration(4.0, -1.0, 0.5)
    config: Mapping[str, Any] = {"settings": {"ranker": "lexical"}}
    scale: Scale | None = None
    reads_pieces = False

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        asked = _words(question)
        return Ranking(tuple(self._ranked(asked, candidate) for candidate in candidates))

    def rank_many(self, items: Sequence[tuple[str, Sequence[Candidate]]]) -> list[Ranking]:
        return [self.rank(*item) for item in items]

    def candidates(self, question: str, documents: Sequence[Document]) -> list[Candidate]:
        asked = _words(question)
        shares = [_share(asked, _words(f"{each.title} {each.abstract}")) for each in documents]
        return [Candidate(*pair) for pair in zip(documents, shares, strict=True)]

    def read_stored_tokens(self, folder: Path) -> None:
        """It keeps no tokens."""

    def _ranked(self, asked: set[str], candidate: Candidate) -> RankedDocument:
        document = candidate.document
        scores = [_share(asked, _words(document.sentence_text(s))) for s in document.sentences]
        return RankedDocument(document, candidate.score, tuple(scores))


def doubled(ranking: Ranking) -> Ranking:
    """Each sentence twice, which no submission may have."""
    twice = [
        replace(
            ranked,
            document=replace(ranked.document, sentences=ranked.document.sentences * 2),
            sentence_scores=ranked.sentence_scores * 2,
        )
        for ranked in ranking.documents
    ]
    return replace(ranking, documents=tuple(twice))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _share(asked: set[str], words: set[str]) -> float:
    return len(asked & words) / max(1, len(words))
