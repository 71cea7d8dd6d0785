"""Metadata in answers: every field of it, as JSON."""

from dataclasses import fields

from bioqa.app.http.metadata import CitationMetadata, citation_metadata
from bioqa.bioasq.metadata import Metadata, metadata_json
from tests.indexer.metadata import FULL


def test_every_field_is_there() -> None:
    assert {field.name for field in fields(Metadata)} == set(CitationMetadata.model_fields)


def test_the_answer_has_the_same_form_as_bioqa_parse() -> None:
    for metadata in (FULL, Metadata()):
        assert citation_metadata(metadata).model_dump(mode="json") == metadata_json(metadata)


def test_a_client_reads_what_was_sent() -> None:
    sent = citation_metadata(FULL)
    assert CitationMetadata.model_validate_json(sent.model_dump_json()) == sent
    assert sent.authors == FULL.authors
    assert sent.headings == FULL.headings


def test_dates_are_shown_as_precise_as_they_are_known() -> None:
    published = citation_metadata(FULL).model_dump(mode="json")["published"]
    assert published == {"text": "2015 Spring", "earliest": "2015-03-01", "latest": "2015-05-31"}
