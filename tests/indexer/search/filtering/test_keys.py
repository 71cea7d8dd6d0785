"""Keys: one form for a name, however it is spelt."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.metadata import Author, Metadata
from bioqa.indexer.search.filtering.conditions import HasKey
from bioqa.indexer.search.filtering.keys import MAX_KEY_CHARACTERS, KeyKind, author_orders, key, keys, plain
from tests.indexer.documents import document
from tests.indexer.search.cited import CITED


@pytest.mark.parametrize(
    ("kind", "spellings"),
    [
        (KeyKind.TYPE, ("Meta-Analysis", "meta analysis", "META–ANALYSIS")),
        (KeyKind.JOURNAL, ("N Engl J Med", "N. Engl. J. Med.", "The N Engl J Med")),
        (KeyKind.HEADING, ("Diabetes Mellitus, Type 2/therapy", "diabetes mellitus type 2 / Therapy")),
        (KeyKind.AUTHOR, ("Sørensen ÅK", "sorensen ak", "Sorensen, A. K.", "SORENSEN A K")),
        (KeyKind.DOI, ("10.1000/ABC(1)", " 10.1000/abc(1)")),
        (KeyKind.PMCID, ("PMC12", "pmc12")),
        (KeyKind.LANGUAGE, ("eng", "English", "en")),
    ],
)
def test_spellings_of_one_name_are_one_key(kind: KeyKind, spellings: tuple[str, ...]) -> None:
    assert len({key(kind, spelling) for spelling in spellings}) == 1


def test_a_qualifier_is_no_part_of_a_heading() -> None:
    assert key(KeyKind.HEADING, "Pain/therapy") != key(KeyKind.HEADING, "Pain therapy")


def test_an_author_is_found_by_family_name_initials_and_given_names() -> None:
    author = Author("van der Berg", "Karla Lou", "KL")
    found = keys(replace(CITED[0], metadata=Metadata(authors=(author,))))
    for name in (
        *("van der berg", "van der berg k", "Van der Berg, K. L.", "van der berg karla"),
        *("Karla van der Berg", "van der Berg Karla Lou"),
    ):
        assert not {*HasKey(KeyKind.AUTHOR, name).keys()}.isdisjoint(found), name
        assert not {*HasKey(KeyKind.FIRST_AUTHOR, name).keys()}.isdisjoint(found), name
    for name in ("van der berg l", "karla", "berg", "lou, van der berg"):
        assert {*HasKey(KeyKind.AUTHOR, name).keys()}.isdisjoint(found), name


def test_given_names_may_come_first() -> None:
    assert author_orders("John A Smith") == ("John A Smith", "A Smith John", "Smith John A")
    assert author_orders("Smith") == ("Smith",)


def test_only_the_first_author_is_the_first() -> None:
    assert key(KeyKind.FIRST_AUTHOR, "sorensen a") in keys(CITED[1])
    assert key(KeyKind.FIRST_AUTHOR, "sorensen a") not in keys(CITED[0])


def test_a_major_qualifier_makes_a_major_heading() -> None:
    for name in ("Asthma", "asthma/drug therapy"):
        assert key(KeyKind.MAJOR_HEADING, name) in keys(CITED[0])
    assert key(KeyKind.MAJOR_HEADING, "asthma") not in keys(CITED[1])


def test_a_retraction_notice_alone_makes_an_article_retracted() -> None:
    assert key(KeyKind.STANDING, "retracted") in keys(CITED[5])
    assert key(KeyKind.STANDING, "retracted") not in keys(CITED[3])


def test_a_record_with_nothing_has_no_key() -> None:
    assert keys(document(1, "", "")) == []


def test_three_thousand_authors_are_no_trouble() -> None:
    authors = tuple(Author(f"Name{n}", "Anna", "A") for n in range(3000))
    found = keys(replace(CITED[0], metadata=Metadata(authors=authors)))
    assert key(KeyKind.AUTHOR, "name2999 a") in found


@given(st.sampled_from(KeyKind), st.text())
def test_any_text_has_a_key_without_blanks(kind: KeyKind, text: str) -> None:
    made = key(kind, text)
    assert made.startswith(f"{kind}:")
    assert len(made.split()) == 1
    assert len(made) <= MAX_KEY_CHARACTERS


@given(st.text())
def test_the_plain_form_is_its_own(text: str) -> None:
    assert plain(plain(text)) == plain(text)
