"""A citation as PubMed's summary prints it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from bioqa.app.exports.citing import nlm, source
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Journal, Metadata, PartialDate
from tests.app.exports.articles import BARE, HOSTILE, RICH, crowd, documents

SOUND = replace(RICH, metadata=replace(RICH.metadata, corrections=(), authors_complete=True))


def test_as_pubmed_prints_it() -> None:
    assert nlm(SOUND) == (
        "Tamsin KL, van der Berg J Jr; The {Big} Group, Inc. and Friends, et al. "
        "In vivo effects of 50% veridol: who gains? "
        "Invent J. 2019 Jul 2;47(W1):W594-9. doi: 10.1002/(SICI)1097<1661::AID>3.0.CO;2-2. "
        "Epub 2019 May 3. PMID: 90000001; PMCID: PMC6602490."
    )


def test_all_authors_and_shortened_lists() -> None:
    assert "Friends; Øster, and Søn B, Solo. In vivo" in nlm(SOUND, None)
    assert "Friends; Øster, and Søn B, Solo, et al. In vivo" in nlm(RICH, None)
    two = replace(RICH, metadata=replace(RICH.metadata, authors=RICH.metadata.authors[:2]))
    assert nlm(two).startswith("Tamsin KL, van der Berg J Jr, et al. In vivo")
    assert nlm(crowd(3000)).startswith("Name0 AB, Name1 AB, Name2 AB, et al. Word ")


def test_a_withdrawn_article_says_so() -> None:
    end = " Retracted. Retraction in: Vellum Q. Invent J. 2020 Feb;4(2):11. PMID: 90000002."
    assert end in nlm(RICH)


def test_what_is_not_known_is_left_out() -> None:
    assert nlm(BARE) == "Plain. PMID: 42."
    assert nlm(HOSTILE).endswith("<i>. 2001. PMID: 90000007.")


@pytest.mark.parametrize(
    ("metadata", "written"),
    [
        (Metadata(journal=Journal("J"), published=PartialDate(2015, 3), volume="3"), "J. 2015 Mar;3"),
        (Metadata(journal=Journal("", "Journal"), issue="2", pages="e5"), "Journal. (2):e5"),
        (Metadata(pages="5"), "5"),
        (Metadata(published=PartialDate(2015, text="2015 Spring"), pages="5-9"), "2015 Spring:5-9"),
        (Metadata(), ""),
    ],
)
def test_the_source(metadata: Metadata, written: str) -> None:
    assert source(Document("7", 1, "T.", "", metadata=metadata)) == written


@settings(max_examples=60)
@given(documents)
def test_one_line_with_the_pmid(document: Document) -> None:
    cited = nlm(document)
    assert len(cited.splitlines()) == 1
    assert "PMID: 7" in cited
