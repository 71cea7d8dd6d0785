"""What an index knows about words, which decides how a question is read."""

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from bioqa.bioasq.domain import Document

SHORTEST_BEGINNING = 4
"""Characters of the beginnings of a misspelt word that are looked for as stems."""

BEST = 3
"""Documents that show how well a text fits a context."""


class Definition(NamedTuple):
    """An abbreviation with one of its long forms."""

    short: str
    """As the citations write it."""
    long: str
    """In lower case."""
    documents: int
    """How many documents define it so."""


class Evidence(Protocol):
    """As of the last commit. Every back end offers it."""

    def size(self) -> int:
        """Number of documents."""
        ...

    def counts(self, texts: Sequence[str]) -> Sequence[int]:
        """For each text, the number of documents that have it as a phrase; 0 for a text without words."""
        ...

    def definitions(self, shorts: Collection[str], longs: Collection[str]) -> Sequence[Definition]:
        """All definitions of these abbreviations, and of these long forms: keys as
        ``bioqa.indexer.search.defined`` makes them."""
        ...

    def fit(self, texts: Sequence[str], context: str) -> Sequence[float]:
        """For each text, how well documents that have all of its words match the context: the mean score of
        the best three; 0 if there are none."""
        ...

    def near(self, word: str, context: str, size: int) -> Sequence[Document]:
        """Documents with words that are spelt like this one, the best matches of the context: ``size`` with a
        stem that is alike, ``size`` with a stem that begins it, and ``size`` with one like its beginnings."""
        ...


def rarity(count: int, size: int) -> float:
    """BM25's inverse document frequency."""
    return math.log1p((size - min(count, size) + 0.5) / (count + 0.5))
