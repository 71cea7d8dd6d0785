"""Articles whose fields try what formats cannot write, and a strategy that makes up more of them."""

from datetime import date

from hypothesis import strategies as st

from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import (
    Author,
    Correction,
    Heading,
    Journal,
    Metadata,
    PartialDate,
    Qualifier,
)

RETRACTION = Correction("RetractionIn", "90000002", "Vellum Q. Invent J. 2020 Feb;4(2):11")
GROUP = "The {Big} Group, Inc. and Friends"

RICH = Document(
    "90000001",
    1,
    "In vivo effects of 50% veridol: who gains?",
    "BACKGROUND: Veridol & placebo.",
    date(2019, 7, 2),
    metadata=Metadata(
        authors=(
            Author("Tamsin", "Karen Louise", "KL", orcid="0000-0002-1825-0097"),
            Author("van der Berg", "Jörg", "J", "Jr"),
            Author(group=GROUP),
            Author("Øster, and Søn", "Bo", "B"),
            Author("Solo"),
        ),
        authors_complete=False,
        journal=Journal("Invent J", "Invented journal of tests", "0305-1048", "0411011"),
        volume="47",
        issue="W1",
        pages="W594-9",
        published=PartialDate(2019, 7, 2),
        electronic=PartialDate(2019, 5, 3),
        doi="10.1002/(SICI)1097<1661::AID>3.0.CO;2-2",
        pmcid="PMC6602490",
        types=("Journal Article", "Review"),
        headings=(
            Heading("Humans"),
            Heading("Veridol", qualifiers=(Qualifier("adverse effects", True), Qualifier("blood"))),
            Heading("Pain", major=True),
        ),
        keywords=("text & mining", "HLA-B*57:01"),
        substances=("Veridol",),
        languages=("eng", "fre"),
        status="MEDLINE",
        vernacular_title="Les effets",
        corrections=(Correction("ErratumIn", "90000003", "Invent J. 2020;1:2"), RETRACTION),
    ),
)
"""Everything that a record can say; retracted, as only its notice says."""

BARE = Document("42", 1, "Plain.", "", None)

HOSTILE = Document(
    "90000007",
    1,
    r"50% of $5 & {braces} \ in_vivo ~ #1 ^2 <i>",
    "METHODS: α-synuclein\u2009was } measured.\nER  - \r\nTY  - BOOK\n\n@article{x,}\nPMID- 7 {"
    + " long words" * 40,
    date(2001, 1, 1),
)
"""As indices hold it whose citations have no metadata."""


def retracted(document: Document = BARE) -> Document:
    return Document(
        document.pmid,
        document.version,
        document.title,
        document.abstract,
        document.published,
        metadata=Metadata(corrections=(RETRACTION,)),
    )


def crowd(size: int) -> Document:
    """An article of many authors with a long title."""
    authors = tuple(Author(f"Name{n}", "Ada Bea", "AB") for n in range(size))
    return Document("7", 1, "Word " * 1999 + "Word.", "", None, metadata=Metadata(authors=authors))


text = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=30).map(str.strip)
names = st.one_of(
    text, st.sampled_from(["O'Neil, Jr", "{x", "a and b", "others", "Mc\\", "d'Été", "von", "%"])
)
authors = st.one_of(
    st.builds(
        Author, last=names.filter(bool), fore=names, initials=st.sampled_from(["", "AB"]), suffix=names
    ),
    st.builds(Author, group=names.filter(bool)),
)
dates = st.one_of(
    st.none(),
    st.builds(PartialDate, st.integers(1800, 2100)),
    st.builds(
        PartialDate, st.integers(1800, 2100), st.integers(1, 12), st.one_of(st.none(), st.integers(1, 28))
    ),
    st.just(PartialDate(1998, 12, None, "1998 Dec-1999 Jan", date(1999, 1, 31))),
    st.just(PartialDate(2015, 3, None, "2015 Spring", date(2015, 5, 31))),
    st.just(PartialDate(1999, text="1999 and later")),
)
metadata = st.builds(
    Metadata,
    authors=st.lists(authors, max_size=25).map(tuple),
    authors_complete=st.booleans(),
    journal=st.builds(Journal, text, text),
    volume=text,
    issue=text,
    pages=st.one_of(text, st.sampled_from(["101-9", "S12-8", "e5", "1-2; discussion 3-4", "9-1", "ix-xii"])),
    published=dates,
    electronic=dates,
    doi=text,
    pmcid=st.sampled_from(["", "PMC7"]),
    types=st.lists(st.sampled_from(["Review", "Preprint", "Retracted Publication"]), unique=True).map(tuple),
    keywords=st.lists(text, max_size=3).map(tuple),
    corrections=st.lists(
        st.builds(Correction, st.sampled_from(["RetractionIn", "UpdateIn", "Cites"]), st.just("5"), text),
        max_size=2,
    ).map(tuple),
)
documents = st.builds(
    Document,
    st.just("7"),
    st.just(1),
    text,
    text,
    st.one_of(st.none(), st.just(date(2001, 1, 1))),
    metadata=metadata,
)
