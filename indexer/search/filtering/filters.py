"""Filters: which documents a search may find, by what their records say of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime

from bioqa.bioasq.metadata import RETRACTED_TYPE, Standing
from bioqa.indexer.search.filtering.conditions import AllOf, AnyOf, Condition, HasKey, Published, Without
from bioqa.indexer.search.filtering.keys import ABSTRACT, FREE_FULL_TEXT, KeyKind, key
from bioqa.indexer.search.filtering.languages import is_language
from bioqa.system.errors import BioqaError

MAX_VALUES = 50
"""Values of one filter: more are a list of their own, not a search."""

MAX_VALUE_CHARACTERS = 500

_LISTS = ("types", "languages", "headings", "journals", "authors")


class FilterError(BioqaError):
    """A filter cannot be used, or contradicts another one."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field, message)  # both, so that it can be carried from one process to another
        self.field = field
        self.message = message

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that a document must meet to be found at all. They change no score.

    All filters must be met. Of several ``types``, ``languages`` or ``journals`` one is enough; ``headings``
    and ``authors`` must all be there. Names match whatever their case, accents and punctuation. Raises
    FilterError for values that cannot be used, and for filters that contradict each other.
    """

    published_after: date | None = None
    """This day or later. The day that counts is the earliest that agrees with the record, so that an article
    of "2015" counts as of 1 January: 2015 is after 2015-01-01, and before 2016-01-01."""
    published_before: date | None = None
    """Earlier than this day."""
    undated: bool = False
    """Whether a date limit lets articles without a date pass. By default it does not: who asks for articles
    before 2005 must not get one that may be of last year."""
    types: tuple[str, ...] = ()
    """NLM's publication types: "Randomized Controlled Trial", "Review", …"""
    languages: tuple[str, ...] = ()
    """English names, or ISO 639 codes of two or three letters."""
    headings: tuple[str, ...] = ()
    """MeSH headings, with a qualifier or not: "Humans", "Asthma/drug therapy". Narrower ones do not count."""
    journals: tuple[str, ...] = ()
    """NLM's abbreviation, the full title, the ISSN or NLM's id."""
    authors: tuple[str, ...] = ()
    """"Smith", "Smith J", "Smith JA" or "John Smith"."""
    has_abstract: bool = False
    free_full_text: bool = False
    """In PubMed Central: the record has a PMCID."""
    exclude_retracted: bool = False
    """Leave out what is retracted. Notices of retraction and doubted articles stay, and are marked."""
    restriction: Condition | None = None
    """A further condition of any kind, as a search with field tags has it."""

    def __post_init__(self) -> None:
        for name in ("published_after", "published_before"):
            try:
                object.__setattr__(self, name, read_day(getattr(self, name)))
            except ValueError as error:
                raise FilterError(name, str(error)) from None
        for name in _LISTS:
            values = getattr(self, name)
            _check_values(name, values)
            object.__setattr__(self, name, tuple(values))
        for language in self.languages:
            if not is_language(language):
                raise FilterError(
                    "languages",
                    f"no language is called {language!r}; give its English name, or its ISO 639 code",
                )
        after, before = self.published_after, self.published_before
        if after and before and after >= before:
            raise FilterError(
                "published_after",
                f"{after} is not before {before} (published_before), so that nothing can be found",
            )
        retracted = key(KeyKind.TYPE, RETRACTED_TYPE)
        if self.exclude_retracted and {key(KeyKind.TYPE, name) for name in self.types} == {retracted}:
            raise FilterError(
                "exclude_retracted", f"contradicts types, which asks for nothing but {RETRACTED_TYPE}"
            )

    def __bool__(self) -> bool:
        """Whether there is any filter."""
        return any(True for _ in self.parts())

    def parts(self) -> Iterator[tuple[str, Condition]]:
        """Each filter's name and what it asks for; a restriction's parts are named one by one."""
        after, before = self.published_after, self.published_before
        if after or before:
            names = (name for name in ("published_after", "published_before") if getattr(self, name))
            yield " and ".join(names), Published(after, before, self.undated)
        for name, kind in (
            ("types", KeyKind.TYPE),
            ("languages", KeyKind.LANGUAGE),
            ("journals", KeyKind.JOURNAL),
        ):
            if values := getattr(self, name):
                yield name, AnyOf(tuple(HasKey(kind, value) for value in values))
        for name, kind in (("headings", KeyKind.HEADING), ("authors", KeyKind.AUTHOR)):
            for value in getattr(self, name):
                yield name, HasKey(kind, value)
        if self.has_abstract:
            yield "has_abstract", HasKey(KeyKind.FILTER, ABSTRACT)
        if self.free_full_text:
            yield "free_full_text", HasKey(KeyKind.FILTER, FREE_FULL_TEXT)
        if self.exclude_retracted:
            yield "exclude_retracted", Without(HasKey(KeyKind.STANDING, Standing.RETRACTED))
        if isinstance(self.restriction, AllOf):
            yield from (("restriction", part) for part in self.restriction.parts)
        elif self.restriction is not None:
            yield "restriction", self.restriction

    def restrict(self, further: Condition | None) -> "Filters":
        """These filters and one more restriction."""
        if further is None or self.restriction is None:
            return replace(self, restriction=further or self.restriction)
        return replace(self, restriction=AllOf((self.restriction, further)))

    def condition(self) -> AllOf:
        """What all filters together ask for."""
        return AllOf(tuple(condition for _, condition in self.parts()))


_DAY = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)


def read_day(value: object) -> date | None:
    """A day, or the first one of a month or year, which may be text. Raises ValueError for anything else."""
    if isinstance(value, datetime):
        return value.date()
    if value is None or isinstance(value, date):
        return value
    if isinstance(value, str) and (parts := _DAY.fullmatch(value)):
        year, month, day = (int(part or 1) for part in parts.groups())
        try:
            return date(year, month, day)
        except ValueError:
            raise ValueError(f"must be a day of the calendar, not {value}") from None
    raise ValueError("must be a day as YYYY-MM-DD, a month as YYYY-MM, or a year")


def _check_values(name: str, values: object) -> None:
    if not isinstance(values, tuple | list):  # the letters of a text would be taken for names
        raise FilterError(name, f"must be several names, as a tuple or list, not {values!r}")
    if len(values) > MAX_VALUES:
        raise FilterError(name, f"must have at most {MAX_VALUES} values, not {len(values)}")
    for value in values:
        if not isinstance(value, str):
            raise FilterError(name, f"must be names, not {value!r}")
        if not value.strip():
            raise FilterError(name, "must not be empty")
        if len(value) > MAX_VALUE_CHARACTERS:
            raise FilterError(name, f"must have at most {MAX_VALUE_CHARACTERS} characters, not {len(value)}")


NO_FILTERS = Filters()
