"""What to type instead of a name that no record has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.indexer.search.filtering.suggesting import MOST_SUGGESTIONS, suggest

TYPES = {
    "Journal Article": 900,
    "Randomized Controlled Trial": 50,
    "Review": 80,
    "Systematic Review": 20,
    "Meta-Analysis": 10,
    "Clinical Trial": 30,
    "Practice Guideline": 5,
}
JOURNALS = {"N Engl J Med": 9, "Ann Intern Med": 4, "Proc Natl Acad Sci U S A": 7, "JAMA": 5, "BMJ": 3}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("RCT", "Randomized Controlled Trial"),
        ("RCTs", "Randomized Controlled Trial"),
        ("Randomised Controlled Trial", "Randomized Controlled Trial"),
        ("Sistematic review", "Systematic Review"),
        ("metaanalysis", "Meta-Analysis"),
        ("guideline", "Practice Guideline"),
    ],
)
def test_types(typed: str, meant: str) -> None:
    assert suggest(typed, TYPES)[0] == meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Annals of Internal Medicine", "Ann Intern Med"),
        ("New England Journal of Medicine", "N Engl J Med"),
        ("NEJM", "N Engl J Med"),
        ("Journal of the American Medical Association", "JAMA"),
        ("British Medical Journal", "BMJ"),
    ],
)
def test_journals(typed: str, meant: str) -> None:
    assert suggest(typed, JOURNALS)[0] == meant


def test_nothing_is_suggested_for_what_is_like_nothing() -> None:
    assert suggest("xyzzy", TYPES) == ()
    assert suggest("…", TYPES) == ()
    assert suggest("RCT", {}) == ()


@given(st.text(max_size=40), st.dictionaries(st.text(max_size=40), st.integers(1, 9), max_size=9))
def test_only_names_that_records_have_are_suggested(typed: str, counts: dict[str, int]) -> None:
    suggested = suggest(typed, counts)
    assert len(suggested) <= MOST_SUGGESTIONS
    assert {*suggested} <= {*counts}
