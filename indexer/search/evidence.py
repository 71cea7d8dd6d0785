"""What an index knows about words, which decides how a question is read."""

import math
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from bioqa.bioasq.domain import Document

SHORTEST_BEGINNING = 4
"""Characters of the beginnings of a misspelt word that are looked for as stems."""

MOST_FORMS = 128
"""Definitions of one abbreviation or long form, the most frequent ones. The pool of 44 thousand citations has
39 at most; all of MEDLINE has thousands for each common abbreviation, nearly all of them of one citation."""

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
    """As of the last commit. Every back end offers it.

    What is returned as an iterable may be found out while it is read, so that a caller can stop."""

    def size(self) -> int:
        """Number of documents."""
        ...

    def counts(self, texts: Sequence[str]) -> Iterable[int]:
        """For each text, the number of documents that have it as a phrase; 0 for a text without words."""
        ...

    def definitions(self, shorts: Collection[str], longs: Collection[str]) -> Iterable[Definition]:
        """The most frequent definitions of each of these abbreviations, and of each of these long forms,
        ``MOST_FORMS`` at most: keys as ``bioqa.indexer.search.defined`` makes them."""
        ...

    def fit(self, texts: Sequence[str], context: str) -> Iterable[float]:
        """For each text, how well documents that have all of its words match the context: the mean score of
        the best three; 0 if there are none."""
        ...

    def near(self, word: str, context: str, size: int) -> Iterable[Document]:
        """Documents with words that are spelt like this one, the best matches of the context: ``size`` with a
        stem that is alike, ``size`` with a stem that begins it, and ``size`` with one like its beginnings."""
        ...

    def farther(self, word: str, context: str, size: int) -> Iterable[Document]:
        """``size`` documents with stems two edits from the word's, the best matches of the context."""
        ...


def rarity(count: int, size: int) -> float:
    """BM25's inverse document frequency."""
    return math.log1p((size - min(count, size) + 0.5) / (count + 0.5))
