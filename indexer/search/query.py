"""Turning a question into a query for Elasticsearch."""

import zlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import accumulate
from typing import Any

from bioqa.indexer.search.mapping import TEXT


def request(text: str, size: int, published_before: date | None) -> dict[str, Any]:
    """Build a match query, in which no character of the question acts as an operator."""
    query: dict[str, Any] = {"match": {TEXT: {"query": text}}}
    if published_before is not None:
        early = {"range": {"published": {"lt": published_before.isoformat()}}}
        undated = {"bool": {"must_not": {"exists": {"field": "published"}}}}
        query = {"bool": {"must": query, "filter": {"bool": {"should": [early, undated]}}}}
    return {
        "query": query,
        "size": size,
        "sort": [{"_score": "desc"}, {"pmid": "asc"}],
        "track_total_hits": False,
    }


def clean(question: str) -> str:
    """Strip white space, and remove characters that UTF-8 cannot encode."""
    # JSON escapes may contain lone surrogates.
    return question.encode("utf-8", "ignore").decode().strip()


def preference(text: str) -> str:
    """Route equal questions to the same shard copies, as scores of copies may differ in the last digits."""
    return f"q{zlib.crc32(text.encode())}"


def read_term_vectors(
    answer: Mapping[str, Any], words: Sequence[str]
) -> tuple[list[list[str]], dict[str, int], int]:
    """Read the terms of each word, the documents that have a term, and the number of documents, from the term
    vectors of the words joined by spaces. Raises LookupError, TypeError or ValueError if it is damaged.
    """
    of_words: list[list[str]] = [[] for _ in words]
    vectors = answer["term_vectors"].get(TEXT)
    if vectors is None:
        return of_words, {}, 0
    # The server counts UTF-16 code units.
    begins = [0, *accumulate(len(word.encode("utf-16-le")) // 2 + 1 for word in words)][:-1]
    found = []
    for term, vector in vectors["terms"].items():
        found += [(token["start_offset"], term) for token in vector["tokens"]]
    for offset, term in sorted(found):
        of_words[bisect_right(begins, offset) - 1].append(term)
    having = {term: int(vector.get("doc_freq", 0)) for term, vector in vectors["terms"].items()}
    return of_words, having, int(vectors["field_statistics"]["doc_count"])
