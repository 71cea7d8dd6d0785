"""The compact form of a citation's metadata: read, stored and passed between processes as it is, and unpacked
when it is looked at.

A record has a hundred small values, and a search retrieves a hundred records, most of which nobody looks at.
So the reader gathers plain lists, an index stores them as one JSON text, and the objects of
``bioqa.bioasq.metadata`` are made field by field when they are asked for.

The lists are in the order of ``_PACK``, which is that of stored files; lists of one entry's values lack empty
values at the end.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import MAXYEAR, date
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, get_args

from bioqa.bioasq.domain import Section
from bioqa.bioasq.metadata import (
    NO_METADATA,
    RETRACTED_KINDS,
    RETRACTED_TYPE,
    Author,
    Correction,
    Heading,
    Journal,
    Markup,
    Metadata,
    PartialDate,
    Qualifier,
    Tag,
)
from bioqa.system.errors import BioqaError


class DamagedMetadata(BioqaError):
    """What an index stores of a citation is not what was written."""


Values = list[Any]
"""One entry for each of ``Metadata``'s fields: see ``named_values``."""

_SECTIONS: tuple[Section, ...] = ("title", "abstract")


class PackedMetadata(Metadata):
    """Metadata that is unpacked field by field. Reading a damaged field raises ``DamagedMetadata``."""

    __slots__ = ("_packed", "_values")

    _packed: bytes
    _values: Values

    @classmethod
    def of_values(cls, values: Values) -> "PackedMetadata":
        """``values`` as the reader gathers them; they must not be changed afterwards."""
        return _with(cls, "_values", _check(values))

    @classmethod
    def of_bytes(cls, packed: bytes) -> "PackedMetadata":
        return _with(cls, "_packed", packed)

    def __getattr__(self, name: str) -> Any:
        """Called for what was not asked for before."""
        if name == "_values":
            value: Any = _values(self._packed)
        elif name in _UNPACK:
            value = _unpack(name, self._values)
        else:
            # Also "_packed", if the values were not packed yet.
            raise AttributeError(name)
        object.__setattr__(self, name, value)
        return value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Metadata):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _UNPACK)

    def __hash__(self) -> int:
        # As ``Metadata`` computes it, because equal ones must have the same.
        return hash(tuple(getattr(self, name) for name in _UNPACK))

    def __reduce__(self) -> tuple[Callable[[bytes], Metadata], tuple[bytes]]:
        return unpack, (pack(self),)


