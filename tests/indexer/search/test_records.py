"""Records: documents packed and unpacked."""

import pickle
from dataclasses import replace
from datetime import date

import pytest

from bioqa.bioasq.domain import Document, Part
from bioqa.indexer.search.records import decode, encode, pmid_number
from bioqa.system.errors import BioqaError
from tests.indexer.documents import document
from tests.indexer.metadata import FULL

PARTS = (Part("AIMS", 0, 10), Part("", 10, 16))


def test_a_part_that_does_not_start_with_its_label_is_a_mistake() -> None:
    wrong = document(1, abstract="AIMS: All.", parts=(Part("METHODS", 0, 10),))
    with pytest.raises(ValueError, match="PMID 1: the part at 0 does not start with its label"):
        encode(wrong)


@pytest.mark.parametrize("day", [None, date.min, date(2024, 2, 29), date.max])
def test_dates_survive(day: date | None) -> None:
    assert decode(encode(document(1, published=day))).published == day


@pytest.mark.parametrize(
    "original",
    [
        document(
            7, "β. Title.", "AIMS: All. None.", version=3, parts=(Part("AIMS", 0, 10), Part("", 10, 16))
        ),
        document(10**17, "", "Only an abstract."),
        Document("1", 1, "", ""),
        replace(document(8, "One."), metadata=FULL),
    ],
)
def test_a_document_comes_back_from_its_record(original: Document) -> None:
    record = encode(original)
    assert decode(record) == original
    assert pickle.loads(pickle.dumps(record)) == record


@pytest.mark.parametrize("pmid", ["", "0", "01", "1.5", "PMC1", "٥", "1" * 19])
def test_a_malformed_pmid_is_refused(pmid: str) -> None:
    with pytest.raises(BioqaError, match="not a PMID: "):
        pmid_number(pmid)
    assert pmid_number("1" * 18) == int("1" * 18)
