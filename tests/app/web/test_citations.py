"""What other people's readers of the three formats make of our files."""

from datetime import date

import nbib
import pytest
import rispy
from hypothesis import given, settings
from hypothesis import strategies as st

from bioqa.app.web import citations
from bioqa.bioasq.domain import Document
from tests.app.web.citing import read_bibtex

HOSTILE = Document(
    "90000001",
    1,
    r"50% of $5 & {braces} \ in_vivo ~ #1 ^2 <i>",
    "METHODS: α-synuclein\u2009was } measured.\nER  - \r\nTY  - BOOK\n\n@article{x,}\nPMID- 7 {"
    + " long words" * 40,
    date(2001, 1, 1),
)
PLAIN = Document("42", 1, "Plain.", "", None)
BOTH = (HOSTILE, PLAIN)


def one_line(text: str) -> str:
    return " ".join(text.splitlines())


def test_ris() -> None:
    written = citations.ris(BOTH)
    assert written.count("\r\n") == written.count("\n")
    first, second = rispy.loads(written)
    assert first == {
        "type_of_reference": "JOUR",
        "title": HOSTILE.title,
        "abstract": one_line(HOSTILE.abstract),
        "year": "2001",
        "accession_number": "90000001",
        "name_of_database": "PubMed",
        "urls": ["http://www.ncbi.nlm.nih.gov/pubmed/90000001"],
    }
    assert second.keys() == first.keys() - {"abstract", "year"}


NO_BRACES = {ord("{"): None, ord("}"): None}


def test_bibtex() -> None:
    (key, first), (other, second) = read_bibtex(citations.bibtex(BOTH))
    assert (key, other) == ("pmid90000001", "pmid42")
    # The reader decodes a circumflex as the modifier letter, and does not know LaTeX's names of braces.
    assert first["title"] == HOSTILE.title.replace("^", "ˆ").translate(NO_BRACES)
    assert first["abstract"] == one_line(HOSTILE.abstract).translate(NO_BRACES)
    assert r"\textbraceleft{}braces\textbraceright{}" in citations.bibtex(BOTH)
    assert (first["year"], first["pmid"]) == ("2001", "90000001")
    assert first["url"] == HOSTILE.url
    assert second.keys() == {"title", "pmid", "url"}


def test_nbib() -> None:
    written = citations.nbib(BOTH)
    assert all(len(line) <= 90 for line in written.splitlines())
    first, second = nbib.read(written)
    assert first["pubmed_id"] == 90000001
    assert first["title"] == HOSTILE.title
    assert first["abstract"] == one_line(HOSTILE.abstract)
    assert first["publication_date"] == "2001"
    assert second == {"pubmed_id": 42, "title": "Plain."}


text = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1).filter(
    lambda t: t == t.strip()
)


@settings(max_examples=50, deadline=None)
@given(title=text, abstract=text)
def test_no_text_breaks_a_record(title: str, abstract: str) -> None:
    documents = (Document("7", 1, title, abstract), PLAIN)
    read = [(r["title"], r.get("abstract")) for r in rispy.loads(citations.ris(documents))]
    assert read == [(title, abstract), ("Plain.", None)]
    keys = [key for key, _ in read_bibtex(citations.bibtex(documents))]
    assert keys == ["pmid7", "pmid42"]


@pytest.mark.parametrize("spaces", [" ", "  ", "   "])
def test_wrapped_lines_can_be_joined_again(spaces: str) -> None:
    abstract = spaces.join(["word"] * 100)
    lines = citations.nbib([Document("7", 1, "T.", abstract)]).splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("AB  - "))
    assert len(lines) > begin + 3 or spaces != " "
    assert " ".join(line[6:] for line in lines[begin:]) == abstract
