"""A question as Elasticsearch is asked it."""

import zlib
from datetime import date
from typing import Any

from bioqa.indexer.search.mapping import TEXT


def request(text: str, size: int, published_before: date | None) -> dict[str, Any]:
    """A match query: no character of the question can mean an operator."""
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
    """Without white space around it and without what no UTF-8 can hold."""
    # Lone surrogates reach us from JSON escapes.
    return question.encode("utf-8", "ignore").decode().strip()


def preference(text: str) -> str:
    """The same question goes to the same copies, whose scores can differ in the last digits."""
    return f"q{zlib.crc32(text.encode())}"
