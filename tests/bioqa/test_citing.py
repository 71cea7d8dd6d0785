"""``bioqa.cite``."""

from dataclasses import replace

import pytest

import bioqa
from bioqa.bioasq.metadata import Correction, Metadata


def test_one_document_and_many(index: bioqa.Index) -> None:
    found = index.documents(["90000032", "90000035"])
    one = bioqa.cite(found["90000032"])
    assert "Why some people bleed" in one
    assert bioqa.cite(found.values()) == one + bioqa.cite(found["90000035"])
    assert bioqa.cite([], "ris") == ""


def test_a_retracted_article_says_so(index: bioqa.Index) -> None:
    document = index.document("90000032")
    assert document is not None
    metadata = Metadata(corrections=(Correction("RetractionIn", "7", "Invent J. 2020"),))
    cited = bioqa.cite(replace(document, metadata=metadata))
    assert "Retracted. Retraction in: Invent J. 2020. PMID: 7." in cited


def test_an_unknown_format_is_named(index: bioqa.Index) -> None:
    with pytest.raises(bioqa.BioqaError, match=r'must be one of ris, .*, apa, not "doc"'):
        bioqa.cite([], "doc")
