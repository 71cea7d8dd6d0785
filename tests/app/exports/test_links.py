"""Addresses of articles."""

from bioqa.app.exports import links


def test_links() -> None:
    assert links.pubmed_link("7") == "https://pubmed.ncbi.nlm.nih.gov/7/"
    assert links.pmc_link("PMC7") == "https://pmc.ncbi.nlm.nih.gov/articles/PMC7/"


def test_a_doi_of_any_characters_is_one_address() -> None:
    assert links.doi_link("10.1093/nar/gkz289") == "https://doi.org/10.1093/nar/gkz289"
    assert links.doi_link("10.1/a<b>;c d#e?f%g") == "https://doi.org/10.1/a%3Cb%3E%3Bc%20d%23e%3Ff%25g"
