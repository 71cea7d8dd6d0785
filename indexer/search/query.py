"""Turning a question into a query for Elasticsearch."""

import zlib
from datetime import date
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
