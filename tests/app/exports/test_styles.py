"""Vancouver and APA, as the ICMJE's and APA's own examples are written."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.resources import files

import pytest
from citeproc import CitationStylesStyle
from hypothesis import given, settings

from bioqa.app.exports.citing import nlm
from bioqa.app.exports.styles import apa, vancouver
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Author, Journal, Metadata, PartialDate
from tests.app.exports.articles import BARE, RICH, crowd, documents

PLAIN = Document(
    "7",
    1,
    "Making “sense” of <i>sentences</i>: a 5'-end tale.",
    "",
    metadata=Metadata(
        authors=(
            Author("Dubois", "Jean-Paul", "JP"),
            Author("de la Cruz", "Ana M", "AM", "3rd"),
            Author(group="G, H"),
        ),
        journal=Journal("N Invent J", "The Northern journal of invention"),
        volume="3",
        issue="2",
        pages="284-7",
        published=PartialDate(2019, 7),
        doi="10.1/x.2",
        pmcid="PMC9",
    ),
)


def test_vancouver() -> None:
    assert vancouver(PLAIN) == (
        "Dubois JP, de la Cruz AM 3rd; G, H. Making “sense” of <i>sentences</i>: a 5'-end tale. "
        "N Invent J. 2019 Jul;3(2):284-7. doi: 10.1/x.2. PMID: 7; PMCID: PMC9."
    )
    assert vancouver(BARE) == "Plain. PMID: 42."


def test_organisations_stand_behind_semicolons() -> None:
    person, group, other = Author("Doe", "A", "A"), Author(group="Zinc Group"), Author(group="Iron Group")
    for authors, names in (
        ((group,), "Zinc Group"),
        ((person, group), "Doe A; Zinc Group"),
        ((group, person, person), "Zinc Group; Doe A, Doe A"),
        ((group, other), "Zinc Group; Iron Group"),
        ((Author("Solo"), group), "Solo; Zinc Group"),
        ((*[person] * 5, group, person), "Doe A, Doe A, Doe A, Doe A, Doe A; Zinc Group, et al"),
    ):
        document = replace(PLAIN, metadata=Metadata(authors=authors))
        assert vancouver(document).startswith(f"{names}. Making")
        assert nlm(document, 6).startswith(f"{names}. Making")


def test_apa() -> None:
    assert apa(PLAIN) == (
        "Dubois, J.-P., de la Cruz, A. M., 3rd, & G, H. (2019). "
        "Making “sense” of <i>sentences</i>: a 5'-end tale. "
        "The Northern Journal of Invention, 3(2), 284–287. https://doi.org/10.1/x.2"
    )
    assert apa(BARE) == "Plain. (n.d.)."


def test_long_lists_of_authors() -> None:
    names = ", ".join(f"Name{n} AB" for n in range(6))
    assert vancouver(crowd(3000)).startswith(f"{names}, et al. Word ")
    assert vancouver(crowd(6)).startswith(f"{names}. Word ")
    nineteen = ", ".join(f"Name{n}, A. B." for n in range(19))
    assert apa(crowd(3000)).startswith(f"{nineteen}, … Name2999, A. B. (n.d.). Word ")
    assert apa(crowd(20)).startswith(f"{nineteen}, & Name19, A. B. (n.d.). Word ")


def test_a_shortened_list_says_so() -> None:
    assert "Solo, et al. In vivo effects of 50% veridol: who gains? Invent J." in vancouver(RICH)
    assert "Øster, and Søn, B., Solo, et al. (2019). In vivo effects" in apa(RICH)
    assert "who gains? Invented Journal of Tests, 47(W1), W594–W599." in apa(RICH)


def test_a_withdrawn_article_says_so() -> None:
    notice = "Retracted. Retraction in: Vellum Q. Invent J. 2020 Feb;4(2):11. PMID: 90000002."
    assert f" {notice} " in vancouver(RICH)
    assert f" ({notice} " in apa(RICH)


@pytest.mark.parametrize("name", ["vancouver", "apa"])
def test_the_style_files_are_valid_csl(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CitationStylesStyle(str(files("bioqa.app.exports") / "styles" / f"{name}.csl"), validate=True)


@settings(max_examples=80)
@given(documents)
def test_one_line_whatever_the_fields_hold(document: Document) -> None:
    for cited in (vancouver(document), apa(document)):
        assert len(cited.splitlines()) <= 1
        assert document.title.removesuffix(".") in cited


def test_threads_may_cite_at_once() -> None:
    articles = [replace(PLAIN, pmid=str(n)) for n in range(1, 60)]
    with ThreadPoolExecutor(4) as pool:
        cited = list(pool.map(vancouver, articles))
    assert [f"PMID: {each.pmid};" in text for each, text in zip(articles, cited, strict=True)] == [True] * 59
