"""The compact form of a citation's metadata: read, stored and passed between processes as it is, and unpacked
when it is looked at.

A record has a hundred small values, and a search retrieves a hundred records, most of which nobody looks at.
So the reader gathers plain lists, an index stores them as one JSON text, and the objects of
``bioqa.bioasq.metadata`` are made field by field when they are asked for.

The lists are in the order of ``Metadata``'s fields; lists of one entry's values lack empty values at the end.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import date
from typing import Any

from bioqa.bioasq.domain import Section
from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.metadata import (
    NO_METADATA,
    Author,
    Correction,
    Heading,
    Journal,
    Markup,
    Metadata,
    PartialDate,
    Qualifier,
)

Values = list[Any]
"""One entry for each of ``Metadata``'s fields: see ``packed_values``."""

_SECTIONS: tuple[Section, ...] = ("title", "abstract")


class PackedMetadata(Metadata):
    """Metadata that is unpacked field by field. Reading a field raises ``BioqaError`` if it is damaged."""

    __slots__ = ("_packed", "_values")

    _packed: bytes
    _values: Values

    @classmethod
    def of_values(cls, values: Values) -> "PackedMetadata":
        """``values`` as the reader gathers them; they must not be changed afterwards."""
        return _with(cls, "_values", values)

    @classmethod
    def of_bytes(cls, packed: bytes) -> "PackedMetadata":
        return _with(cls, "_packed", packed)

    def __getattr__(self, name: str) -> Any:
        """Called for what was not asked for before."""
        if name == "_values":
            value: Any = _values(self._packed)
        elif name in _UNPACK:
            value = _unpacked(name, self._values)
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
        return unpacked, (packed(self),)


def packed(metadata: Metadata) -> bytes:
    """Pack metadata for an index, or to be sent; empty for none."""
    if metadata is NO_METADATA:
        return b""
    if isinstance(metadata, PackedMetadata) and (found := getattr(metadata, "_packed", None)) is not None:
        return bytes(found)
    return json.dumps(packed_values(metadata), ensure_ascii=False, separators=(",", ":")).encode()


def unpacked(data: bytes) -> Metadata:
    """The inverse of ``packed``; what is damaged is noticed when it is looked at."""
    return PackedMetadata.of_bytes(data) if data else NO_METADATA


def packed_values(metadata: Metadata) -> Values:
    """The plain lists of metadata, which must not be changed."""
    if isinstance(metadata, PackedMetadata) and (found := getattr(metadata, "_values", None)) is not None:
        return list(found)
    return [pack(getattr(metadata, name)) for name, pack in _PACK.items()]


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
    made = cls.__new__(cls)
    object.__setattr__(made, name, value)
    return made


def _values(data: bytes) -> Values:
    try:
        values = json.loads(data)
    except ValueError as error:
        raise _damaged(error) from error
    if not isinstance(values, list) or len(values) != len(_UNPACK):
        raise _damaged("not the fields that were expected")
    return values


def _unpacked(name: str, values: Values) -> Any:
    position, unpack = _UNPACK[name]
    try:
        return unpack(values[position])
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise _damaged(error) from error


def _damaged(cause: object) -> BioqaError:
    return BioqaError(
        f"the metadata of a citation cannot be read ({cause}): the index is damaged; restore it from a copy, "
        "or load the files into a new one"
    )


def _short(values: list[Any]) -> list[Any]:
    while values and not values[-1]:
        values.pop()
    return values


def _heading_values(heading: Heading) -> list[Any]:
    qualifiers = [value for each in heading.qualifiers for value in (each.name, int(each.major))]
    return [heading.name, heading.ui, int(heading.major), *qualifiers]


def _heading(name: str, ui: str, major: int, *qualifiers: Any) -> Heading:
    pairs = zip(qualifiers[::2], qualifiers[1::2], strict=True)
    return Heading(name, ui, bool(major), tuple(Qualifier(each, bool(is_major)) for each, is_major in pairs))


def _date(values: Values) -> PartialDate | None:
    if not values:
        return None
    year, month, day, text, until = values + [None] * (5 - len(values))
    return PartialDate(year, month, day, text or "", None if until is None else date.fromordinal(until))


def _mark(section: int, begin: int, end: int, tag: Any) -> Markup:
    return Markup(_SECTIONS[section], begin, end, tag)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


_PACK: dict[str, Callable[[Any], Any]] = {
    "authors": lambda authors: [author_values(author) for author in authors],
    "authors_complete": int,
    "journal": lambda journal: _short([journal.abbreviation, journal.title, journal.issn, journal.nlm_id]),
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
    "corrections": lambda corrections: [_short([each.kind, each.pmid, each.source]) for each in corrections],
    "vernacular_title": str,
    "markup": markup_values,
}
_BY_FIELD: dict[str, Callable[[Any], Any]] = {
    "authors": lambda rows: tuple(Author(*row) for row in rows),
    "authors_complete": bool,
    "journal": lambda row: Journal(*row),
    "published": _date,
    "electronic": _date,
    "types": tuple,
    "headings": lambda rows: tuple(_heading(*row) for row in rows),
    "keywords": tuple,
    "substances": tuple,
    "languages": tuple,
    "corrections": lambda rows: tuple(Correction(*row) for row in rows),
    "markup": lambda rows: tuple(_mark(*row) for row in rows),
}
_UNPACK = {field.name: (i, _BY_FIELD.get(field.name, _text)) for i, field in enumerate(fields(Metadata))}
"""Position of each field among the values, and how it is made of its value."""
