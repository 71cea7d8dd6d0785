"""Metadata for tests of the index, with something in every field."""

from datetime import date

from bioqa.bioasq.metadata import (
    Author,
    Correction,
    Heading,
    Journal,
    Markup,
    Metadata,
    PartialDate,
    Qualifier,
)

FULL = Metadata(
    authors=(
        Author("Tamsin", "Kerra L", "KL", "Jr", orcid="0000-0002-1825-0097"),
        Author(group="Kelp Study Group"),
        Author("Ørsted"),
    ),
    authors_complete=False,
    journal=Journal("Invent J", "Inventions: a journal", "0000-0019", "0000001", "Electronic"),
    volume="12",
    issue="Suppl 1",
    pages="101-9",
    published=PartialDate(2015, 3, text="2015 Spring", until=date(2015, 5, 31)),
    electronic=PartialDate(2014, 12, 30),
    doi="10.1234/invent.2015(1)",
    pmcid="PMC1234567",
    types=("Journal Article", "Retracted Publication"),
    headings=(
        Heading("Humans", "D006801"),
        Heading("Kelp", "D007628", True, (Qualifier("chemistry"), Qualifier("drug effects", True))),
    ),
    keywords=("kelp", 'a "quoted" one\\'),
    substances=("Iodine",),
    languages=("eng", "fre"),
    status="MEDLINE",
    corrections=(Correction("RetractionIn", "38000002", "Invent J. 2016;13:1"), Correction("CommentIn")),
    vernacular_title="Le varech.",
    markup=(Markup("title", 0, 8, "i"), Markup("abstract", 6, 7, "sup")),
)
