"""Fields that several formats share."""

import pytest

from bioqa.app.exports import fields
from bioqa.bioasq.metadata import Author, PartialDate
from tests.app.exports.articles import BARE, HOSTILE, RICH


@pytest.mark.parametrize(
    ("written", "first", "last"),
    [
        ("101-9", "101", "109"),
        ("101-109", "101", "109"),
        ("998-1003", "998", "1003"),
        ("S12-8", "S12", "S18"),
        ("W594-W599", "W594", "W599"),
        ("12-15e", "12", "15e"),
        ("e0123", "e0123", ""),
        ("9-1", "9-1", ""),
        ("1-2; discussion 3-4", "1-2; discussion 3-4", ""),
        ("ix-xii", "ix-xii", ""),
        ("", "", ""),
    ],
)
def test_pages(written: str, first: str, last: str) -> None:
    assert fields.pages(written) == fields.Pages(first, last)


def test_lines_and_control_characters() -> None:
    assert fields.one_line(" a\tb\r\nc\u2028d\x07\x85e ") == "a b c d e"
    assert fields.one_line("a\u2009b\u00a0c") == "a\u2009b\u00a0c"


def test_names() -> None:
    assert fields.short_name(Author("Tamsin", "Karen Louise", suffix="3rd")) == "Tamsin KL 3rd"
    assert fields.initials(Author("Dubois", "Jean-Paul")) == "JP"
    assert fields.initials(Author("Ivanov", "Iurii", "Iu")) == "Iu"
    assert fields.short_name(Author(group="A  Group")) == "A  Group"


def test_years_and_dates_say_no_more_than_is_known() -> None:
    assert [fields.year(each) for each in (RICH, HOSTILE, BARE)] == ["2019", "2001", ""]
    assert [fields.date_text(each) for each in (RICH, HOSTILE, BARE)] == ["2019 Jul 2", "2001", ""]
    assert str(PartialDate(2015, 3)) == "2015 Mar"


def test_titles_without_their_full_stop() -> None:
    assert [fields.bare_title(title) for title in ("A.", "A?", "A...", "[A].")] == ["A", "A?", "A...", "[A]"]


def test_subjects_begin_with_the_standing() -> None:
    subjects = ["Retracted", "Humans", "Veridol", "Pain", "text & mining", "HLA-B*57:01"]
    assert fields.subjects(RICH.metadata) == subjects
