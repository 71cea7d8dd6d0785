"""PubMed's filters by their names, as its pages write them: humans[filter], y_5[filter], english[filter].

Those of people are headings that indexers at NLM check for every article (check tags), those of studies are
publication types. Records that are not indexed yet have none of them.
"""

import re
from calendar import monthrange
from datetime import date, timedelta

from bioqa.indexer.search.filtering.conditions import AnyOf, Condition, HasKey, Published
from bioqa.indexer.search.filtering.keys import ABSTRACT, FREE_FULL_TEXT, KeyKind
from bioqa.indexer.search.filtering.languages import is_language

_HEADINGS = {
    "humans": ("Humans",),
    "animals": ("Animals",),
    "female": ("Female",),
    "male": ("Male",),
    "allchild": ("Infant, Newborn", "Infant", "Child, Preschool", "Child", "Adolescent"),
    "newborn": ("Infant, Newborn",),
    "allinfant": ("Infant, Newborn", "Infant"),
    "infant": ("Infant",),
    "preschoolchild": ("Child, Preschool",),
    "child": ("Child",),
    "adolescent": ("Adolescent",),
    "alladult": ("Adult", "Young Adult", "Middle Aged", "Aged", "Aged, 80 and over"),
    "youngadult": ("Young Adult",),
    "adult": ("Adult",),
    "middleaged": ("Middle Aged",),
    "aged": ("Aged", "Aged, 80 and over"),
    "80andover": ("Aged, 80 and over",),
}

CHECK_TAGS = frozenset(name.lower() for names in _HEADINGS.values() for name in names)
"""Headings that say whom an article is about, in lower case: nothing to rank by."""

_TRIALS = (
    "Clinical Trial",
    "Clinical Trial, Phase I",
    "Clinical Trial, Phase II",
    "Clinical Trial, Phase III",
    "Clinical Trial, Phase IV",
    "Controlled Clinical Trial",
    "Pragmatic Clinical Trial",
    "Randomized Controlled Trial",
)
_TYPES = {
    "clinicaltrial": _TRIALS,
    "randomizedcontrolledtrial": ("Randomized Controlled Trial",),
    "meta-analysis": ("Meta-Analysis",),
    "systematicreview": ("Systematic Review",),
    "review": ("Review",),
    "guideline": ("Guideline", "Practice Guideline"),
    "casereports": ("Case Reports",),
}

_OF_RECORDS = {
    "free full text": FREE_FULL_TEXT,
    "ffrft": FREE_FULL_TEXT,
    "pubmed pmc": FREE_FULL_TEXT,
    "hasabstract": ABSTRACT,
    "has abstract": ABSTRACT,
    "fha": ABSTRACT,
}

_YEARS = re.compile(r"y_([0-9]{1,3})")

FILTER_NAMES = (*_OF_RECORDS, *_HEADINGS, *_TYPES, "y_5")
"""What may stand before [filter], beside languages; y_5 is an example of the last years."""


def find_filter(name: str) -> Condition | None:
    """What a filter of PubMed asks for; None for one that there is not."""
    name = " ".join(name.lower().split())
    if years := _YEARS.fullmatch(name):
        return Published(begin_of_last(int(years[1]), "year"))
    if of_record := _OF_RECORDS.get(name):
        return HasKey(KeyKind.FILTER, of_record)
    for kind, named in ((KeyKind.HEADING, _HEADINGS), (KeyKind.TYPE, _TYPES)):
        if values := named.get(name):
            conditions = tuple(HasKey(kind, value) for value in values)
            return conditions[0] if len(conditions) == 1 else AnyOf(conditions)
    return HasKey(KeyKind.LANGUAGE, name) if is_language(name) else None


def begin_of_last(number: int, unit: str, today: date | None = None) -> date:
    """The first day of the last ``number`` days, months or years, which end today."""
    today = today or date.today()
    if unit == "day":
        return today - timedelta(days=number)
    months = max(12, 12 * today.year + today.month - 1 - number * (12 if unit == "year" else 1))
    year, month = months // 12, months % 12 + 1
    return date(year, month, min(today.day, monthrange(year, month)[1]))
