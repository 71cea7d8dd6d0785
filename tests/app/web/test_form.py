"""The form's fields and the addresses that they make."""

from datetime import date
from urllib.parse import parse_qsl

import pytest
from fastapi.exceptions import RequestValidationError

from bioqa.app.answers.question import FILTERS
from bioqa.app.web.form import LABELS, ExplainForm, SearchForm, read_form
from bioqa.indexer.search.filtering.filters import FilterError, Filters

ADDRESS = (
    "q=a+%26+b&after=2001-02-03&before=&undated=1&type=Review&type=Letter&heading=Humans;+Diabetes+Mellitus,"
    "+Type+2;;Humans&exclude_retracted=true&offset=20&max_documents=5&candidates=70"
)


def form_of(address: str) -> SearchForm:
    return read_form(SearchForm, parse_qsl(address, keep_blank_values=True))


FULL = form_of(ADDRESS)


def test_every_filter_has_a_label() -> None:
    assert set(LABELS) == set(FILTERS) == set(Filters.__dataclass_fields__) - {"restriction"}
    assert all(LABELS.values())


def test_fields_become_filters_and_empty_ones_none() -> None:
    assert FULL.as_filters() == Filters(
        published_after=date(2001, 2, 3), undated=True, types=("Review", "Letter"),
        headings=("Humans", "Diabetes Mellitus, Type 2"), exclude_retracted=True,
    )  # fmt: skip
    assert (FULL.max_documents, FULL.max_snippets, FULL.candidates, FULL.offset) == (5, 5, 70, 20)
    assert form_of("q=x&order=&ranker=&type=&heading=;") == SearchForm(q="x")
    assert form_of("q=x&max_documents=7&max_snippets=3").max_snippets == 3


def test_full_and_former_names_are_read_and_unknown_ones_are_let_be() -> None:
    full = form_of("q=x&types=Review&published_after=2001&literal=on&weak_snippets=1&utm_source=a")
    assert full == SearchForm(
        q="x", types=("Review",), published_after="2001", literal=True, weak_snippets=True
    )
    former = form_of("q=x&mesh=Humans&free=1&abstract=1&unretracted=1&n=20&asis=1&counts=1")
    assert former == form_of(
        "q=x&heading=Humans&free_full_text=1&has_abstract=1&exclude_retracted=1&max_documents=20"
        "&syntax=never&facets=1"
    )


@pytest.mark.parametrize(
    ("address", "field"),
    [
        ("q=+", "q"),
        ("q=x&after=yesterday", "after"),
        ("q=x&max_documents=101", "max_documents"),
        ("q=x&candidates=5000", "candidates"),
        ("q=x&order=age", "order"),
        ("q=x&literal=perhaps", "literal"),
        ("q=x&" + "&".join(f"type={n}" for n in range(51)), "type"),
    ],
)
def test_faults_name_the_field_of_the_address(address: str, field: str) -> None:
    with pytest.raises(RequestValidationError) as caught:
        form_of(address)
    assert caught.value.errors()[0]["loc"][:2] == ("query", field)


def test_the_address_makes_the_same_form_again() -> None:
    assert form_of(FULL.address()) == FULL
    assert SearchForm(q="x").address() == "q=x"
    explained = ExplainForm(q="x", pmid="1", types=("Review",))
    assert explained.address() == "q=x&type=Review"


def test_links_change_one_thing_and_begin_at_the_first_result() -> None:
    form = SearchForm(q="x", types=("Review",), offset=30)
    assert form.also("types", "Letter") == "q=x&type=Review&type=Letter"
    assert form.without("types") == form.without("types", "Review") == "q=x"
    assert form.in_years(2000, 2004) == "q=x&after=2000-01-01&before=2005-01-01&type=Review"
    assert form.in_years(9990, 9999) == "q=x&after=9990-01-01&type=Review"
    assert form.address(offset=40) == "q=x&type=Review&offset=40"


def test_what_is_set_is_said_with_the_address_without_it() -> None:
    form = SearchForm(
        q="x", published_after=date(2000, 1, 1), types=("Review", "Letter"), free_full_text=True
    )
    assert [*form.filters_set()] == [
        ("published from", "2000-01-01", "q=x&type=Review&type=Letter&free_full_text=true"),
        ("type", "Review", "q=x&after=2000-01-01&type=Letter&free_full_text=true"),
        ("type", "Letter", "q=x&after=2000-01-01&type=Review&free_full_text=true"),
        ("free full text", "", "q=x&after=2000-01-01&type=Review&type=Letter"),
    ]
    assert [*SearchForm(q="x").filters_set()] == []


def test_links_to_take_filters_away_do_not_grow_with_the_square_of_their_number() -> None:
    values = tuple(f"heading {i} " + "x" * 180 for i in range(50))
    form = SearchForm(q="x", offset=20, headings=values, journals=values, types=values)
    filters = [*form.filters_set()]
    assert len(filters) == 150
    links = [address for _, _, address in filters if address]
    assert links
    assert len("".join(links)) < 100_000
    assert all(address is None for _, _, address in filters[len(links) :])
    assert form.drop_filters() == "q=x"


def test_filters_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(FilterError, match="exclude_retracted"):
        SearchForm(q="x", types=("Retracted Publication",), exclude_retracted=True).as_filters()
