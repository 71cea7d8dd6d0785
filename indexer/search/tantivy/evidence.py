"""What an embedded index knows about words."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import tantivy

from bioqa.bioasq.domain import Document
from bioqa.indexer.search.defined import long_prefix, read, short_prefix
from bioqa.indexer.search.evidence import BEST, MOST_FORMS, Definition
from bioqa.indexer.search.filtering.conditions import HasWords
from bioqa.indexer.search.tantivy.queries import QueryMaker
from bioqa.indexer.search.tantivy.schema import DEFINED, TEXT, from_stored
from bioqa.indexer.search.wording import Words

MOST_COUNTED = 20_000
"""Phrases whose counts are kept: some 2 MB."""


class TantivyEvidence:
    """``Evidence`` as of the moment in which it was made.

    Words and definitions of deleted documents count until their segments are merged."""

    def __init__(self, searcher: Any, make: QueryMaker, counted: dict[str, int]) -> None:
        """``counted``: what is known of phrases, shared by all evidence of one state of the index."""
        self._searcher = searcher
        self._make = make
        self._counted = counted

    def size(self) -> int:
        return int(self._searcher.num_docs)

    def counts(self, texts: Sequence[str]) -> Iterator[int]:
        return map(self._count, texts)

    def _count(self, text: str) -> int:
        words = self._make.words(text)
        if len(words) == 1:  # a look-up, while a search goes through the documents
            return int(self._searcher.doc_freq(TEXT, words[0]))
        if (count := self._counted.get(text)) is not None:
            return count
        query = self._make.phrase(text)
        count = int(self._searcher.search(query, limit=1).count) if query is not None else 0
        if len(self._counted) < MOST_COUNTED:
            self._counted[text] = count
        return count

    def definitions(self, shorts: Collection[str], longs: Collection[str]) -> Iterator[Definition]:
        for prefix in (*map(short_prefix, shorts), *map(long_prefix, longs)):
            # Most phrases of a question are no long forms. The prefix itself is a term of those that are, and
            # as the most frequent one it takes a place.
            if self._searcher.doc_freq(DEFINED, prefix):
                terms = self._searcher.terms_with_prefix(DEFINED, prefix, limit=MOST_FORMS + 1)
                for term, documents in terms:
                    if (definition := read(term, documents)) is not None:
                        yield definition

    def fit(self, texts: Sequence[str], context: str) -> Iterator[float]:
        return (self._fit(text, context) for text in texts)

    def _fit(self, text: str, context: str) -> float:
        having = self._make.condition(HasWords("text", text))
        hits = self._searcher.search(self._among(having, context), limit=BEST, count=False).hits
        return float(sum(score for score, _ in hits)) / BEST

    def near(self, word: str, context: str, size: int) -> Iterator[Document]:
        seen: set[tuple[int, int]] = set()
        for query in self._make.near(word):
            hits = self._searcher.search(self._among(query, context), limit=size, count=False).hits
            for _, address in hits:
                where = address.segment_ord, address.doc
                if where not in seen:
                    seen.add(where)
                    yield from_stored(self._searcher.doc(address))

    def farther(self, word: str, context: str, size: int) -> Iterator[Document]:
        query = self._among(self._make.farther(word), context)
        for _, address in self._searcher.search(query, limit=size, count=False).hits:
            yield from_stored(self._searcher.doc(address))

    def _among(self, having: Any, context: str) -> Any:
        """Documents that have something, those first that match the context."""
        make, occur = tantivy.Query, tantivy.Occur
        parts = [(occur.Must, make.const_score_query(having, 0.0))]
        if (matching := self._make.wording(Words(context))) is not None:
            parts.append((occur.Should, matching))
        return make.boolean_query(parts)
