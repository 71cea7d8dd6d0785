"""Documents as Elasticsearch stores them, and the settings of a new index."""

import json
from dataclasses import replace
from datetime import date

import pytest

from bioqa.bioasq.domain import Document, Part
from bioqa.indexer.medline.packed import DamagedMetadata
from bioqa.indexer.search.elastic.mapping import (
    ANALYZER,
    FORMAT,
    METADATA,
    TEXT,
    Shape,
    from_source,
    index_body,
    source,
    tombstone,
)
from bioqa.indexer.search.records import encode
from bioqa.indexer.search.stopwords import STOP_WORDS
from tests.indexer.documents import document
from tests.indexer.metadata import FULL

STRUCTURED = document(
    7,
    "β-Blockers\u00a0work. Do they?",
    "AIMS: All. None.RESULTS: Some.",
    version=3,
    published=date(1999, 2, 28),
    parts=(Part("AIMS", 0, 16), Part("RESULTS", 16, 30)),
)
CITED = replace(STRUCTURED, metadata=FULL)


@pytest.mark.parametrize(
    "original",
    [STRUCTURED, CITED, document(1), document(2, "", "Only an abstract."), Document("3", 1, "", "")],
)
def test_a_document_comes_back_from_its_stored_form(original: Document) -> None:
    assert from_source(json.loads(source(encode(original), 5))) == original


@pytest.mark.parametrize("metadata", ["x", "{}", "[]", "7"])
def test_damaged_metadata_is_named_when_it_is_looked_at(metadata: str) -> None:
    document = from_source(json.loads(source(encode(CITED), 5)) | {METADATA: metadata})
    with pytest.raises(DamagedMetadata, match="the index is damaged"):
        _ = document.metadata.types


@pytest.mark.parametrize("metadata", [7, {}, [None] * 18])
def test_what_is_no_metadata_is_refused_at_once(metadata: object) -> None:
    with pytest.raises(TypeError):
        from_source(json.loads(source(encode(CITED), 5)) | {METADATA: metadata})


def test_what_source_leaves_out_is_flushed_often() -> None:
    """Or merging keeps all that was sent beside it."""
    body = index_body(Shape(), {})
    assert body["mappings"]["_source"]["excludes"]
    assert body["settings"]["translog"] == {"flush_threshold_size": "128mb"}


def test_the_stored_form_has_only_fields_of_the_strict_mapping() -> None:
    fields = index_body(Shape(), {})["mappings"]["properties"].keys()
    stored, deleted = json.loads(source(encode(CITED), 5)), json.loads(tombstone(7, 6))
    assert stored.keys() | deleted.keys() == fields - {TEXT}
    assert (stored["pmid"], stored["order"], stored["version"]) == (7, 5, 3)
    assert deleted == {"pmid": 7, "order": 6, "deleted": True}


def test_missing_texts_and_dates_are_marked() -> None:
    stored = json.loads(source(encode(document(2, "", "Text.")), 0))
    assert (stored["has_title"], stored["has_abstract"]) == (False, True)
    assert "published" not in stored


def test_the_shape_becomes_settings() -> None:
    body = index_body(Shape(shards=3, replicas=2, k1=0.5, b=0.1), {"format": FORMAT})
    assert body["settings"]["number_of_shards"] == 3
    assert body["settings"]["number_of_replicas"] == 0  # replicas follow when loading has finished
    assert body["settings"]["similarity"][ANALYZER] == {"type": "BM25", "k1": 0.5, "b": 0.1}
    assert body["mappings"]["_meta"] == {"bioqa": {"format": FORMAT}}


def test_a_body_can_be_changed_without_changing_the_next_one() -> None:
    body = index_body(Shape(), {})
    body["settings"]["analysis"]["filter"].clear()
    body["mappings"]["properties"].clear()
    again = index_body(Shape(), {})
    assert again["settings"]["analysis"]["filter"]["question_words"]["stopwords"] == list(STOP_WORDS)
    assert TEXT in again["mappings"]["properties"]
