"""Snippets as the official evaluator merges and intersects them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.domain import Snippet
from bioqa.bioasq.overlap import Span, merged_spans, overlap, pmid_of


def snippet(document: str, begin: int, end: int, section: str = "abstract") -> Snippet:
    return Snippet(document, "", section, section, begin, end)


def span(begin: int, end: int, section: str = "abstract") -> Span:
    return Span("1", section, section, begin, end)


def places(snippets: list[Snippet]) -> list[tuple[str, int, int]]:
    return [(span.document, span.begin, span.end) for span in merged_spans(snippets)]


def test_overlapping_snippets_unite_at_the_earlier_rank() -> None:
    snippets = [snippet("a", 20, 30), snippet("b", 0, 5), snippet("a", 10, 25), snippet("a", 50, 60)]
    assert places(snippets) == [("a", 10, 30), ("b", 0, 5), ("a", 50, 60)]


def test_a_snippet_that_links_two_unites_all_three() -> None:
    snippets = [snippet("b", 0, 9), snippet("a", 0, 5), snippet("a", 10, 15), snippet("a", 4, 12)]
    assert places(snippets) == [("b", 0, 9), ("a", 0, 15)]


def test_sharing_one_offset_is_overlap() -> None:
    assert places([snippet("a", 0, 5), snippet("a", 5, 9)]) == [("a", 0, 9)]
    assert places([snippet("a", 0, 5), snippet("a", 6, 9)]) == [("a", 0, 5), ("a", 6, 9)]


def test_other_documents_and_sections_stay_apart() -> None:
    assert len(merged_spans([snippet("a", 0, 5), snippet("b", 0, 5), snippet("a", 0, 5, "title")])) == 3
    assert len(merged_spans([snippet("http://x/1", 0, 5), snippet("https://x/1", 0, 5)])) == 2


def test_section_names_lose_everything_up_to_the_first_dot() -> None:
    (span,) = merged_spans([Snippet("a", "", "sections.0", "sections.1.2", 0, 1)])
    assert (span.begin_section, span.end_section) == ("0", "1.2")


@pytest.mark.parametrize(
    ("response", "golden", "shared"),
    [
        (span(0, 9), span(0, 9), 10),
        (span(0, 9), span(9, 20), 1),
        (span(0, 9), span(10, 20), 0),
        (span(5, 6), span(0, 20), 2),
        (span(0, 20), span(5, 6), 2),
        (span(0, 9, "title"), span(0, 9), 0),
        (span(0, 9, "0"), span(5, 30), 5),
        (span(0, 9), span(0, 9, "0"), 0),
    ],
)
def test_overlap(response: Span, golden: Span, shared: int) -> None:
    assert overlap(response, golden) == shared


@pytest.mark.parametrize(
    ("document", "pmid"), [("http://x/pubmed/12", "12"), ("12", "12"), ("http://x/12/", "12"), ("", "")]
)
def test_pmid_of(document: str, pmid: str) -> None:
    assert pmid_of(document) == pmid


spans = st.builds(
    lambda document, begin, length, section: snippet(document, begin, begin + length, section),
    st.sampled_from("ab"),
    st.integers(0, 50),
    st.integers(0, 15),
    st.sampled_from(["title", "abstract"]),
)


@given(st.lists(spans, max_size=12))
def test_merging_keeps_the_positions_and_leaves_no_overlap(snippets: list[Snippet]) -> None:
    merged = merged_spans(snippets)
    covered = [
        (span.document, span.begin_section, position)
        for span in merged
        for position in range(span.begin, span.end + 1)
    ]
    assert len(covered) == len(set(covered)) == sum(span.size for span in merged)
    assert set(covered) == {
        (item.document, item.begin_section, position)
        for item in snippets
        for position in range(item.begin, item.end + 1)
    }


@given(st.lists(spans, max_size=12))
def test_a_merged_span_stands_where_its_first_snippet_stood(snippets: list[Snippet]) -> None:
    merged = merged_spans(snippets)

    def index(item: Snippet) -> int:
        return next(
            place
            for place, span in enumerate(merged)
            if (span.document, span.begin_section) == (item.document, item.begin_section)
            and span.begin <= item.begin <= span.end
        )

    first_seen = list(dict.fromkeys(map(index, snippets)))
    assert first_seen == list(range(len(merged)))
