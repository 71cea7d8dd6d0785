"""What filters look documents up by: short strings such as "type:review", one set for each document.

Both back ends index a document's keys as they are, in one field, so a filter is the same on both: a key that
the document has or has not. Names, and what is asked for, are brought into one form here, so that case,
accents, punctuation and white space make no difference.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import fields
from enum import StrEnum
from functools import lru_cache

from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import NO_METADATA, Metadata, Standing
from bioqa.indexer.medline.packed import packed_values
from bioqa.indexer.search.filtering.languages import language_code


class KeyKind(StrEnum):
    """The part of a record that a key is taken from."""

    TYPE = "type"
    LANGUAGE = "language"
    HEADING = "heading"
    MAJOR_HEADING = "major"
    JOURNAL = "journal"
    AUTHOR = "author"
    FIRST_AUTHOR = "first"
    DOI = "doi"
    PMCID = "pmcid"
    FILTER = "filter"
    STANDING = "standing"


ABSTRACT, FREE_FULL_TEXT = "has abstract", "free full text"
"""Values of ``Kind.FILTER``, named as in PubMed."""

MAX_KEY_CHARACTERS = 512
"""Longer keys are cut, on both sides alike: engines limit a term's length."""

_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)
_ASCII = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)} | {
    ord(kept): kept for kept in "\t\n"
}
_MARKS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")
"""Accents, set apart from their letters."""
_OTHERS = re.compile(r"[^\w\t\n]|_")
_INITIALS = re.compile(r"(?<= )[^\W\d_](?: [^\W\d_])+$")


@lru_cache(maxsize=1 << 15)
def key(kind: KeyKind, value: str) -> str:
    """The key that stands for a value, as a document has it and as a filter asks for it. It has no blanks."""
    return _key(kind, value)


def _key(kind: KeyKind, value: str) -> str:
    form = _FORMS.get(kind, plain)(value)
    return f"{kind.value}:{form}"[:MAX_KEY_CHARACTERS].replace(" ", "_")


def plain(value: str) -> str:
    """Lower case without accents; punctuation and white space are one blank each. "Meta-Analysis" is
    "meta analysis"."""
    text = " ".join(value.split())
    # Of a name without any letter or digit something must remain.
    return " ".join(_fold(text).split()) or text.lower()


def _fold(text: str) -> str:
    """Lower case without accents; a blank for whatever is no letter or digit, but for tabs and line ends."""
    if text.isascii():
        return text.translate(_ASCII)
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return _OTHERS.sub(" ", _MARKS.sub("", decomposed).casefold().translate(_LETTERS))


def keys(document: Document) -> list[str]:
    """Everything that a filter may find the document by, each once.

    Making each key by itself takes as long as parsing the record. So they are made of the packed metadata's
    plain lists, what many documents share is remembered, and a document's authors are brought into form
    together.
    """
    metadata = document.metadata
    keys = [key(KeyKind.FILTER, ABSTRACT)] if document.abstract else []
    if metadata is NO_METADATA:
        return keys
    said = dict(zip(_FIELDS, packed_values(metadata), strict=True))
    keys += _type_keys(tuple(said["types"]))
    keys += _language_keys(tuple(said["languages"]))
    keys += _journal_keys(*said["journal"])
    for heading in said["headings"]:
        keys += _heading_keys(*heading)
    if said["authors"]:
        keys += _author_keys(said["authors"])
    if pmcid := said["pmcid"]:
        keys += (key(KeyKind.FILTER, FREE_FULL_TEXT), _key(KeyKind.PMCID, pmcid))
    if doi := said["doi"]:
        keys.append(_key(KeyKind.DOI, doi))
    if metadata.standing is not Standing.SOUND:
        keys.append(key(KeyKind.STANDING, metadata.standing))
    return list(dict.fromkeys(keys))


_FIELDS = tuple(field.name for field in fields(Metadata))


