"""Addresses of an article for people. BioASQ's own form of the address is ``Document.url``."""

from urllib.parse import quote


def pubmed_link(pmid: str) -> str:
    return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"


def doi_link(doi: str) -> str:
    # Old DOIs hold angle brackets and semicolons, which an address, or RIS's list of them, cannot.
    return f"https://doi.org/{quote(doi, safe='/:().-_')}"


def pmc_link(pmcid: str) -> str:
    return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/"
