"""NBIB, as the package nbib reads it."""

import re
from dataclasses import replace
from datetime import datetime

import nbib as reader
import pytest
from hypothesis import given, settings

from bioqa.app.exports.fields import one_line
from bioqa.app.exports.nbib import nbib
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Metadata, PartialDate
from tests.app.exports.articles import BARE, HOSTILE, RICH, crowd, documents, retracted


def tags(written: str, tag: str) -> list[str]:
    joined = written.replace("\n      ", " ")
    return re.findall(rf"^{tag:<4}- (.*)$", joined, re.MULTILINE)


def test_all_that_a_record_says() -> None:
    written = nbib([RICH])
    (record,) = reader.read(written)
    assert [author["author"] for author in record.pop("authors")] == [
        "Tamsin, Karen Louise",
        "van der Berg, Jörg, Jr",
        "Øster, and Søn, Bo",
        "Solo",
    ]
    assert record == {
        "pubmed_id": 90000001,
        "nlm_status": "MEDLINE",
        "linking_issn": "0305-1048",
        "journal_volume": "47",
        "journal_issue": "W1",
        "publication_date": "2019 Jul 2",
        "title": RICH.title,
        "transliterated_title": "Les effets",
        "pages": "W594-9",
        "abstract": RICH.abstract,
        "corporate_author": "The {Big} Group, Inc. and Friends",
        "language": "fre",
        "publication_types": ["Journal Article", "Review", "Retracted Publication"],
        "electronic_publication_date": datetime(2019, 5, 3),
        "journal_abbreviated": "Invent J",
        "journal": "Invented journal of tests",
        "nlm_journal_id": "0411011",
        "descriptors": [
            {"descriptor": "Humans", "major": False},
            {"descriptor": "Veridol", "qualifier": "adverse effects", "major": True},
            {"descriptor": "Veridol", "qualifier": "blood", "major": False},
            {"descriptor": "Pain", "major": True},
        ],
        "keywords": ["Retracted", "text & mining", "HLA-B*57:01"],
        "pmcid": 6602490,
        "doi": RICH.metadata.doi,
    }
    assert tags(written, "AU") == ["Tamsin KL", "van der Berg J Jr", "Øster, and Søn B", "Solo"]
    assert tags(written, "AUID") == ["ORCID: 0000-0002-1825-0097"]
    assert tags(written, "RIN") == ["Vellum Q. Invent J. 2020 Feb;4(2):11. PMID: 90000002"]
    assert tags(written, "EIN") == ["Invent J. 2020;1:2. PMID: 90000003"]
    assert tags(written, "NM") == ["Veridol"]
    assert tags(written, "SO") == ["Invent J. 2019 Jul 2;47(W1):W594-9"]


def test_what_is_not_known_is_left_out() -> None:
    written = nbib([HOSTILE, BARE])
    assert all(len(line) <= 90 for line in written.splitlines())
    first, second = reader.read(written)
    assert first["title"] == HOSTILE.title
    assert first["abstract"] == one_line(HOSTILE.abstract)
    assert first["publication_date"] == "2001"
    assert second == {"pubmed_id": 42, "title": "Plain."}


def test_a_withdrawn_article_has_the_type_and_the_notice_that_programs_look_for() -> None:
    written = nbib([retracted()])
    assert tags(written, "PT") == ["Retracted Publication"]
    assert tags(written, "OT") == ["Retracted"]
    assert len(tags(written, "RIN")) == 1


def test_an_electronic_date_is_written_if_its_day_is_known() -> None:
    for date, written in ((PartialDate(2019, 5, 3), ["20190503"]), (PartialDate(2019, 5), []), (None, [])):
        document = Document("7", 1, "T.", "", metadata=Metadata(electronic=date))
        assert tags(nbib([document]), "DEP") == written


def test_many_authors() -> None:
    (record,) = reader.read(nbib([crowd(3000)]))
    assert len(record["authors"]) == 3000
    assert record["title"] == crowd(1).title


@settings(max_examples=60)
@given(documents)
def test_no_text_breaks_a_record(document: Document) -> None:
    lines = nbib([document, BARE]).split("\n")
    assert all(re.match(r"[A-Z]{2,4} *- |      |$", line) for line in lines)
    assert [line for line in lines if line.startswith("PMID")] == ["PMID- 7", "PMID- 42"]


@pytest.mark.parametrize("spaces", [" ", "  ", "   "])
def test_wrapped_lines_can_be_joined_again(spaces: str) -> None:
    abstract = spaces.join(["word"] * 100)
    lines = nbib([Document("7", 1, "T.", abstract)]).splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("AB  - "))
    assert len(lines) > begin + 3 or spaces != " "
    assert " ".join(line[6:] for line in lines[begin:]) == abstract


@pytest.mark.parametrize(("kind", "attribute"), [("Print", "print_issn"), ("Electronic", "electronic_issn")])
def test_the_kind_of_an_issn_is_named(kind: str, attribute: str) -> None:
    journal = replace(RICH.metadata.journal, issn_kind=kind)
    written = nbib([replace(RICH, metadata=replace(RICH.metadata, journal=journal))])
    assert tags(written, "IS") == [f"0305-1048 ({kind})"]
    (record,) = reader.read(written)
    assert record[attribute] == "0305-1048"
