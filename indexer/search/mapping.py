"""What Elasticsearch holds of a document, and how it takes texts apart."""

import json
import struct
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from typing import Any

from bioqa.bioasq.domain import Document
from bioqa.indexer.search.records import NO_DATE, Record, decode
from bioqa.indexer.search.stopwords import STOP_WORDS

FORMAT = 1
"""Raised whenever mapping, analyser or stored form change, so that no index is ever misread."""

TEXT = "text"
"""The field that is searched: title and abstract copied together."""

ANALYZER = "bioqa"


@dataclass(frozen=True, slots=True)
class Shape:
    """How an index is made. k1 and b were tuned on development questions: see bench/elastic_grid.py."""

    shards: int = 1
    replicas: int = 0
    """Copies of each shard beside the first, made when loading has finished."""
    k1: float = 0.7
    b: float = 0.67


DEFAULT_SHAPE = Shape()


def index_body(shape: Shape, notes: Mapping[str, Any]) -> dict[str, Any]:
    """Settings and mapping of a new index, which is not replicated while it is loaded."""
    return {
        "settings": {
            "number_of_shards": shape.shards,
            "number_of_replicas": 0,
            # What is written becomes visible when it is committed, and costs no refreshes before.
            "refresh_interval": "-1",
            "similarity": {ANALYZER: {"type": "BM25", "k1": shape.k1, "b": shape.b}},
            "analysis": deepcopy(_ANALYSIS),
        },
        "mappings": {
            "dynamic": "strict",
            "_meta": {"bioqa": dict(notes)},
            "properties": deepcopy(_PROPERTIES),
        },
    }


_ANALYSIS = {
    "analyzer": {
        ANALYZER: {
            "type": "custom",
            "tokenizer": "letters_and_digits",
            "filter": ["lowercase", "asciifolding", "question_words", "stems"],
        }
    },
    "tokenizer": {"letters_and_digits": {"type": "pattern", "pattern": r"[^\p{L}\p{N}]+"}},
    "filter": {
        "question_words": {"type": "stop", "stopwords": list(STOP_WORDS)},
        # Snowball's English stemmer, as in the embedded index; "english" would be Porter's first one.
        "stems": {"type": "stemmer", "language": "porter2"},
    },
}

_KEPT: dict[str, Any] = {"index": False, "doc_values": False}
_PROPERTIES: dict[str, Any] = {
    # An answer's equal scores are put into order by it.
    "pmid": {"type": "long", "index": False},
    "version": {"type": "integer", **_KEPT},
    # The place of the event that wrote it among all events: see bioqa.indexer.loading.ledger.order.
    "order": {"type": "long", "index": False},
    "published": {"type": "date", "format": "strict_date"},
    "title": {"type": "text", "index": False, "norms": False, "copy_to": TEXT},
    "abstract": {"type": "text", "index": False, "norms": False, "copy_to": TEXT},
    "has_title": {"type": "boolean"},
    "has_abstract": {"type": "boolean"},
    # Begin and end of each sentence; of each part also the length of its label.
    "title_sentences": {"type": "integer", **_KEPT},
    "abstract_sentences": {"type": "integer", **_KEPT},
    "parts": {"type": "integer", **_KEPT},
    # Only in tombstones, which keep a deleted document's PMID and order and nothing else.
    "deleted": {"type": "boolean", "index": False},
    # Positions would only serve phrases, which questions have none of.
    TEXT: {"type": "text", "analyzer": ANALYZER, "similarity": ANALYZER, "index_options": "freqs"},
}


def source(record: Record, order: int) -> bytes:
    """The stored form, JSON in UTF-8."""
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
    }
    if record.published != NO_DATE:
        stored["published"] = date.fromordinal(record.published).isoformat()
    return json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode()


def tombstone(pmid: int, order: int) -> bytes:
    return json.dumps({"pmid": pmid, "order": order, "deleted": True}).encode()


def from_source(stored: Mapping[str, Any]) -> Document:
    titles, abstracts, parts = stored["title_sentences"], stored["abstract_sentences"], stored["parts"]
    numbers = (len(titles) // 2, len(abstracts) // 2, len(parts) // 3, *titles, *abstracts, *parts)
    published = stored.get("published")
    return decode(
        Record(
            stored["pmid"],
            stored["version"],
            date.fromisoformat(published).toordinal() if published else NO_DATE,
            stored["title"],
            stored["abstract"],
            struct.pack(f"<{len(numbers)}I", *numbers),
        )
    )
