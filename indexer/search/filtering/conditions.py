"""What a document must be like to be found: conditions, alone or joined to a tree.

They are data. Each back end makes its own query of them, term by term, and none of them is ever passed to an
engine as a query string. Conditions decide what is found; they never change a score.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import date
from typing import Literal

from bioqa.indexer.search.filtering.keys import KeyKind, author_orders, key
from bioqa.system.characters import encodable

Place = Literal["title", "text"]
"""Where words are looked for: in the title, or in title and abstract."""

Narrower = Callable[[str], Collection[str]]
"""A MeSH heading, or an entry term of one → the heading and all that are narrower, as far as is known."""


def no_narrower(heading: str) -> Collection[str]:
    """Nothing is known of headings."""
    return ()


@dataclass(frozen=True, slots=True)
class HasKey:
    """The record has this type, language, heading, journal, author, …, however it is spelt."""

    kind: KeyKind
    value: str
    with_narrower: bool = False
    """Whether narrower MeSH headings will do, where the index knows which they are."""

    def keys(self, narrower: Narrower = no_narrower) -> tuple[str, ...]:
        """The keys of which one is enough."""
        value = encodable(self.value)
        # Who writes a comma has put the family name first.
        turned = self.kind in (KeyKind.AUTHOR, KeyKind.FIRST_AUTHOR) and "," not in value
        values = list(author_orders(value)) if turned else [value]
        if self.with_narrower:
            heading, slash, qualifier = value.partition("/")
            values += (f"{name}{slash}{qualifier}" for name in narrower(heading))
        return tuple(dict.fromkeys(key(self.kind, value) for value in values))

    def __str__(self) -> str:
        alone = self.kind in (KeyKind.HEADING, KeyKind.MAJOR_HEADING) and not self.with_narrower
        return _write(self.value, _TAGS[self.kind] + (":noexp" if alone else ""))


@dataclass(frozen=True, slots=True)
class HasPmid:
    pmid: int

    def __str__(self) -> str:
        return f"{self.pmid}[pmid]"


@dataclass(frozen=True, slots=True)
class HasWords:
    """All these words stand there, in any order, in any inflection; stop words are left out.

    If only stop words are asked for, every document will do.
    """

    place: Place
    text: str

    def __str__(self) -> str:
        return f"{self.text}[{_PLACES[self.place]}]"


@dataclass(frozen=True, slots=True)
class HasBeginning:
    """A word stands there that begins so, or one of its stem: see ``filtering.truncation``."""

    place: Place
    beginning: str
    """In lower case, without accents."""

    def __str__(self) -> str:
        return f"{self.beginning}*[{_PLACES[self.place]}]"


@dataclass(frozen=True, slots=True)
class HasPhrase:
    """These words stand there one after another; any word may stand where the phrase has a stop word."""

    place: Place
    text: str

    def __str__(self) -> str:
        return f'"{self.text}"[{_PLACES[self.place]}]'


@dataclass(frozen=True, slots=True)
class Published:
    """Published on the day ``after`` or later, and before the day ``before``.

    The day is ``Document.published``, the earliest that agrees with the record. Documents without a date are
    found only if ``undated``.
    """

    after: date | None = None
    before: date | None = None
    undated: bool = False

    def __str__(self) -> str:
        after = self.after.isoformat() if self.after else ""
        before = self.before.isoformat() if self.before else ""
        undated = " or without a date" if self.undated else ""
        if not before:
            return f"published {after} or later{undated}"
        return (
            f"published from {after} until before {before}{undated}"
            if after
            else (f"published before {before}{undated}")
        )


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds; none is asked for if there are no parts."""

    parts: tuple["Condition", ...]

    def __str__(self) -> str:
        return _join(self.parts, " AND ")


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One part holds at least, of which there must be one."""

    parts: tuple["Condition", ...]

    def __str__(self) -> str:
        return _join(self.parts, " OR ")


@dataclass(frozen=True, slots=True)
class Without:
    """The part does not hold."""

    part: "Condition"

    def __str__(self) -> str:
        return f"NOT {_enclose(self.part)}"


Condition = HasKey | HasPmid | HasWords | HasBeginning | HasPhrase | Published | AllOf | AnyOf | Without

_TAGS = {
    KeyKind.TYPE: "pt",
    KeyKind.LANGUAGE: "la",
    KeyKind.HEADING: "mh",
    KeyKind.MAJOR_HEADING: "majr",
    KeyKind.JOURNAL: "ta",
    KeyKind.AUTHOR: "au",
    KeyKind.FIRST_AUTHOR: "1au",
    KeyKind.DOI: "doi",
    KeyKind.PMCID: "pmc",
    KeyKind.FILTER: "filter",
    KeyKind.STANDING: "standing",
}
_PLACES: dict[Place, str] = {"title": "ti", "text": "tiab"}


def _write(value: str, tag: str) -> str:
    return f'"{value}"[{tag}]' if " " in value else f"{value}[{tag}]"


def _join(parts: tuple[Condition, ...], operator: str) -> str:
    return operator.join(map(_enclose, parts))


def _enclose(part: Condition) -> str:
    several = isinstance(part, AllOf | AnyOf) and len(part.parts) > 1
    return f"({part})" if several else str(part)
