"""What an index of Elasticsearch knows about words."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from bioqa.bioasq.domain import Document
from bioqa.indexer.search.defined import long_prefix, read, short_prefix
from bioqa.indexer.search.elastic.mapping import DEFINED, TEXT, from_source
from bioqa.indexer.search.evidence import BEST, MOST_FORMS, SHORTEST_BEGINNING, Definition

Ask = Callable[[Sequence[Mapping[str, Any]]], Sequence[Mapping[str, Any]]]
"""Makes several searches in one request, and returns their answers."""

_NONE: dict[str, Any] = {"size": 0, "track_total_hits": False}


class ElasticEvidence:
    """``Evidence``; every call is one request, or two. Words of deleted documents do not count."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def size(self) -> int:
        search = {"size": 0, "track_total_hits": True, "query": {"exists": {"field": "has_title"}}}
        (answer,) = self._ask([search])
        return int(answer["hits"]["total"]["value"])

    def counts(self, texts: Sequence[str]) -> list[int]:
        return self._matching([{"match_phrase": {TEXT: {"query": text}}} for text in texts])

    def definitions(self, shorts: Collection[str], longs: Collection[str]) -> list[Definition]:
        prefixes = [*map(short_prefix, shorts), *map(long_prefix, longs)]
        counts = self._matching([{"term": {DEFINED: prefix}} for prefix in prefixes])
        present = [prefix for prefix, count in zip(prefixes, counts, strict=True) if count]
        # Buckets come in the order of their counts: one search each, or common abbreviations would take the
        # places of rare ones.
        searches = [
            _NONE | {"query": {"term": {DEFINED: prefix}}, "aggs": {"terms": {"terms": _forms(prefix)}}}
            for prefix in present
        ]
        return [
            definition
            for answer in (self._ask(searches) if searches else ())
            for bucket in answer["aggregations"]["terms"]["buckets"]
            if (definition := read(bucket["key"], bucket["doc_count"])) is not None
        ]

    def fit(self, texts: Sequence[str], context: str) -> list[float]:
        searches = [
            {
                "size": BEST,
                "_source": False,
                "query": _among(_having(text), context),
            }
            for text in texts
        ]
        answers = self._ask(searches) if searches else ()
        return [sum(hit["_score"] for hit in answer["hits"]["hits"]) / BEST for answer in answers]

    def near(self, word: str, context: str, size: int) -> list[Document]:
        alike = {"match": {TEXT: {"query": word, "fuzziness": 1, "max_expansions": 200}}}
        begins = [word[:length] for length in range(SHORTEST_BEGINNING, len(word))]
        fuzzy = [
            {"fuzzy": {TEXT: {"value": begin, "fuzziness": 1, "max_expansions": 200}}} for begin in begins[1:]
        ]
        alternatives: tuple[dict[str, Any], ...] = (
            alike,
            {"terms": {TEXT: begins}},
            {"bool": {"should": fuzzy, "minimum_should_match": 1}},
        )
        return self._documents(alternatives, context, size)

    def farther(self, word: str, context: str, size: int) -> list[Document]:
        # Two edits, of which one changes the first letter, make another word.
        alike = {"query": word, "fuzziness": 2, "prefix_length": 1, "max_expansions": 200}
        return self._documents([{"match": {TEXT: alike}}], context, size)

    def _documents(
        self, alternatives: Sequence[Mapping[str, Any]], context: str, size: int
    ) -> list[Document]:
        searches = [{"size": size, "query": _among(having, context)} for having in alternatives]
        hits = {hit["_id"]: hit for answer in self._ask(searches) for hit in answer["hits"]["hits"]}
        return [from_source(hit["_source"]) for hit in hits.values()]

    def _matching(self, queries: Sequence[Mapping[str, Any]]) -> list[int]:
        """For each query, the number of documents that match it."""
        if not queries:
            return []
        aggregation = {"filters": {"filters": {str(number): query for number, query in enumerate(queries)}}}
        search = _NONE | {"query": {"match_all": {}}, "aggs": {"counts": aggregation}}
        (answer,) = self._ask([search])
        buckets = answer["aggregations"]["counts"]["buckets"]
        return [int(buckets[str(number)]["doc_count"]) for number in range(len(queries))]


def _forms(prefix: str) -> dict[str, Any]:
    # Prefixes are letters and digits, and two signs.
    expression = prefix.replace("|", "\\|") + ".+"
    return {"field": DEFINED, "size": MOST_FORMS, "include": expression, "execution_hint": "map"}


def _having(text: str) -> dict[str, Any]:
    """Documents with all words of a text: if they are stop words alone, all documents."""
    return {"match": {TEXT: {"query": text, "operator": "and", "zero_terms_query": "all"}}}


def _among(having: Mapping[str, Any], context: str) -> dict[str, Any]:
    """Documents that have something, those first that match the context."""
    return {"bool": {"filter": having, "should": {"match": {TEXT: {"query": context}}}}}
