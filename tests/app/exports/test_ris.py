"""RIS, as rispy reads it."""

from hypothesis import given, settings

from bioqa.app.exports.fields import one_line
from bioqa.app.exports.ris import ris
from bioqa.app.exports.standing import word
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Metadata, PartialDate
from tests.app.exports.articles import BARE, HOSTILE, RICH, crowd, documents, retracted
from tests.app.exports.reading import read_ris


def test_all_that_a_record_says() -> None:
    written = ris([RICH])
    assert written.count("\r\n") == written.count("\n")
    (record,) = read_ris(written)
    assert record == {
        "type_of_reference": "JOUR",
        "authors": [
            "Tamsin, Karen Louise",
            "van der Berg, Jörg, Jr",
            "The {Big} Group Inc. and Friends,",
            "Øster and Søn, Bo",
            "Solo",
        ],
        "title": RICH.title,
        "translated_title": "Les effets",
        "secondary_title": "Invented journal of tests",
        "alternate_title1": "Invent J",
        "volume": "47",
        "number": "W1",
        "start_page": "W594",
        "end_page": "W599",
        "year": "2019",
        "date": "2019/07/02/",
        "notes": [
            "Retracted. Retraction in: Vellum Q. Invent J. 2020 Feb;4(2):11. PMID: 90000002. "
            "Erratum in: Invent J. 2020;1:2. PMID: 90000003.",
            "Publication types: Journal Article; Review",
        ],
        "abstract": RICH.abstract,
        "keywords": ["Retracted", "Humans", "Veridol", "Pain", "text & mining", "HLA-B*57:01"],
        "language": "eng; fre",
        "issn": "0305-1048",
        "doi": RICH.metadata.doi,
        "accession_number": "90000001",
        "custom2": "PMC6602490",
        "name_of_database": "PubMed",
        "urls": [
            "https://pubmed.ncbi.nlm.nih.gov/90000001/",
            "https://doi.org/10.1002/(SICI)1097%3C1661::AID%3E3.0.CO%3B2-2",
        ],
    }


def test_what_is_not_known_is_left_out() -> None:
    hostile, bare = read_ris(ris([HOSTILE, BARE]))
    assert hostile["abstract"] == one_line(HOSTILE.abstract)
    assert hostile["year"] == "2001"
    assert "date" not in hostile
    assert bare.keys() == {"type_of_reference", "title", "accession_number", "name_of_database", "urls"}


def test_dates_of_every_precision() -> None:
    dates = {
        PartialDate(2015): "2015///",
        PartialDate(2015, 3): "2015/03//",
        PartialDate(2015, 3, 4): "2015/03/04/",
        PartialDate(2015, 3, text="2015 Spring"): "2015///Spring",
        PartialDate(1998, 12, text="1998 Dec-1999 Jan"): "1998///Dec-1999 Jan",
    }
    for date, written in dates.items():
        document = Document("7", 1, "T.", "", metadata=Metadata(published=date))
        assert read_ris(ris([document]))[0]["date"] == written


def test_a_withdrawn_article_says_so_first() -> None:
    (record,) = read_ris(ris([retracted()]))
    assert record["notes"][0].startswith("Retracted. Retraction in: ")
    assert record["keywords"][0] == "Retracted"


def test_many_authors() -> None:
    (record,) = read_ris(ris([crowd(3000)]))
    assert len(record["authors"]) == 3000
    assert len(record["title"]) == 10_000


@settings(max_examples=60)
@given(documents)
def test_no_text_breaks_a_record(document: Document) -> None:
    first, second = read_ris(ris([document, BARE]))
    assert first.get("title", "") == document.title
    assert first.get("abstract", "") == document.abstract
    assert len(first.get("authors", [])) == len(document.metadata.authors)
    assert ("notes" in first and first["notes"][0].startswith(word(document.metadata))) or not word(
        document.metadata
    )
    assert second["title"] == BARE.title
