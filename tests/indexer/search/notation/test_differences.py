"""Every row of the documentation's table of differences from PubMed."""

import re
from pathlib import Path

import pytest

from bioqa.indexer.search.notation.interpretation import interpret
from bioqa.indexer.search.notation.named_filters import begin_of_last
from bioqa.indexer.search.notation.syntax import SyntaxFault

QUESTION, REFUSED = "a question", "refused"

EXPECTED = {
    "asthma copd": QUESTION,
    "asthma AND copd": ("asthma copd", "asthma[tiab] AND copd[tiab]"),
    "asthma": QUESTION,
    "asthma[ti] or copd[ti]": ("asthma copd", "asthma[ti] OR copd[ti]"),
    "asthma or copd[ti]": REFUSED,
    "asthma[ti], copd[ti]": ("asthma copd", "asthma[ti] AND copd[ti]"),
    "31020319[pmid] 12793706[pmid]": ("", "31020319[pmid] OR 12793706[pmid]"),
    '"last 5 years"[dp]': ("", f"published {begin_of_last(5, 'year')} or later"),
    "2015:2020[dp]": ("", "published from 2015-01-01 until before 2021-01-01"),
    "vaccinat*": ("", "vaccinat*[tiab]"),
    "cat*": QUESTION,
    "london[ad]": REFUSED,
    "asthma[titel]": REFUSED,
    '"asthma child"[tiab:~5]': REFUSED,
    "asthma[mh]": ("asthma", "asthma[mh]"),
    "asthma AND medline[sb]": REFUSED,
    "#1 AND #2": QUESTION,
}


def _read(text: str) -> object:
    try:
        interpretation = interpret(text)
    except SyntaxFault:
        return REFUSED
    if interpretation is None:
        return QUESTION
    return interpretation.words, str(interpretation.restriction)


@pytest.mark.parametrize(("text", "expected"), EXPECTED.items())
def test_notation_is_read_as_the_table_says(text: str, expected: object) -> None:
    assert _read(text) == expected


def test_the_table_has_these_rows_and_no_others() -> None:
    page = (Path(__file__).parents[4] / "docs" / "searching.md").read_text(encoding="utf-8")
    table = page.split("### Differences from PubMed\n")[1].split("###")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert [re.findall("`([^`]+)`", row)[0] for row in rows] == [*EXPECTED]
    for row, expected in zip(rows, EXPECTED.values(), strict=True):
        assert ("refused" in row.split(" | ")[-1].split(":")[0]) == (expected == REFUSED)


@pytest.mark.parametrize(
    ("text", "restriction"),
    [
        ("asthma[ti]AND child[ti]", "asthma[ti] AND child[ti]"),
        ("asthma[ti]&copd[ti]", "asthma[ti] AND copd[ti]"),
        ("asthma[ti] || copd[ti]", "asthma[ti] OR copd[ti]"),
        ("asthma[ti]or copd[ti]", "asthma[ti] OR copd[ti]"),
        ("diabetes[ti] not mice[ti]", "diabetes[ti] AND NOT mice[ti]"),
        ("asthma[ti]copd[ti]", "asthma[ti] AND copd[ti]"),
        ("0028-4793[is]", "0028-4793[ta]"),
        ("12793706[uid], 12888704[uid]", "12793706[pmid] OR 12888704[pmid]"),
        ('"12793706" OR "12888704"', "12793706[pmid] OR 12888704[pmid]"),
        ("12793706 & 12888704", "12793706[pmid] OR 12888704[pmid]"),
    ],
)
def test_what_is_glued_is_taken_apart(text: str, restriction: str) -> None:
    interpretation = interpret(text)
    assert interpretation is not None
    assert str(interpretation.restriction) == restriction
