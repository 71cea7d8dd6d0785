"""CSV, as Python's own reader and spreadsheets take it."""

import pytest
from hypothesis import given, settings

from bioqa.app.exports.fields import one_line
from bioqa.app.exports.table import csv_table
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Author, Metadata
from tests.app.exports.articles import BARE, HOSTILE, RICH, crowd, documents, retracted
from tests.app.exports.reading import read_table


def test_all_that_a_record_says() -> None:
    (row,) = read_table(csv_table([RICH]))
    assert row == {
        "pmid": "90000001",
        "standing": "Retracted",
        "notices": "Retraction in: Vellum Q. Invent J. 2020 Feb;4(2):11. PMID: 90000002. "
        "Erratum in: Invent J. 2020;1:2. PMID: 90000003.",
        "title": RICH.title,
        "authors": "Tamsin KL, van der Berg J Jr; The {Big} Group, Inc. and Friends; Øster, and Søn B, Solo, "
        "et al",
        "journal": "Invent J",
        "year": "2019",
        "date": "2019 Jul 2",
        "volume": "47",
        "issue": "W1",
        "pages": "W594-W599",
        "doi": RICH.metadata.doi,
        "pmcid": "PMC6602490",
        "types": "Journal Article; Review",
        "languages": "eng; fre",
        "mesh": "Humans; Veridol; Pain",
        "keywords": "text & mining; HLA-B*57:01",
        "abstract": RICH.abstract,
        "pubmed": "https://pubmed.ncbi.nlm.nih.gov/90000001/",
        "doi_link": "https://doi.org/10.1002/(SICI)1097%3C1661::AID%3E3.0.CO%3B2-2",
        "pmc": "https://pmc.ncbi.nlm.nih.gov/articles/PMC6602490/",
    }


def test_what_is_not_known_is_empty() -> None:
    hostile, bare = read_table(csv_table([HOSTILE, BARE]))
    assert hostile["abstract"] == one_line(HOSTILE.abstract)
    assert {name for name, value in bare.items() if value} == {"pmid", "title", "pubmed"}


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t=", "\r=", "\n=", " =", "＝"])
def test_no_cell_is_a_formula(first: str) -> None:
    text = f'{first}HYPERLINK("http://example.org","x")'
    authors = (Author(text), Author(group=text))
    document = Document("7", 1, text, text, metadata=Metadata(authors=authors, volume=text, keywords=(text,)))
    (row,) = read_table(csv_table([document]))
    for name in ("title", "abstract", "authors", "volume", "keywords"):
        assert row[name].startswith("'")
        assert row[name][1:].startswith(one_line(text))


def test_a_withdrawn_article_says_so() -> None:
    (row,) = read_table(csv_table([retracted()]))
    assert row["standing"] == "Retracted"


def test_many_authors() -> None:
    (row,) = read_table(csv_table([crowd(3000)]))
    assert row["authors"].count("Name") == 3000


@settings(max_examples=60)
@given(documents)
def test_no_text_breaks_a_row(document: Document) -> None:
    first, second = read_table(csv_table([document, BARE]))
    assert first["title"].removeprefix("'") == document.title.removeprefix("'")
    assert second["title"] == "Plain."
