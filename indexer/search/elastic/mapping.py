"""Mapping, analyser and stored form of documents in Elasticsearch."""

import json
import struct
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from typing import Any

from bioqa.bioasq.domain import Document
from bioqa.indexer.medline.packed import unpack
from bioqa.indexer.search.records import NO_DATE, Described, Record, decode
from bioqa.indexer.search.stopwords import STOP_WORDS
from bioqa.system.characters import MARKS, in_other_forms

FORMAT = 5
"""Incremented when mapping, analyser or stored form change, so that no index is misread."""

TEXT = "text"
"""The searched field, into which title and abstract are copied."""

METADATA = "metadata"
TITLE, KEYS = "title", "keys"
"""For filters: the title's words, and see ``bioqa.indexer.search.filtering.keys``."""

DEFINED = "defined"
"""Abbreviations and their long forms: see ``bioqa.indexer.search.defined``."""

DESCRIBING = ["published", METADATA]
"""The stored fields that ``describe`` reads."""

ANALYZER = "bioqa"

FLUSH_BYTES = "128mb"
"""What is written between two flushes; the server's default is up to 10 GB.

As ``_source`` leaves fields out, the server also keeps all that was sent, which is half of an index. Merging
drops it, but only of documents that were flushed before.
"""


@dataclass(frozen=True, slots=True)
class Shape:
    """Settings of a new index. k1 and b were tuned on development questions: see bench/elastic_grid.py."""

    shards: int = 1
    replicas: int = 0
    """Further copies of each shard, created when loading has finished."""
    k1: float = 0.7
    b: float = 0.67


DEFAULT_SHAPE = Shape()


def index_body(shape: Shape, notes: Mapping[str, Any]) -> dict[str, Any]:
    """Settings and mapping of a new index, without replicas until it is loaded."""
    return {
        "settings": {
            "number_of_shards": shape.shards,
            "number_of_replicas": 0,
            # No automatic refreshes: they cost time while loading, and a commit refreshes.
            "refresh_interval": "-1",
            "translog": {"flush_threshold_size": FLUSH_BYTES},
            "similarity": {ANALYZER: {"type": "BM25", "k1": shape.k1, "b": shape.b}},
            "analysis": deepcopy(_ANALYSIS),
        },
        "mappings": {
            "dynamic": "strict",
            # Both are made of the rest of a document, and would double it.
            "_source": {"excludes": [KEYS, DEFINED]},
            "_meta": {"bioqa": dict(notes)},
            "properties": deepcopy(_PROPERTIES),
        },
    }


_ANALYSIS = {
    "analyzer": {
        ANALYZER: {
            "type": "custom",
            "char_filter": ["otherwise", "marks"],
            "tokenizer": "letters_and_digits",
            "filter": ["lowercase", "asciifolding", "question_words", "stems"],
        }
    },
    "char_filter": {
        # As bioqa.system.characters does it for questions, as far as asciifolding does not.
        "otherwise": {"type": "mapping", "mappings": [f"{old} => {new}" for old, new in in_other_forms()]},
        "marks": {"type": "pattern_replace", "pattern": MARKS, "replacement": ""},
    },
    "tokenizer": {"letters_and_digits": {"type": "pattern", "pattern": r"[^\p{L}\p{N}]+"}},
    "filter": {
        "question_words": {"type": "stop", "stopwords": list(STOP_WORDS)},
        # Snowball's English stemmer, as in the embedded index; "english" is Porter's original one.
        "stems": {"type": "stemmer", "language": "porter2"},
    },
}