@lru_cache(maxsize=1 << 12)
def _type_keys(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(key(KeyKind.TYPE, name) for name in names)


@lru_cache(maxsize=1 << 12)
def _language_keys(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(key(KeyKind.LANGUAGE, name) for name in names)


@lru_cache(maxsize=1 << 15)
def _journal_keys(
    abbreviation: str = "", title: str = "", issn: str = "", nlm_id: str = "", issn_kind: str = ""
) -> tuple[str, ...]:
    # "Lancet (London, England)" is asked for as "Lancet".
    names = (abbreviation, title, title.partition(" (")[0], issn, nlm_id)
    return tuple(key(KeyKind.JOURNAL, name) for name in names if name)


@lru_cache(maxsize=1 << 16)
def _heading_keys(name: str, ui: str, is_major: int, *qualifiers: str | int) -> tuple[str, ...]:
    """The heading, and the heading with each of its qualifiers: "Asthma/drug therapy"."""
    pairs = zip(qualifiers[::2], qualifiers[1::2], strict=True)
    qualified = {f"{name}/{qualifier}": major for qualifier, major in pairs}
    major = [heading for heading, is_major in qualified.items() if is_major]
    if is_major or major:
        major.append(name)
    of_kinds = ((KeyKind.HEADING, (name, *qualified)), (KeyKind.MAJOR_HEADING, major))
    return tuple(key(kind, name) for kind, names in of_kinds for name in names)


def _author_keys(authors: Sequence[Sequence[str]]) -> list[str]:
    """Family names, alone, with some or all initials, and with given names, as in PubMed; groups by their
    names. ``authors``: family name, given names, initials, suffix, group, …"""
    text = _fold("\n".join(["\t".join(author[:5]) for author in authors]))
    while "  " in text:
        text = text.replace("  ", " ")
    names: list[str] = []
    of_the_first = 0
    for row in text.split("\n"):
        last, fore, initials, _, group = (*row.split("\t"), "", "", "", "", "")[:5]
        if group:
            names.append(group.strip())
        if last:
            last = last.strip()
            names.append(last)
            initials = initials.replace(" ", "")
            names += [f"{last} {initials[: n + 1]}" for n in range(len(initials))]
            fore = fore.strip()
            if " " in fore:
                names.append(f"{last} {fore.partition(' ')[0]}")
            if fore:
                names.append(f"{last} {fore}")
        of_the_first = of_the_first or len(names)
    # Two letters at the end are initials that are written apart: few names have them.
    text = "\n".join([_with_initials(name) if name[-2:-1] == " " == name[-4:-3] else name for name in names])
    formed = text.replace(" ", "_").split("\n")
    author_keys = [f"author:{name}" for name in formed if name]
    author_keys += [f"first:{name}" for name in formed[:of_the_first] if name]
    too_long = len(text) >= MAX_KEY_CHARACTERS // 2
    return [name[:MAX_KEY_CHARACTERS] for name in author_keys] if too_long else author_keys


def author_orders(name: str) -> tuple[str, ...]:
    """The ways to read a name: as keys have it, the family name first, or the given names first."""
    words = name.split()
    turned = (name, " ".join((*words[1:], *words[:1])), " ".join((*words[-1:], *words[:-1])))
    return tuple(dict.fromkeys(turned))


def _author(value: str) -> str:
    """Initials are written together: "Smith, J. A." is "smith ja"."""
    return _with_initials(plain(value))


def _with_initials(name: str) -> str:
    return _INITIALS.sub(lambda initials: initials[0].replace(" ", ""), name)


def _journal(value: str) -> str:
    return plain(value).removeprefix("the ")


def _heading(value: str) -> str:
    """The slash before a qualifier is kept, as "Pain/therapy" is not a heading "Pain Therapy"."""
    return "/".join(plain(part) for part in value.split("/"))


def _exact(value: str) -> str:
    return "".join(value.split()).lower()


_FORMS = {
    KeyKind.LANGUAGE: language_code,
    KeyKind.HEADING: _heading,
    KeyKind.MAJOR_HEADING: _heading,
    KeyKind.JOURNAL: _journal,
    KeyKind.AUTHOR: _author,
    KeyKind.FIRST_AUTHOR: _author,
    KeyKind.DOI: _exact,
    KeyKind.PMCID: _exact,
}
