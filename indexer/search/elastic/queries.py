"""Turning a question into a query for Elasticsearch."""

import zlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from bioqa.indexer.search.elastic.mapping import KEYS, TEXT, TITLE
from bioqa.indexer.search.filtering.conditions import (
    AllOf,
    AnyOf,
    Condition,
    HasBeginning,
    HasKey,
    HasPhrase,
    HasPmid,
    HasWords,
    Narrower,
    Place,
    Published,
    Without,
    no_narrower,
)
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.filtering.truncation import completions
from bioqa.indexer.search.wording import Best, Every, Wording, Words, clean, texts

_FIELDS: dict[Place, str] = {"title": TITLE, "text": TEXT}


def request(
    text: str | Wording, size: int, filters: Filters = NO_FILTERS, narrower: Narrower = no_narrower
) -> dict[str, Any]:
    """Build the search for a question's best documents."""
    return {
        "query": query(text, filters, narrower),
        "size": size,
        "sort": [{"_score": "desc"}, {"pmid": "asc"}],
        "track_total_hits": False,
    }


def newest_request(filters: Filters, size: int, narrower: Narrower = no_narrower) -> dict[str, Any]:
    """Build the search for the newest documents that pass."""
    return {
        "query": query(None, filters, narrower),
        "size": size,
        "sort": [{"published": {"order": "desc", "missing": "_last"}}, {"pmid": "desc"}],
        "track_total_hits": False,
    }


def query(text: str | Wording | None, filters: Filters, narrower: Narrower = no_narrower) -> dict[str, Any]:
    """Build a query, in which no character of the question acts as an operator. Without a question, all
    documents match that pass."""
    restriction = filters.condition()
    passing = [condition_query(part, narrower) for part in restriction.parts]
    if text is None:
        # Tombstones have no such field.
        return {"bool": {"filter": [{"exists": {"field": "has_title"}}, *passing]}}
    matching = wording_query(Words(text) if isinstance(text, str) else text)
    return {"bool": {"must": matching, "filter": passing}} if passing else matching


def wording_query(wording: Wording) -> dict[str, Any]:
    """Build the query for what a wording says."""
    match wording:
        case Words(text, 1.0):
            return {"match": {TEXT: {"query": clean(text)}}}
        case Words(text, weight):
            return {"match": {TEXT: {"query": clean(text), "boost": weight}}}
        case Every(()) | Best(()):
            return {"match_none": {}}
        case Every(parts, weight):
            return {"bool": {"should": [*map(wording_query, parts)], "boost": weight}}
        case Best(ways, weight):
            return {"dis_max": {"queries": [*map(wording_query, ways)], "boost": weight}}


def condition_query(condition: Condition, narrower: Narrower = no_narrower) -> dict[str, Any]:
    """Build the query for the documents that meet a condition."""
    match condition:
        case HasKey():
            return {"terms": {KEYS: list(condition.keys(narrower))}}
        case HasPmid(pmid):
            return {"ids": {"values": [str(pmid)]}}
        case HasWords(place, text):
            return {"match": {_FIELDS[place]: {"query": text, "operator": "and", "zero_terms_query": "all"}}}
        case HasBeginning(place, beginning):
            return _beginning(_FIELDS[place], beginning)
        case HasPhrase(place, text):
            return {"match_phrase": {_FIELDS[place]: {"query": text, "zero_terms_query": "all"}}}
        case Published():
            return _match_published(condition)
        case AllOf(parts):
            every = [condition_query(part, narrower) for part in parts]
            return {"bool": {"filter": every}} if parts else {"match_all": {}}
        case AnyOf(parts):
            ways = [condition_query(part, narrower) for part in parts]
            return {"bool": {"should": ways, "minimum_should_match": 1}}
        case Without(part):
            return {"bool": {"must_not": condition_query(part, narrower)}}


def _beginning(field: str, beginning: str) -> dict[str, Any]:
    others = {"match": {field: {"query": " ".join(completions(beginning))}}}
    return {"bool": {"should": [{"prefix": {field: beginning}}, others], "minimum_should_match": 1}}


def _match_published(condition: Published) -> dict[str, Any]:
    bounds = {"gte": condition.after, "lt": condition.before}
    days = {name: day.isoformat() for name, day in bounds.items() if day}
    dated = {"range": {"published": days}} if days else {"exists": {"field": "published"}}
    if not condition.undated:
        return dated
    undated = {"bool": {"must_not": {"exists": {"field": "published"}}}}
    return {"bool": {"should": [dated, undated], "minimum_should_match": 1}}


def preference(text: str | Wording) -> str:
    """Route equal questions to the same shard copies, as scores of copies may differ in the last digits."""
    words = text if isinstance(text, str) else " ".join(texts(text))
    return f"q{zlib.crc32(clean(words).encode())}"


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
    tokens_at = []
    for term, vector in vectors["terms"].items():
        tokens_at += [(token["start_offset"], term) for token in vector["tokens"]]
    for offset, term in sorted(tokens_at):
        of_words[bisect_right(begins, offset) - 1].append(term)
    having = {term: int(vector.get("doc_freq", 0)) for term, vector in vectors["terms"].items()}
    return of_words, having, int(vectors["field_statistics"]["doc_count"])
