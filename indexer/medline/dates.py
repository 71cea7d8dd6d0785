"""Publication dates: the earliest day that agrees with a record.

No record is rejected because of its date. Invalid components (31 September, month 13, year 20119) are
ignored; the rest of the date is used.
"""

import re
from datetime import date

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip

SEASONS = {"winter": 1, "spring": 3, "summer": 6, "autumn": 9, "fall": 9}
"""First month of each season in the northern hemisphere. Winter counts from January: the year is that of the
issue."""

# Months may be abbreviated to three letters or more.
_NUMBERS = SEASONS | {name[:n]: i for i, name in enumerate(MONTHS, 1) for n in range(3, len(name) + 1)}

_YEAR = re.compile(r"(?<![0-9])(1[6-9][0-9]{2}|20[0-9]{2}|2100)(?![0-9])")
_DAY = re.compile(r"[0-9]{1,2}")
_WORD = re.compile(r"[A-Za-z]+")
_MONTH_AND_DAY = re.compile(r"([A-Za-z]{3,})\.?(?:[ ,]+([0-9]{1,2})(?![0-9]))?")
_PART_OF_YEAR = re.compile(r"\b([1-4])(?:st|nd|rd|th)[ -]+(quart|trimest|half)", re.IGNORECASE)


def parse_date(year: str, month: str = "", day: str = "", season: str = "") -> date | None:
    """Parse the elements Year, Month, Day and Season; a missing element is ""."""
    if not (found := _YEAR.search(year)):
        return None
    number = month_number(month) or month_number(season) or 1
    # A day without a month is meaningless.
    known = month_number(month) and _DAY.fullmatch(day)
    return _real_date(int(found[1]), number, int(day) if known else 1)


def parse_medline_date(text: str) -> date | None:
    """Parse the first date in a MedlineDate: "1998 Dec-1999 Jan", "Summer 1987", "2000 Jul 31-Aug 6"."""
    if not (found := _YEAR.search(text)):
        return None
    year = int(found[1])
    following = _YEAR.search(text, found.end())
    after = text[found.end() : following.start() if following else None]
    for piece in (text[: found.start()], after):
        if part := _PART_OF_YEAR.search(piece):
            length = 6 if part[2].lower() == "half" else 3
            return _real_date(year, (int(part[1]) - 1) * length + 1, 1)
        for match in _MONTH_AND_DAY.finditer(piece):
            if number := month_number(match[1]):
                return _real_date(year, number, int(match[2] or 1))
    return date(year, 1, 1)


def month_number(text: str) -> int | None:
    """1 to 12 for "Jan", "January", "1", "01", the first month of a range or a season; otherwise None."""
    if _DAY.fullmatch(text):
        return int(text) if 1 <= int(text) <= 12 else None
    for word in _WORD.findall(text.lower()):
        if number := _NUMBERS.get(word):
            return number
    return None


def _real_date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        return date(year, month if 1 <= month <= 12 else 1, 1)
