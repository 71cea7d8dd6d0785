"""PMIDs, DOIs and PMCIDs, as people paste them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.indexer.search.notation.identifiers import MAX_IDENTIFIERS, Identifier, identifiers
from bioqa.indexer.search.notation.syntax import SyntaxFault

PMID, PMCID = Identifier("pmid", "31020319"), Identifier("pmcid", "PMC6602490")
DOI = Identifier("doi", "10.1093/nar/gkz289")


@pytest.mark.parametrize(
    "text",
    [
        "PMID: 31020319",
        "pmid31020319",
        " PMID 31020319. ",
        "https://pubmed.ncbi.nlm.nih.gov/31020319/",
        "pubmed.ncbi.nlm.nih.gov/31020319?format=pubmed#abstract",
        "http://www.ncbi.nlm.nih.gov/pubmed/31020319",
        "https://europepmc.org/article/MED/31020319",
        "<https://pubmed.ncbi.nlm.nih.gov/31020319/>",
    ],
)
def test_a_pmid(text: str) -> None:
    assert identifiers(text) == (PMID,)


@pytest.mark.parametrize(
    "text",
    [
        "PMC6602490",
        "pmcid: PMC6602490.1",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC6602490/",
        "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC6602490/pdf/gkz289.pdf",
        "https://europepmc.org/article/PMC/PMC6602490",
    ],
)
def test_a_pmcid(text: str) -> None:
    assert identifiers(text) == (PMCID,)


@pytest.mark.parametrize(
    "text",
    [
        "10.1093/nar/gkz289",
        "doi:10.1093/NAR/gkz289",
        "doi: 10.1093/nar/gkz289.",
        "https://doi.org/10.1093/nar/gkz289",
        "http://dx.doi.org/10.1093%2Fnar/gkz289".replace("%2F", "/"),
        "https://doi.org/10.1093/nar%2Fgkz289",
    ],
)
def test_a_doi(text: str) -> None:
    assert identifiers(text) == (DOI,)


def test_a_number_may_be_meant_otherwise() -> None:
    assert identifiers("31020319") == (Identifier("pmid", "31020319", bare=True),)


def test_several() -> None:
    text = "doi: 10.1093/nar/gkz289. PMID: 31020319; PMCID: PMC6602490."
    assert identifiers(text) == (DOI, PMID, PMCID)
    assert len(identifiers("1, 2 3\n2")) == 3


@pytest.mark.parametrize(
    "text", ["", "0", "PMID", "PMID: x", "12 monkeys", "IL 6", "10.1/x y", "0123", "TP53", "1" * 30, "1.5 mg"]
)
def test_what_is_none(text: str) -> None:
    assert identifiers(text) == ()


def test_there_is_a_limit() -> None:
    numbers = [str(n) for n in range(1, MAX_IDENTIFIERS + 2)]
    assert len(identifiers(" ".join(numbers[:-1]))) == MAX_IDENTIFIERS
    with pytest.raises(SyntaxFault, match="a list may have 100 articles, not 101") as raised:
        identifiers(" ".join(numbers))
    assert raised.value.query[raised.value.position :] == "101"
    # What is no list is none, however many numbers it has.
    assert identifiers(" ".join([*numbers, "monkeys"])) == ()


@pytest.mark.parametrize(
    "text",
    [
        "PMID:12793706 OR PMID:12888704",
        "PMID: 12793706 and 12888704",
        "12793706 OR 12888704",
        "PMIDs: 12793706, 12888704",
        "12793706, or 12888704",
    ],
)
def test_a_list_may_have_or_and_and(text: str) -> None:
    assert [each.value for each in identifiers(text)] == ["12793706", "12888704"]


@pytest.mark.parametrize("piece", ["pmid ", "https://", "10.1000/", "1 ", "pmc", "doi: ", "/", "10.1000/x. "])
def test_no_text_takes_long(piece: str) -> None:
    begun = time.process_time()
    identifiers(piece * (10_000 // len(piece)))
    assert time.process_time() - begun < 1


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    for found in identifiers(text):
        assert found.value
