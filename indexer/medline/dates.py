"""Publication dates: as precise as a record says, and the days that agree with it.

No record is rejected because of its date. Invalid components (31 September, month 13, year 20119) are
ignored; the rest of the date is used.
"""

import re
from calendar import monthrange
from datetime import date
from functools import lru_cache

from bioqa.bioasq.metadata import PartialDate

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip

SEASONS = {"winter": 1, "spring": 3, "summer": 6, "autumn": 9, "fall": 9}
"""First month of each season in the northern hemisphere. Winter counts from January: the year is that of the
issue. Each season has three months."""

# Months may be abbreviated to three letters or more.
_NUMBERS = SEASONS | {name[:n]: i for i, name in enumerate(MONTHS, 1) for n in range(3, len(name) + 1)}

_YEAR = re.compile(r"(?<![0-9])(1[6-9][0-9]{2}|20[0-9]{2}|2100)(?![0-9])")
_SHORT_YEAR = re.compile(r"[-/]([0-9]{2})(?![0-9])")
_DAY = re.compile(r"[0-9]{1,2}")
_WORD = re.compile(r"[A-Za-z]+")
_MONTH_AND_DAY = re.compile(r"([A-Za-z]{3,})\.?(?:[ ,]+([0-9]{1,2})(?![0-9]))?")
_PART_OF_YEAR = re.compile(r"\b([1-4])(?:st|nd|rd|th)[ -]+(quart|trimest|half)", re.IGNORECASE)


@lru_cache(maxsize=1 << 12)
def parse_date(year: str, month: str = "", day: str = "", season: str = "") -> PartialDate | None:
    """Parse the elements Year, Month, Day and Season; a missing element is ""."""
    if not (match := _YEAR.search(year)):
        return None
    number = month_number(month)
    if number is None:
        return (
            _in_words(int(match[1]), season) or _in_words(int(match[1]), month) or PartialDate(int(match[1]))
        )
    if len(words := _WORD.findall(month.lower())) > 1 or SEASONS.keys() & words:
        return _in_words(int(match[1]), month)
    # A day without a month is meaningless.
    is_day = _DAY.fullmatch(day) and _is_real(int(match[1]), number, int(day))
    return PartialDate(int(match[1]), number, int(day) if is_day else None)


def _in_words(year: int, part: str) -> PartialDate | None:
    """The date of a season, or of several months; None if ``part`` names none."""
    return parse_medline_date(f"{year} {part}") if month_number(part) else None


@lru_cache(maxsize=1 << 12)
def parse_medline_date(text: str) -> PartialDate | None:
    """Parse the first date in a MedlineDate: "1998 Dec-1999 Jan", "Summer 1987", "2000 Jul 31-Aug 6"."""
    if not (match := _YEAR.search(text)):
        return None
    first = _first(text, match)
    if str(first) == text:
        return first
    return PartialDate(first.year, first.month, first.day, text, _last_day(text, match, first))


def _first(text: str, year_match: re.Match[str]) -> PartialDate:
    """The date that begins with the first year of a text, without words."""
    year = int(year_match[1])
    following = _YEAR.search(text, year_match.end())
    after = text[year_match.end() : following.start() if following else None]
    for piece in (text[: year_match.start()], after):
        if part := _PART_OF_YEAR.search(piece):
            return PartialDate(year, _first_month(part))
        for match in _MONTH_AND_DAY.finditer(piece):
            if number := month_number(match[1]):
                day = int(match[2] or 0)
                return PartialDate(year, number, day if _is_real(year, number, day) else None)
    return PartialDate(year)


def _last_day(text: str, match: re.Match[str], first: PartialDate) -> date:
    """The last day that agrees with a text; the end of its last year if no month or season of it is named."""
    *_, last = _YEAR.finditer(text, match.start())
    year, end = int(last[1]), last.end()
    if (short := _SHORT_YEAR.match(text, end)) and year < year - year % 100 + int(short[1]) <= 2100:
        year, end = year - year % 100 + int(short[1]), short.end()
    until = _last_in(year, text[end:])
    if until is None and last.start() > match.start():
        until = _last_in(year, text[match.end() : last.start()].rpartition("-")[2])
    elif until is None:
        until = _last_in(year, text[: match.start()])
    return until if until is not None and until >= first.earliest else date(year, 12, 31)


def _last_in(year: int, piece: str) -> date | None:
    """The last day of the last month, season or part of a year that a text names; None if it names none."""
    for part in reversed([*_PART_OF_YEAR.finditer(piece)]):
        return _end_of_month(year, _first_month(part) + (5 if _is_half(part) else 2))
    until = None
    for match in _MONTH_AND_DAY.finditer(piece):
        if number := month_number(match[1]):
            day = int(match[2] or 0)
            if _is_real(year, number, day):
                until = date(year, number, day)
            else:
                until = _end_of_month(year, number + 2 * (match[1].lower() in SEASONS))
    return until


def month_number(text: str) -> int | None:
    """1 to 12 for "Jan", "January", "1", "01", the first month of a range or a season; otherwise None."""
    if _DAY.fullmatch(text):
        return int(text) if 1 <= int(text) <= 12 else None
    for word in _WORD.findall(text.lower()):
        if number := _NUMBERS.get(word):
            return number
    return None


def _first_month(part: re.Match[str]) -> int:
    number = (int(part[1]) - 1) * (6 if _is_half(part) else 3) + 1
    return number if number <= 12 else 1


def _is_half(part: re.Match[str]) -> bool:
    return part[2].lower() == "half"


def _end_of_month(year: int, month: int) -> date:
    month = min(month, 12)
    return date(year, month, monthrange(year, month)[1])


def _is_real(year: int, month: int, day: int) -> bool:
    return 1 <= day <= monthrange(year, month)[1]