def pack(metadata: Metadata) -> bytes:
    """Pack metadata for an index, or to be sent; empty for none."""
    if metadata is NO_METADATA:
        return b""
    if isinstance(metadata, PackedMetadata) and (values := getattr(metadata, "_packed", None)) is not None:
        return bytes(values)
    text = json.dumps(packed_values(metadata), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")  # half a character is reported when it is looked at


def unpack(data: bytes) -> Metadata:
    """The inverse of ``pack``; what is damaged is noticed when it is looked at."""
    return PackedMetadata.of_bytes(data) if data else NO_METADATA


def named_values(**values: Any) -> Values:
    """The plain lists of all fields, in the order in which they are stored."""
    return [values[name] for name in _PACK]


def packed_values(metadata: Metadata) -> Values:
    """The plain lists of metadata, which must not be changed."""
    if isinstance(metadata, PackedMetadata) and (values := getattr(metadata, "_values", None)) is not None:
        return list(values)
    return [pack(getattr(metadata, name)) for name, pack in _PACK.items()]


class RecordSummary(NamedTuple):
    """What a record is counted by."""

    types: frozenset[str]
    languages: frozenset[str]
    journal: str
    """NLM's abbreviation."""
    headings: frozenset[str]
    pmcid: str
    retracted: bool


_NOTHING = RecordSummary(frozenset(), frozenset(), "", frozenset(), "", False)


def summary(metadata: Metadata) -> RecordSummary:
    """Read what a record is counted by, without making its objects: that takes half the time.

    Raises ``DamagedMetadata``."""
    if metadata is NO_METADATA:
        return _NOTHING
    values = _plain(metadata)
    try:
        types, languages, journal, headings, pmcid, corrections = _summarised(values)
        _texts([*types, *languages, *journal[:1], *(row[0] for row in headings), pmcid])
        return RecordSummary(
            frozenset(types),
            frozenset(languages),
            journal[0] if journal else "",
            frozenset(row[0] for row in headings),
            pmcid,
            RETRACTED_TYPE in types or any(row[0] in RETRACTED_KINDS for row in corrections),
        )
    except (ValueError, LookupError, TypeError) as error:
        raise _damage(error) from error


def _plain(metadata: Metadata) -> Values:
    if type(metadata) is PackedMetadata:
        # Quicker than the attribute, which is noted for the next time.
        with suppress(AttributeError):
            return _values(object.__getattribute__(metadata, "_packed"))
    return packed_values(metadata)


def author_values(author: Author) -> list[str]:
    return _short([author.last, author.fore, author.initials, author.suffix, author.group, author.orcid])


def date_values(day: PartialDate | None) -> list[Any]:
    if day is None:
        return []
    until = None if day.until is None else day.until.toordinal()
    return _short([day.year, day.month, day.day, day.text, until])


def markup_values(markup: Sequence[Markup]) -> list[list[Any]]:
    return [[_SECTIONS.index(mark.section), mark.begin, mark.end, mark.tag] for mark in markup]


def _with(cls: type[PackedMetadata], name: str, value: object) -> PackedMetadata:
    packed = cls.__new__(cls)
    object.__setattr__(packed, name, value)
    return packed


def _values(data: bytes) -> Values:
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _damage(error) from error
    return _check(values)


def _check(values: object) -> Values:
    if not isinstance(values, list) or len(values) != len(_UNPACK):
        raise _damage("not the fields that were expected")
    return values


def _unpack(name: str, values: Values) -> Any:
    position, unpack = _UNPACK[name]
    try:
        return unpack(values[position])
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise _damage(error) from error


def _damage(cause: object) -> DamagedMetadata:
    return DamagedMetadata(
        f"the metadata of a citation cannot be read ({str(cause)[:200]}): the index is damaged; "
        "restore it from a copy, or load the files into a new one"
    )


def _short(values: list[Any]) -> list[Any]:
    while values and not values[-1]:
        values.pop()
    return values


def _heading_values(heading: Heading) -> list[Any]:
    qualifiers = [
        value for qualifier in heading.qualifiers for value in (qualifier.name, int(qualifier.major))
    ]
    return [heading.name, heading.ui, int(heading.major), *qualifiers]


# Damage is found when a field is unpacked, or it would be an error of whoever uses its value.


def _row(value: object) -> list[Any]:
    if type(value) is not list:
        raise TypeError(f"{value!r} is not a list")
    return value


def _rows(values: object) -> list[list[Any]]:
    rows = _row(values)
    if {*map(type, rows)} - {list}:
        raise TypeError(f"{values!r} is not a list of lists")
    return rows


def _texts(values: object) -> tuple[str, ...]:
    texts = tuple(_row(values))
    # Joined, because that is quicker than to look at each. Half a character cannot be encoded.
    if not (joined := "".join(texts)).isascii():
        joined.encode()
    return texts


def _table(values: object) -> list[list[Any]]:
    """Rows of texts."""
    rows = _rows(values)
    _texts([*chain.from_iterable(rows)])
    return rows


def _text(value: object) -> str:
    return _texts([value])[0]


def _number(value: object, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{value!r} is not a number up to {most}")
    return value


def _flag(value: object) -> bool:
    return bool(_number(value, 1))


def _headings(values: object) -> tuple[Heading, ...]:
    rows = _rows(values)
    _texts([text for row in rows for text in (row[0], row[1], *row[3::2])])
    if {flag for row in rows for flag in row[2::2]} - {0, 1}:
        raise ValueError("a heading is major or not")
    return tuple(_heading(*row) for row in rows)


def _heading(name: str, ui: str, major: int, *qualifiers: Any) -> Heading:
    pairs = zip(qualifiers[::2], qualifiers[1::2], strict=True)
    return Heading(
        name, ui, bool(major), tuple(Qualifier(qualifier, bool(is_major)) for qualifier, is_major in pairs)
    )


def _date(values: object) -> PartialDate | None:
    if not (row := _row(values)):
        return None
    year, month, day, text, until = row + [None] * (5 - len(row))
    day_or_period = PartialDate(
        _number(year, MAXYEAR),
        None if month is None else _number(month, 12),
        None if day is None else _number(day, 31),
        "" if text is None else _text(text),
        None if until is None else date.fromordinal(until),
    )
    # Raises ValueError if there are no such days.
    if 0 in (month, day) or (day and not month) or day_or_period.earliest > day_or_period.latest:
        raise ValueError(f"{values!r} is no date")
    return day_or_period


def _mark(section: Any, begin: Any, end: Any, tag: Any) -> Markup:
    if tag not in get_args(Tag):
        raise ValueError(f"{tag!r} is no markup")
    end = _number(end, _LONGEST)
    return Markup(_SECTIONS[_flag(section)], _number(begin, end), end, tag)


_LONGEST = 2**32
"""Characters of a text."""

_PACK: dict[str, Callable[[Any], Any]] = {
    "authors": lambda authors: [author_values(author) for author in authors],
    "authors_complete": int,
    "journal": lambda journal: _short(
        [journal.abbreviation, journal.title, journal.issn, journal.nlm_id, journal.issn_kind]
    ),
    "volume": str,
    "issue": str,
    "pages": str,
    "published": date_values,
    "electronic": date_values,
    "doi": str,
    "pmcid": str,
    "types": list,
    "headings": lambda headings: [_heading_values(heading) for heading in headings],
    "keywords": list,
    "substances": list,
    "languages": list,
    "status": str,
    "corrections": lambda corrections: [
        _short([correction.kind, correction.pmid, correction.source]) for correction in corrections
    ],
    "vernacular_title": str,
    "markup": markup_values,
}
_BY_FIELD: dict[str, Callable[[Any], Any]] = {
    "authors": lambda values: tuple(Author(*row) for row in _table(values)),
    "authors_complete": _flag,
    "journal": lambda row: Journal(*_texts(row)),
    "published": _date,
    "electronic": _date,
    "types": _texts,
    "headings": _headings,
    "keywords": _texts,
    "substances": _texts,
    "languages": _texts,
    "corrections": lambda values: tuple(Correction(*row) for row in _table(values)),
    "markup": lambda values: tuple(_mark(*row) for row in _rows(values)),
}
_UNPACK = {name: (position, _BY_FIELD.get(name, _text)) for position, name in enumerate(_PACK)}
"""Position of each field among the values, and how it is made of its value."""

_summarised = itemgetter(
    *(_UNPACK[name][0] for name in ("types", "languages", "journal", "headings", "pmcid", "corrections"))
)
