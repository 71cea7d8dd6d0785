"""Abbreviations that citations define, as terms of an index.

Each document has the terms of its own definitions, so they follow revisions and deletions as its words do,
and the number of documents with a term is the count of the definition. A term begins with what it is looked
up by: the abbreviation or the long form, both as keys.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from bioqa.indexer.medline.abbreviations import definitions
from bioqa.indexer.search.evidence import Definition
from bioqa.indexer.search.spelling import american
from bioqa.system.characters import GREEK_NAMES, fold, normalise

MAX_CHARACTERS = 400
"""Length of a term; engines limit it."""

_PART = re.compile(r"[Ͱ-Ͽ]|[^\W\d_Ͱ-Ͽ]+|\d+")
_POSSESSIVE = re.compile(r"(?<=[^\W\d_])'s\b", re.IGNORECASE)


def terms(title: str, abstract: str) -> Iterator[str]:
    """Yield the terms of a document, some of them perhaps twice."""
    for text in (title, abstract):
        for short, long in definitions(text):
            for prefix in (short_prefix(short_key(short)), long_prefix(long_key(long))):
                yield prefix  # by itself, so that one look-up tells whether there is any
                yield f"{prefix}{short}|{long}"[:MAX_CHARACTERS]


def short_prefix(key: str) -> str:
    """What the terms of an abbreviation begin with, by its key."""
    return f"s:{key}|"


def long_prefix(key: str) -> str:
    """What the terms of a long form begin with, by its key."""
    return f"l:{key}|"


def read(term: str, documents: int) -> Definition | None:
    """The definition that a term stands for; None for a prefix alone, and for a term that was cut there."""
    _, *parts = term.split("|", 2)
    return Definition(parts[0], parts[1], documents) if len(parts) == 2 else None


def short_key(short: str) -> str:
    """The same for abbreviations that differ in hyphens, case or Greek letters; and in an s at the end."""
    short = normalise(short)
    singular = short[:-1] if len(short) > 2 and short[-1] == "s" and not short.islower() else short
    return "".join(GREEK_NAMES.get(part, part) for part in _PART.findall(singular.lower()))


def long_key(long: str) -> str:
    """The same for phrases that differ in spaces, hyphens, accents, spelling, number or possessive."""
    return "".join(map(_word_key, _PART.findall(_POSSESSIVE.sub("", fold(normalise(long).lower())))))


@lru_cache(maxsize=1 << 15)
def _word_key(word: str) -> str:
    word = american(GREEK_NAMES.get(word, word))
    plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural else word