_KEPT: dict[str, Any] = {"index": False, "doc_values": False}
_PROPERTIES: dict[str, Any] = {
    # Sorts documents with equal scores.
    "pmid": {"type": "long", "index": False},
    "version": {"type": "integer", **_KEPT},
    # Position among all events of the one that wrote the document: see bioqa.indexer.loading.ledger.order.
    "order": {"type": "long", "index": False},
    "published": {"type": "date", "format": "strict_date"},
    TITLE: {"type": "text", "analyzer": ANALYZER, "norms": False, "copy_to": TEXT},
    "abstract": {"type": "text", "index": False, "norms": False, "copy_to": TEXT},
    "has_title": {"type": "boolean"},
    "has_abstract": {"type": "boolean"},
    # Begin and end of each sentence; begin, end and length of the label of each part.
    "title_sentences": {"type": "integer", **_KEPT},
    "abstract_sentences": {"type": "integer", **_KEPT},
    "parts": {"type": "integer", **_KEPT},
    # See bioqa.indexer.medline.packed. Neither parsed nor indexed. It is text, as lists would be a hundred
    # objects for each document, and Python's collector would look at all of them again and again.
    METADATA: {"type": "object", "enabled": False},
    # Only in tombstones, which have PMID and order of a deleted document and nothing else.
    "deleted": {"type": "boolean", "index": False},
    KEYS: {"type": "keyword", "doc_values": False},
    DEFINED: {"type": "keyword", "ignore_above": 1000},
    # Positions are for phrases, and are read for nothing else.
    TEXT: {"type": "text", "analyzer": ANALYZER, "similarity": ANALYZER, "index_options": "positions"},
}


def source(record: Record, order: int) -> bytes:
    """Encode a record as stored in Elasticsearch: JSON in UTF-8."""
    layout = struct.unpack(f"<{len(record.layout) // 4}I", record.layout)
    in_abstract = 3 + 2 * layout[0]
    parts_at = in_abstract + 2 * layout[1]
    stored: dict[str, Any] = {
        "pmid": record.pmid,
        "version": record.version,
        "order": order,
        "title": record.title,
        "abstract": record.abstract,
        "has_title": bool(record.title),
        "has_abstract": bool(record.abstract),
        "title_sentences": layout[3:in_abstract],
        "abstract_sentences": layout[in_abstract:parts_at],
        "parts": layout[parts_at:],
        KEYS: record.keys.split(),
        DEFINED: record.defined.splitlines(),
    }
    if record.published != NO_DATE:
        stored["published"] = date.fromordinal(record.published).isoformat()
    text = json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode()
    if not record.metadata:
        return text
    metadata = json.dumps(record.metadata.decode("utf-8", "surrogatepass"), ensure_ascii=False)
    return b'%s,"%s":%s}' % (text[:-1], METADATA.encode(), metadata.encode("utf-8", "surrogatepass"))


def tombstone(pmid: int, order: int) -> bytes:
    """Encode the tombstone of a deleted document."""
    return json.dumps({"pmid": pmid, "order": order, "deleted": True}).encode()


def from_source(stored: Mapping[str, Any]) -> Document:
    """Decode a document stored in Elasticsearch.

    Raises LookupError, TypeError, ValueError or struct.error if it is damaged."""
    texts = stored["title"], stored["abstract"]
    if not isinstance(stored["pmid"], int) or not all(isinstance(text, str) for text in texts):
        raise TypeError("not a document of bioqa")
    titles, abstracts, parts = stored["title_sentences"], stored["abstract_sentences"], stored["parts"]
    numbers = (len(titles) // 2, len(abstracts) // 2, len(parts) // 3, *titles, *abstracts, *parts)
    published, metadata = describe(stored)
    return decode(
        Record(
            stored["pmid"],
            stored["version"],
            published.toordinal() if published else NO_DATE,
            stored["title"],
            stored["abstract"],
            struct.pack(f"<{len(numbers)}I", *numbers),
        ),
        metadata,
    )


def describe(stored: Mapping[str, Any]) -> Described:
    """Decode what a document says beside its text; it raises as ``from_source`` does."""
    published, metadata = stored.get("published"), stored.get(METADATA, "")
    if not isinstance(metadata, str):
        raise TypeError("not metadata of bioqa")
    return Described(
        date.fromisoformat(published) if published else None,
        unpack(metadata.encode("utf-8", "surrogatepass")),
    )
