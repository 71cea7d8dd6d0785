"""A few made-up citations that differ in everything that filters ask for."""

from datetime import date

from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Author, Correction, Heading, Journal, Metadata, Qualifier
from tests.indexer.documents import document

_ASTHMA = Heading("Asthma", "D001249", True, (Qualifier("drug therapy", True), Qualifier("genetics")))
_HUMANS = Heading("Humans", "D006801")
_RATS = Heading("Rats", "D051381")


def _cited(pmid: int, title: str, abstract: str, published: date | None, metadata: Metadata) -> Document:
    plain = document(pmid, title, abstract, published=published)
    return Document(plain.pmid, plain.version, title, abstract, published, plain.sentences, metadata=metadata)


CITED = (
    _cited(
        101,
        "Inhaled steroids in children with asthma.",
        "The response of airways was measured. Steroids helped asthma.",
        date(2015, 1, 1),
        Metadata(
            authors=(
                Author("Tamsin", "Karla L", "KL"),
                Author("Sørensen", "Åse", "Å"),
                Author(group="Invented Asthma Group"),
            ),
            journal=Journal("Invented J Med", "The invented journal of medicine", "0000-0001", "0000001"),
            doi="10.1000/Inv.2015(1)",
            pmcid="PMC90101",
            types=("Journal Article", "Randomized Controlled Trial"),
            headings=(_ASTHMA, _HUMANS),
            languages=("eng",),
        ),
    ),
    _cited(
        102,
        "Asthma in rats: a review.",
        "",
        date(2015, 3, 4),
        Metadata(
            authors=(Author("Sørensen", "Åse", "Å"), Author("Tamsin", "Karla", "K")),
            journal=Journal("Lancet Invent", "Lancet of inventions (London, England)", "0000-0002"),
            types=("Review",),
            headings=(Heading("Asthma", "D001249", qualifiers=(Qualifier("genetics"),)), _RATS),
            languages=("eng", "fre"),
        ),
    ),
    _cited(
        103,
        "Retracted: steroids cure asthma.",
        "All were cured. Asthma of children, too.",
        date(2016, 1, 1),
        Metadata(
            authors=(Author("van der Berg", "Jan", "J"),),
            journal=Journal("Invented J Med", "The invented journal of medicine", "0000-0001"),
            types=("Journal Article", "Retracted Publication"),
            corrections=(Correction("RetractionIn", "104", "Invented J Med. 2017"),),
            headings=(_HUMANS,),
            languages=("ger",),
        ),
    ),
    _cited(
        104,
        "Retraction: steroids cure asthma.",
        "",
        date(2017, 12, 31),
        Metadata(types=("Retraction of Publication",), corrections=(Correction("RetractionOf", "103"),)),
    ),
    _cited(105, "Air pollution and asthma.", "Ozone, and asthma in the children.", None, Metadata()),
    _cited(
        106,
        "",
        "Heart failure; failure of the heart. Heart of failure.",
        date(1999, 12, 31),
        Metadata(types=("Meta-Analysis",), corrections=(Correction("RetractionIn", "107"),)),
    ),
)
"""Of different standing, type, language, journal and date; one without a date, two without an abstract."""
