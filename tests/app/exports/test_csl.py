"""CSL-JSON, as citeproc reads it."""

import json

from citeproc.source.json import CiteProcJSON
from hypothesis import given, settings

from bioqa.app.exports.csl import csl_item, csl_json
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Metadata, PartialDate
from tests.app.exports.articles import BARE, HOSTILE, RICH, crowd, dates, documents, retracted


def test_all_that_a_record_says() -> None:
    (item,) = json.loads(csl_json([RICH]))
    assert item == {
        "id": "pmid90000001",
        "type": "article-journal",
        "status": "Retracted",
        "title": RICH.title,
        "original-title": "Les effets",
        "author": [
            {"family": "Tamsin", "given": "Karen Louise"},
            {"family": "van der Berg", "given": "Jörg", "suffix": "Jr"},
            {"literal": "The {Big} Group, Inc. and Friends"},
            {"family": "Øster, and Søn", "given": "Bo"},
            {"family": "Solo"},
        ],
        "issued": {"date-parts": [[2019, 7, 2]]},
        "container-title": "Invented journal of tests",
        "container-title-short": "Invent J",
        "volume": "47",
        "issue": "W1",
        "page": "W594-W599",
        "abstract": RICH.abstract,
        "keyword": "Retracted; Humans; Veridol; Pain; text & mining; HLA-B*57:01",
        "language": "eng, fre",
        "ISSN": "0305-1048",
        "DOI": RICH.metadata.doi,
        "PMID": "90000001",
        "PMCID": "PMC6602490",
        "URL": "https://pubmed.ncbi.nlm.nih.gov/90000001/",
        "note": "Retracted. Retraction in: Vellum Q. Invent J. 2020 Feb;4(2):11. PMID: 90000002. "
        "Erratum in: Invent J. 2020;1:2. PMID: 90000003.",
    }


def test_what_is_not_known_is_left_out() -> None:
    assert csl_item(BARE).keys() == {"id", "type", "title", "PMID", "URL"}
    assert csl_item(HOSTILE)["issued"] == {"date-parts": [[2001]]}


def test_dates_of_every_precision() -> None:
    written = {
        str(date): csl_item(Document("7", 1, "T.", "", metadata=Metadata(published=date)))["issued"]
        for date in (
            PartialDate(2015),
            PartialDate(2015, 3),
            PartialDate(2015, 3, text="2015 Spring"),
            PartialDate(1999, text="1999 and later"),
        )
    }
    assert written == {
        "2015": {"date-parts": [[2015]]},
        "2015 Mar": {"date-parts": [[2015, 3]]},
        "2015 Spring": {"date-parts": [[2015]], "season": 1},
        "1999 and later": {"date-parts": [[1999]], "literal": "1999 and later"},
    }


def test_a_range_of_months_has_two_ends() -> None:
    date = PartialDate(1998, 12, None, "1998 Dec-1999 Jan", PartialDate(1999, 1).latest)
    item = csl_item(Document("7", 1, "T.", "", metadata=Metadata(published=date)))
    assert item["issued"] == {"date-parts": [[1998, 12], [1999, 1]]}


def test_a_preprint_is_an_article_of_that_genre() -> None:
    item = csl_item(Document("7", 1, "T.", "", metadata=Metadata(types=("Preprint",))))
    assert (item["type"], item["genre"]) == ("article", "Preprint")


def test_a_withdrawn_article_says_so() -> None:
    item = csl_item(retracted())
    assert item["status"] == "Retracted"
    assert item["note"].startswith("Retracted. Retraction in: ")


def test_many_authors() -> None:
    (item,) = json.loads(csl_json([crowd(3000)]))
    assert len(item["author"]) == 3000


@settings(max_examples=60)
@given(documents)
def test_a_processor_reads_whatever_is_written(document: Document) -> None:
    items = json.loads(csl_json([document, BARE]))
    source = CiteProcJSON(items)
    assert set(source) == {"pmid7", "pmid42"}
    assert "" not in items[0].values()


@settings(max_examples=30)
@given(dates)
def test_a_date_begins_where_the_record_says(date: PartialDate | None) -> None:
    item = csl_item(Document("7", 1, "T.", "", metadata=Metadata(published=date)))
    assert item.get("issued", {"date-parts": [[None]]})["date-parts"][0][0] == (date.year if date else None)
