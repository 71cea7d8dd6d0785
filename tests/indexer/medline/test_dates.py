"""The earliest day that a record's date allows; no date is ever refused."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.metadata import PartialDate
from bioqa.indexer.medline.dates import month_number, parse_date, parse_medline_date


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (("1999",), date(1999, 1, 1)),
        (("1999", "Oct"), date(1999, 10, 1)),
        (("1999", "10", "15"), date(1999, 10, 15)),
        (("1999", "October", "5"), date(1999, 10, 5)),
        (("1999", "Jan-Feb"), date(1999, 1, 1)),
        (("2000", "Feb", "29"), date(2000, 2, 29)),
        (("1999", "Feb", "29"), date(1999, 2, 1)),
        (("1999", "Sep", "31"), date(1999, 9, 1)),
        (("1999", "13", "2"), date(1999, 1, 1)),
        (("1999", "Oct", "0"), date(1999, 10, 1)),
        (("1999", "Oct", "99999999999999999999"), date(1999, 10, 1)),
        (("1999", "Oct", "x"), date(1999, 10, 1)),
        (("1999", "", "15"), date(1999, 1, 1)),
        (("1999", "", "", "Winter"), date(1999, 1, 1)),
        (("1999", "", "", "Spring"), date(1999, 3, 1)),
        (("1999", "", "", "Summer"), date(1999, 6, 1)),
        (("1999", "", "", "Fall"), date(1999, 9, 1)),
        (("1999", "", "", "Autumn-Winter"), date(1999, 9, 1)),
        (("1600",), date(1600, 1, 1)),
        (("2100",), date(2100, 1, 1)),
        (("1599",), None),
        (("2101",), None),
        (("20119",), None),
        (("Summer",), None),
        (("",), None),
        (("١٩٩٩",), None),
    ],
)
def test_elements(fields: tuple[str, ...], expected: date | None) -> None:
    assert earliest(parse_date(*fields)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1998 Dec-1999 Jan", date(1998, 12, 1)),
        ("1993 Sep-Oct", date(1993, 9, 1)),
        ("1994 Spring", date(1994, 3, 1)),
        ("Summer 1987", date(1987, 6, 1)),
        ("1977-1978 Fall-Winter", date(1977, 1, 1)),
        ("2000 Jul 31-Aug 6", date(2000, 7, 31)),
        ("2000 Jun 31-Jul 6", date(2000, 6, 1)),
        ("Dec 1998-Jan 1999", date(1998, 12, 1)),
        ("15 Dec 1998", date(1998, 12, 1)),
        ("1947-1948", date(1947, 1, 1)),
        ("1976-77", date(1976, 1, 1)),
        ("1983 3d Quart", date(1983, 1, 1)),
        ("1983 3rd Quart", date(1983, 7, 1)),
        ("2nd Trimest 1974", date(1974, 4, 1)),
        ("1990 2nd Half", date(1990, 7, 1)),
        ("c1999", date(1999, 1, 1)),
        ("1999 (Decade of the Brain)", date(1999, 1, 1)),
        ("1999 Marketing issue", date(1999, 1, 1)),
        ("Summer", None),
        ("no date", None),
        ("", None),
    ],
)
def test_medline_dates(text: str, expected: date | None) -> None:
    assert earliest(parse_medline_date(text)) == expected


@given(st.text() | st.text("0123456789 -JanFebrySpring", max_size=30))
def test_nothing_is_refused(text: str) -> None:
    answers = (parse_medline_date(text), parse_date(text, text, text, text), parse_date("1999", text, text))
    for found in answers:
        assert found is None or (1600 <= found.year <= 2100 and found.earliest <= found.latest)
    number = month_number(text)
    assert number is None or 1 <= number <= 12


@given(st.dates(date(1600, 1, 1), date(2100, 12, 31)))
def test_complete_dates_are_kept(day: date) -> None:
    known = PartialDate(day.year, day.month, day.day)
    assert known.earliest == known.latest == day
    assert parse_date(str(day.year), f"{day:%b}", str(day.day)) == known
    assert parse_date(str(day.year), f"{day:%m}", f"{day:%d}") == known
    assert parse_medline_date(f"{day.year} {day:%b} {day.day}") == known


@pytest.mark.parametrize(
    ("fields", "shown", "latest"),
    [
        (("1999",), "1999", date(1999, 12, 31)),
        (("1999", "10"), "1999 Oct", date(1999, 10, 31)),
        (("1999", "October", "05"), "1999 Oct 5", date(1999, 10, 5)),
        (("1999", "Feb", "29"), "1999 Feb", date(1999, 2, 28)),
        (("1999", "13", "2"), "1999", date(1999, 12, 31)),
        (("1999", "Jan-Feb"), "1999 Jan-Feb", date(1999, 2, 28)),
        (("1999", "", "", "Winter"), "1999 Winter", date(1999, 3, 31)),
        (("1999", "Summer"), "1999 Summer", date(1999, 8, 31)),
        (("1999", "", "", "Autumn-Winter"), "1999 Autumn-Winter", date(1999, 12, 31)),
        (("1999", "", "", "Monsoon"), "1999", date(1999, 12, 31)),
    ],
)
def test_elements_are_shown_as_precise_as_they_are(fields: tuple[str, ...], shown: str, latest: date) -> None:
    found = parse_date(*fields)
    assert found is not None
    assert (str(found), found.latest) == (shown, latest)


@pytest.mark.parametrize(
    ("text", "latest"),
    [
        ("1998 Dec-1999 Jan", date(1999, 1, 31)),
        ("1993 Sep-Oct", date(1993, 10, 31)),
        ("1994 Spring", date(1994, 5, 31)),
        ("Summer 1987", date(1987, 8, 31)),
        ("1977-1978 Fall-Winter", date(1978, 3, 31)),
        ("2000 Jul 31-Aug 6", date(2000, 8, 6)),
        ("2000 Jul 31-Sep 31", date(2000, 9, 30)),
        ("Dec 1998-Jan 1999", date(1999, 1, 31)),
        ("1998 Dec-1999", date(1999, 12, 31)),
        ("15 Dec 1998", date(1998, 12, 31)),
        ("1947-1948", date(1948, 12, 31)),
        ("1976-77", date(1977, 12, 31)),
        ("1999 Dec-Feb", date(1999, 12, 31)),
        ("1983 3rd Quart", date(1983, 9, 30)),
        ("2nd Trimest 1974", date(1974, 6, 30)),
        ("1990 2nd Half", date(1990, 12, 31)),
        ("1999 (Decade of the Brain)", date(1999, 12, 31)),
    ],
)
def test_medline_dates_are_shown_as_written(text: str, latest: date) -> None:
    found = parse_medline_date(text)
    assert found is not None
    assert (str(found), found.latest) == (text, latest)


@pytest.mark.parametrize("text", ["1999", "1999 Oct", "1999 Oct 5"])
def test_a_medline_date_like_the_others_needs_no_text(text: str) -> None:
    found = parse_medline_date(text)
    assert found is not None
    assert (str(found), found.text) == (text, "")


def earliest(found: PartialDate | None) -> date | None:
    return None if found is None else found.earliest
