"""Questions as queries for Elasticsearch."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.indexer.search.elastic.mapping import KEYS, TEXT
from bioqa.indexer.search.elastic.queries import preference, request
from bioqa.indexer.search.filtering.filters import Filters
from bioqa.indexer.search.wording import clean


def test_the_question_is_matched_as_it_is() -> None:
    text = 'title:insulin AND ("x" OR *)'
    body = request(text, 7)
    assert body["query"] == {"match": {TEXT: {"query": text}}}
    assert body["size"] == 7


def test_equal_scores_are_sorted_by_pmid() -> None:
    assert request("insulin", 10)["sort"] == [{"_score": "desc"}, {"pmid": "asc"}]


def test_filters_do_not_score() -> None:
    filters = Filters(published_before=date(2020, 2, 29), undated=True, types=("Review",))
    query = request("insulin", 10, filters)["query"]["bool"]
    assert query["must"] == request("insulin", 10)["query"]
    dates, types = query["filter"]
    early, undated = dates["bool"]["should"]
    assert early == {"range": {"published": {"lt": "2020-02-29"}}}
    assert undated == {"bool": {"must_not": {"exists": {"field": "published"}}}}
    assert types["bool"]["should"] == [{"terms": {KEYS: ["type:review"]}}]


@pytest.mark.parametrize(
    ("question", "text"),
    [("  insulin?\n", "insulin?"), ("in\ud800sulin", "insulin"), ("\udfff ", "")],
)
def test_white_space_and_lone_surrogates_are_removed(question: str, text: str) -> None:
    assert clean(question) == text


@given(st.text(st.characters()))
def test_any_question_can_be_sent(question: str) -> None:
    text = clean(question)
    assert text.encode().decode() == text == text.strip()
    # Elasticsearch reserves names that begin with "_" for its own preferences.
    assert not preference(text).startswith("_")


def test_equal_questions_go_to_the_same_copies() -> None:
    assert preference("insulin") == preference("insulin") != preference("glucagon")
