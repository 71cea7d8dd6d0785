"""MeSH's descriptors beside an index in Elasticsearch: a small index, with a document for each of them.

NAME-synonyms is an alias. ``build`` writes a new index and then moves the alias, so that a service never sees
a part of the descriptors, nor two years' at once.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

from elasticsearch import Elasticsearch
from elasticsearch.helpers import BulkIndexError, streaming_bulk

from bioqa.indexer.search.defined import long_key
from bioqa.indexer.search.elastic.address import IndexAddress
from bioqa.indexer.search.elastic.connection import engine_errors
from bioqa.indexer.search.elastic.faults import require_acknowledged, require_whole
from bioqa.indexer.search.synonyms import (
    KEPT_HEADINGS,
    NO_SYNONYMS,
    Built,
    Descriptor,
    Synonyms,
    SynonymsError,
    read_descriptors,
    synonyms_of,
)

FORMAT = 1

LOOKED_FOR_EVERY_S = 60.0
"""Seconds until a running service looks again which synonyms there are."""

MOST_DESCRIPTORS = 10_000
"""In one answer: Elasticsearch's limit. No descriptor has so many below it."""

_NOTE = "bioqa-synonyms"
_SETTINGS = {"number_of_shards": 1, "auto_expand_replicas": "0-1"}
_SHOWN = {"type": "keyword", "index": False, "doc_values": False}
_MAPPINGS: dict[str, Any] = {
    "dynamic": "strict",
    "_meta": {_NOTE: {"format": FORMAT}},
    "properties": {
        "number": {"type": "integer"},
        "keys": {"type": "keyword"},
        "name": _SHOWN,
        "terms": _SHOWN,
        "trees": {"type": "keyword"},
    },
}


def synonyms_name(index: str) -> str:
    return f"{index}-synonyms"


class ElasticSynonyms:
    """``Synonyms`` in an index of Elasticsearch; every call is one request, or two."""

    def __init__(self, client: Elasticsearch, address: IndexAddress, name: str) -> None:
        self._client = client
        self._address = address
        self._name = name
        self._narrower = lru_cache(KEPT_HEADINGS)(self._look_up_narrower)

    def __bool__(self) -> bool:
        return True

    def of(self, keys: Collection[str]) -> Mapping[str, Sequence[str]]:
        if not keys:
            return {}
        with engine_errors(self._address):
            keyed_terms = [
                [*zip(descriptor["keys"], descriptor["terms"], strict=True)]
                for descriptor in self._search({"terms": {"keys": [*keys]}})
            ]
        return synonyms_of(
            (wanted_key, key, term)
            for wanted_key in keys
            for terms in keyed_terms
            if any(key == wanted_key for key, _ in terms)
            for key, term in terms
            if key != wanted_key
        )

    def narrower(self, heading: str) -> Sequence[str]:
        return self._narrower(long_key(heading))

    def _look_up_narrower(self, key: str) -> tuple[str, ...]:
        with engine_errors(self._address):
            own = self._search({"term": {"keys": key}})
            below = [{"prefix": {"trees": f"{tree}."}} for descriptor in own for tree in descriptor["trees"]]
            descriptors = own + (self._search({"bool": {"should": below}}) if below else [])
            return tuple(dict.fromkeys(descriptor["name"] for descriptor in descriptors))

    def _search(self, query: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        answer = self._client.search(
            index=self._name,
            allow_partial_search_results=False,
            ignore_unavailable=True,
            size=MOST_DESCRIPTORS,
            sort=[{"number": "asc"}],
            query=query,
        )
        require_whole(answer.body, self._address)
        return [hit["_source"] for hit in answer["hits"]["hits"]]


class SynonymsAlias:
    """Synonyms that may appear, or be replaced, while an index is in use. Threads may share it."""

    def __init__(
        self, client: Elasticsearch, address: IndexAddress, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._address = address
        self._clock = clock
        self._lock = Lock()
        self._looked: float | None = None
        self._seen: str | None = None
        self._opened: Synonyms = NO_SYNONYMS

    def current(self) -> Synonyms:
        """The synonyms as of the last minute. Raises BioqaError if they cannot be used."""
        with self._lock:
            now = self._clock()
            if self._looked is None or now - self._looked >= LOOKED_FOR_EVERY_S:
                name = _behind(self._client, self._address)
                if name != self._seen:
                    self._opened = ElasticSynonyms(self._client, self._address, name) if name else NO_SYNONYMS
                    self._seen = name
                self._looked = now
            return self._opened


def build(source: Path, client: Elasticsearch, address: IndexAddress) -> Built:
    """Write the synonyms of NLM's descriptor file beside an index, whole or not at all.

    Raises SynonymsError, naming the file and what is wrong, and BioqaError."""
    read = read_descriptors(source)
    alias = synonyms_name(address.name)
    name = f"{alias}-{uuid4().hex[:12]}"
    with engine_errors(address):
        client.indices.create(index=name, settings=_SETTINGS, mappings=_MAPPINGS)
        try:
            for _ in streaming_bulk(client, (_action(name, *numbered) for numbered in enumerate(read))):
                pass
            client.indices.refresh(index=name)
            # What a killed run left goes too.
            old = [other for other in _list_made(client, address) if other != name]
            # Can be repeated, if its answer is lost: removing indices here could not.
            leave = [{"remove": {"index": other, "alias": alias, "must_exist": False}} for other in old]
            answer = client.indices.update_aliases(actions=[{"add": {"index": name, "alias": alias}}, *leave])
            require_acknowledged(answer.body, address)
        except BulkIndexError as error:
            raise SynonymsError(f"{address.hosts[0]} does not take the descriptors: {error}") from error
        except BaseException:
            client.indices.delete(index=name, ignore_unavailable=True)
            raise
        for other in old:
            client.indices.delete(index=other, ignore_unavailable=True)
    return Built.of(read)


def _action(index: str, number: int, descriptor: Descriptor) -> dict[str, Any]:
    keyed = descriptor.keyed_terms()
    return {
        # With an identifier, so that a request that is repeated, because its answer was lost, adds nothing.
        "_op_type": "index",
        "_index": index,
        "_id": str(number),
        "number": number,
        "name": descriptor.terms[0],
        "keys": [key for key, _ in keyed],
        "terms": [term for _, term in keyed],
        "trees": list(descriptor.trees),
    }


def _behind(client: Elasticsearch, address: IndexAddress) -> str | None:
    """The index that the alias stands for; None if there is none."""
    alias = synonyms_name(address.name)
    with engine_errors(address):
        described = client.indices.get_mapping(index=alias, ignore_unavailable=True).body
        if not described:
            return None
        ((name, description),) = described.items()
        stored = description["mappings"].get("_meta", {}).get(_NOTE, {}).get("format")
    if stored != FORMAT:
        raise SynonymsError(f"{alias} has format {stored}, and this bioqa reads {FORMAT}; make it anew")
    return str(name)


def _list_made(client: Elasticsearch, address: IndexAddress) -> list[str]:
    """The indices that ``build`` has made for this one, those of killed runs included."""
    described = client.indices.get_mapping(
        index=f"{synonyms_name(address.name)}-*", ignore_unavailable=True, allow_no_indices=True
    ).body
    return [
        name for name, description in described.items() if _NOTE in description["mappings"].get("_meta", {})
    ]
