"""BibTeX, as bibtexparser reads it."""

from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares import SeparateCoAuthors, SplitNameParts
from hypothesis import given, settings

from bioqa.app.exports.bibtex import bibtex
from bioqa.app.exports.fields import one_line
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Author, Heading, Metadata, PartialDate
from tests.app.exports.articles import BARE, HOSTILE, RICH, crowd, documents, retracted
from tests.app.exports.reading import read_bibtex

NO_BRACES = {ord("{"): None, ord("}"): None}


def test_all_that_a_record_says() -> None:
    ((key, entry),) = read_bibtex(bibtex([RICH]))
    assert key == "pmid90000001"
    assert entry.pop("author").endswith(" and others")
    assert entry == {
        "title": RICH.title,
        "journal": "Invented journal of tests",
        "shortjournal": "Invent J",
        "volume": "47",
        "number": "W1",
        "pages": "W594–W599",
        "year": "2019",
        "month": "jul",
        "note": "Retracted. Retraction in: Vellum Q. Invent J. 2020 Feb;4(2):11. PMID: 90000002. "
        "Erratum in: Invent J. 2020;1:2. PMID: 90000003.",
        "abstract": RICH.abstract,
        "keywords": "Retracted; Humans; Veridol; Pain; text & mining; HLA-B*57:01",
        "language": "eng, fre",
        "issn": "0305-1048",
        "doi": RICH.metadata.doi,
        "pmid": "90000001",
        "pmcid": "PMC6602490",
        "url": "https://pubmed.ncbi.nlm.nih.gov/90000001/",
    }


def test_names_are_read_in_their_parts() -> None:
    library = parse_string(bibtex([RICH]), append_middleware=[SeparateCoAuthors(), SplitNameParts()])
    names = library.entries[0]["author"]
    parts = [(n.first, n.von, n.last, n.jr) for n in names]
    assert parts == [
        (["Karen", "Louise"], [], ["Tamsin"], []),
        (["Jörg"], ["van", "der"], ["Berg"], ["Jr"]),
        ([], [], [r"{The \textbraceleft{}Big\textbraceright{} Group, Inc. and Friends}"], []),
        (["Bo"], [], ["{Øster, and Søn}"], []),
        ([], [], ["{Solo}"], []),
        ([], [], ["others"], []),
    ]


def test_special_characters() -> None:
    (key, first), (other, second) = read_bibtex(bibtex([HOSTILE, BARE]))
    assert (key, other) == ("pmid90000007", "pmid42")
    # The reader decodes a circumflex as the modifier letter, and does not know LaTeX's names of braces.
    assert first["title"] == HOSTILE.title.replace("^", "ˆ").translate(NO_BRACES)
    assert first["abstract"] == one_line(HOSTILE.abstract).translate(NO_BRACES)
    assert r"\textbraceleft{}braces\textbraceright{}" in bibtex([HOSTILE])
    assert (first["year"], first["pmid"]) == ("2001", "90000007")
    assert second.keys() == {"title", "pmid", "url"}


def test_braces_in_identifiers_end_no_field() -> None:
    document = Document("7", 1, "T.", "", metadata=Metadata(doi="10.1/a}b{c_d"))
    assert "  doi = {10.1/a%7Db%7Bc_d},\n" in bibtex([document])


def test_dates_say_no_more_than_is_known() -> None:
    for date, month in ((PartialDate(2015), ""), (PartialDate(2015, 3, text="2015 Spring"), "")):
        document = Document("7", 1, "T.", "", metadata=Metadata(published=date))
        assert read_bibtex(bibtex([document]))[0][1].get("month", "") == month


def test_a_withdrawn_article_says_so() -> None:
    ((_, entry),) = read_bibtex(bibtex([retracted()]))
    assert entry["note"].startswith("Retracted. Retraction in: ")


def test_many_authors() -> None:
    library = parse_string(bibtex([crowd(3000)]), append_middleware=[SeparateCoAuthors()])
    assert len(library.entries[0]["author"]) == 3000


@settings(max_examples=60)
@given(documents)
def test_no_text_breaks_an_entry(document: Document) -> None:
    written = bibtex([document, BARE])
    assert [key for key, _ in read_bibtex(written)] == ["pmid7", "pmid42"]
    assert written.count("{") == written.count("}")
    library = parse_string(written, append_middleware=[SeparateCoAuthors(), SplitNameParts()])
    assert not library.failed_blocks
    authors = document.metadata.authors
    if authors:
        names = library.entries[0]["author"]
        assert len(names) == len(authors) + (not document.metadata.authors_complete)


def test_a_name_of_conjunctions() -> None:
    document = Document(
        "7", 1, "T.", "", metadata=Metadata(authors=(Author("and", "Others"), Author("B", "C")))
    )
    library = parse_string(bibtex([document]), append_middleware=[SeparateCoAuthors(), SplitNameParts()])
    assert [name.last for name in library.entries[0]["author"]] == [["{and}"], ["B"]]


def test_keywords_hold_nothing_that_separates_keywords() -> None:
    names = ("Models, Molecular", "Carcinoma, Squamous Cell, Rare", "1,4-alpha-Glucan", "a; b")
    document = Document("7", 1, "", "", metadata=Metadata(headings=tuple(map(Heading, names))))
    keywords = "{Models (Molecular); Carcinoma (Squamous Cell) (Rare); 1,4-alpha-Glucan; a (b)}"
    assert f"keywords = {keywords}" in bibtex([document])
