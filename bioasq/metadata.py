"""What a citation says beside its text: who wrote it, where and when it appeared, what it is about, and
whether it still stands.

Names of kinds, types and elements are NLM's; see the documentation of PubmedArticleSet.
"""

from calendar import monthrange
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Literal

MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Standing(StrEnum):
    """Whether an article can be relied on, or is itself a notice about another."""

    RETRACTED = "retracted"
    CONCERN = "concern"
    """An expression of concern was published about it."""
    RETRACTION_NOTICE = "retraction_notice"
    CONCERN_NOTICE = "concern_notice"
    ERRATUM_NOTICE = "erratum_notice"
    SOUND = "sound"
    """Nothing is known against it."""


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date as precise as it is known: a day has a month.

    ``text`` is the date as written where it is not year, month and day: "2015 Spring", "1998 Dec-1999 Jan".
    Year, month and day are then those of its first day as far as they are known, and ``until`` is its last
    day.
    """

    year: int
    month: int | None = None
    day: int | None = None
    text: str = ""
    until: date | None = None

    @property
    def earliest(self) -> date:
        """The first day that agrees with the date."""
        return date(self.year, self.month or 1, self.day or 1)

    @property
    def latest(self) -> date:
        """The last day that agrees with the date."""
        if self.until is not None:
            return self.until
        month = self.month or 12
        return date(self.year, month, self.day or monthrange(self.year, month)[1])

    def __str__(self) -> str:
        """The date as NLM writes it: "2015", "2015 Mar", "2015 Mar 4", or ``text``."""
        if self.text:
            return self.text
        month = "" if self.month is None else f" {MONTH_NAMES[self.month - 1]}"
        return f"{self.year}{month}{'' if self.day is None else f' {self.day}'}"


@dataclass(frozen=True, slots=True)
class Author:
    """A person, or a group, which has no other name."""

    last: str = ""
    fore: str = ""
    initials: str = ""
    """Without full stops: "KL"."""
    suffix: str = ""
    group: str = ""
    orcid: str = ""
    """Sixteen characters in groups of four: "0000-0002-1825-0097"."""

    @property
    def name(self) -> str:
        """The name as MEDLINE cites it: "Tamsin KL Jr", or the group's."""
        return self.group or " ".join(filter(None, (self.last, self.initials, self.suffix)))


@dataclass(frozen=True, slots=True)
class Journal:
    abbreviation: str = ""
    """NLM's abbreviation, without full stops; the ISO abbreviation if NLM's is missing."""
    title: str = ""
    issn: str = ""
    nlm_id: str = ""
    """NlmUniqueID of its entry in NLM's catalogue."""
    issn_kind: str = ""
    """Print or Electronic, or Linking, which stands for both; empty if that is not known."""


@dataclass(frozen=True, slots=True)
class Qualifier:
    """A subheading of a MeSH heading."""

    name: str
    major: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """A MeSH heading. ``major``: it is what the article is mainly about."""

    name: str
    ui: str = ""
    major: bool = False
    qualifiers: tuple[Qualifier, ...] = ()


@dataclass(frozen=True, slots=True)
class Correction:
    """A link to a notice, a comment or another version. ``kind`` is NLM's RefType, such as "RetractionIn"."""

    kind: str
    pmid: str = ""
    source: str = ""
    """The other citation as written: "Invented J. 2019;3(1):7"."""


Tag = Literal["sup", "sub", "i", "b"]


@dataclass(frozen=True, slots=True)
class Markup:
    """Text that is set in superscript, subscript, italics or bold: ``text(section)[begin:end]``."""

    section: Literal["title", "abstract"]
    begin: int
    end: int
    tag: Tag


RETRACTED_KINDS = frozenset({"RetractionIn", "RetractedandRepublishedIn"})
CONCERN_KINDS = frozenset({"ExpressionOfConcernIn"})
NOTICE_KINDS = RETRACTED_KINDS | CONCERN_KINDS | {
    "PartialRetractionIn", "ErratumIn", "CorrectedandRepublishedIn", "UpdateIn"
}  # fmt: skip
"""Kinds of the corrections that change what an article says, so that every reader must see them."""

RETRACTED_TYPE = "Retracted Publication"

_STANDINGS = (
    (Standing.RETRACTED, frozenset({RETRACTED_TYPE}), RETRACTED_KINDS),
    (Standing.CONCERN, frozenset[str](), CONCERN_KINDS),
    (
        Standing.RETRACTION_NOTICE,
        frozenset({"Retraction of Publication", "Retraction Notice"}),
        frozenset({"RetractionOf"}),
    ),
    (Standing.CONCERN_NOTICE, frozenset({"Expression of Concern"}), frozenset({"ExpressionOfConcernFor"})),
    (Standing.ERRATUM_NOTICE, frozenset({"Published Erratum"}), frozenset({"ErratumFor"})),
)
"""The standings with the publication types and the kinds of corrections that each follows from: the gravest
first, because a record can have several. Either is enough, as records often lack the other."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a record says beside title and abstract. Whatever it does not say is empty, or None."""

    authors: tuple[Author, ...] = ()
    """In order, without names that were corrected away."""
    authors_complete: bool = True
    """False if the record's list is shortened: "et al."."""
    journal: Journal = Journal()
    volume: str = ""
    issue: str = ""
    pages: str = ""
    """As MEDLINE writes them: "101-9" is 101 to 109."""
    published: PartialDate | None = None
    """The issue's date; that of the electronic publication if the record has no other date."""
    electronic: PartialDate | None = None
    doi: str = ""
    pmcid: str = ""
    """With its letters: "PMC6602490"."""
    types: tuple[str, ...] = ()
    """Publication types: "Review", "Randomized Controlled Trial"."""
    headings: tuple[Heading, ...] = ()
    keywords: tuple[str, ...] = ()
    substances: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    """Codes of three letters: "eng"."""
    status: str = ""
    """State of the record: "MEDLINE", "In-Process", "Publisher"."""
    corrections: tuple[Correction, ...] = ()
    vernacular_title: str = ""
    """The title in the article's own language."""
    markup: tuple[Markup, ...] = ()

    @property
    def standing(self) -> Standing:
        """Whether the article is retracted, doubted or a notice itself; the gravest of them."""
        types, kinds = set(self.types), {correction.kind for correction in self.corrections}
        for standing, of_types, of_kinds in _STANDINGS:
            if types & of_types or kinds & of_kinds:
                return standing
        return Standing.SOUND

    @property
    def notices(self) -> tuple[Correction, ...]:
        """The corrections that every reader must see: retraction, concern, erratum, update."""
        return tuple(correction for correction in self.corrections if correction.kind in NOTICE_KINDS)


NO_METADATA = Metadata()


def metadata_json(metadata: Metadata) -> dict[str, Any]:
    """Convert metadata for JSON: every field by its name.

    A date is an object with the text to show and the first and last day that agree with it."""
    return {
        **_plain(metadata),
        "published": _date_json(metadata.published),
        "electronic": _date_json(metadata.electronic),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value


def _date_json(day: PartialDate | None) -> dict[str, str] | None:
    if day is None:
        return None
    return {"text": str(day), "earliest": day.earliest.isoformat(), "latest": day.latest.isoformat()}
