"""The form's fields and the addresses that they make."""

from datetime import date
from urllib.parse import parse_qs

import pytest

from bioqa.app.answers.answering import SearchOptions
from bioqa.app.web.form import FIELDS, FILTERS, LABELS, SearchForm
from bioqa.indexer.search.filtering.filters import FilterError, Filters

FULL = SearchForm.model_validate(
    {
        "q": "a & b", "after": "2001-02-03", "before": "", "undated": "1", "type": ["Review", "Letter"],
        "mesh": "Humans; Diabetes Mellitus, Type 2;;Humans", "unretracted": "true", "offset": "20", "n": "5",
    }
)  # fmt: skip


def test_every_filter_has_a_field_and_a_name() -> None:
    restriction = {"restriction"}  # what the question itself says
    assert set(FILTERS.values()) == set(Filters.__dataclass_fields__) - restriction
    assert set(LABELS) == set(FILTERS) == set(FIELDS.values())


def test_fields_become_filters_and_empty_ones_none() -> None:
    assert FULL.filters() == Filters(
        published_after=date(2001, 2, 3), undated=True, types=("Review", "Letter"),
        headings=("Humans", "Diabetes Mellitus, Type 2"), exclude_retracted=True,
    )  # fmt: skip
    options = FULL.options(5, 70, facets=True)
    assert (options.max_documents, options.candidates, options.offset, options.facets) == (5, 70, 20, True)
    assert SearchForm.model_validate({"q": "x", "order": "", "ranker": "", "type": ""}) == SearchForm(q="x")
    assert SearchForm(q="x").options(10, 100) == SearchOptions()


def test_the_address_makes_the_same_form_again() -> None:
    assert SearchForm.model_validate(parse_qs(FULL.address()) | {"q": FULL.q, **scalars()}) == FULL
    assert SearchForm(q="x").address() == "q=x"


def scalars() -> dict[str, str]:
    return {"after": "2001-02-03", "undated": "True", "unretracted": "True", "offset": "20", "n": "5"}


def test_links_change_one_thing_and_begin_at_the_first_result() -> None:
    form = SearchForm(q="x", type=("Review",), offset=30)
    assert form.also("type", "Letter") == "q=x&type=Review&type=Letter"
    assert form.without("type") == form.without("type", "Review") == "q=x"
    assert form.in_years(2000, 2004) == "q=x&after=2000-01-01&before=2005-01-01&type=Review"
    assert form.in_years(9990, 9999) == "q=x&after=9990-01-01&type=Review"
    assert form.address(offset=40) == "q=x&type=Review&offset=40"


def test_what_is_set_is_said_with_the_address_without_it() -> None:
    form = SearchForm(q="x", after=date(2000, 1, 1), type=("Review", "Letter"), free=True)
    assert form.chosen() == [
        ("published from", "2000-01-01", "q=x&type=Review&type=Letter&free=True"),
        ("type", "Review", "q=x&after=2000-01-01&type=Letter&free=True"),
        ("type", "Letter", "q=x&after=2000-01-01&type=Review&free=True"),
        ("free full text", "", "q=x&after=2000-01-01&type=Review&type=Letter"),
    ]
    assert SearchForm(q="x").chosen() == []


def test_identifiers_and_tags_are_read_unless_the_words_are_wanted() -> None:
    form = SearchForm(q="PMID: 123")
    assert form.options(1, 1).interpretation is not None
    assert form.model_copy(update={"asis": True}).options(1, 1).interpretation is None


def test_filters_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(FilterError, match="exclude_retracted"):
        SearchForm(q="x", type=("Retracted Publication",), unretracted=True).filters()
