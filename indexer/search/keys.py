"""What filters look documents up by: short strings such as "type:review", one set for each document.

Both back ends index a document's keys as they are, in one field, so a filter is the same on both: a key that
the document has or has not. Names, and what is asked for, are brought into one form here, so that case,
accents, punctuation and white space make no difference.
"""

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum

from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Author, Heading, Journal, Standing
from bioqa.indexer.search.languages import language_code


class Kind(StrEnum):
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
_SEPARATORS = re.compile(r"[\W_]+")
_INITIALS = re.compile(r"(?<= )[^\W\d_](?: [^\W\d_])+$")


def key(kind: Kind, value: str) -> str:
    """The key that stands for a value, as a document has it and as a filter asks for it."""
    return f"{kind}:{_FORMS.get(kind, plain)(value)}"[:MAX_KEY_CHARACTERS]


def plain(value: str) -> str:
    """Lower case without accents; punctuation and white space are one blank each. "Meta-Analysis" is
    "meta analysis"."""
    decomposed = unicodedata.normalize("NFKD", value.casefold())
    letters = "".join(c for c in decomposed if not unicodedata.combining(c)).casefold().translate(_LETTERS)
    # Of a name without any letter or digit something must remain.
    return _SEPARATORS.sub(" ", letters).strip() or " ".join(letters.split())


def keys(document: Document) -> frozenset[str]:
    """Everything that a filter may find the document by."""
    return frozenset(key(kind, value) for kind, value in _values(document) if value)


def _values(document: Document) -> Iterator[tuple[Kind, str]]:
    metadata = document.metadata
    if document.abstract:
        yield Kind.FILTER, ABSTRACT
    if metadata.pmcid:
        yield Kind.FILTER, FREE_FULL_TEXT
        yield Kind.PMCID, metadata.pmcid
    if metadata.doi:
        yield Kind.DOI, metadata.doi
    if metadata.standing is not Standing.SOUND:
        yield Kind.STANDING, metadata.standing
    yield from ((Kind.TYPE, name) for name in metadata.types)
    yield from ((Kind.LANGUAGE, language) for language in metadata.languages)
    yield from ((Kind.JOURNAL, name) for name in _journal_names(metadata.journal))
    for heading in metadata.headings:
        yield from _heading_names(heading)
    for position, author in enumerate(metadata.authors):
        for name in _author_names(author):
            yield Kind.AUTHOR, name
            if position == 0:
                yield Kind.FIRST_AUTHOR, name


def _journal_names(journal: Journal) -> Iterator[str]:
    yield journal.abbreviation
    yield journal.title
    # "Lancet (London, England)" is asked for as "Lancet".
    yield journal.title.partition(" (")[0]
    yield journal.issn
    yield journal.nlm_id


def _heading_names(heading: Heading) -> Iterator[tuple[Kind, str]]:
    """The heading, and the heading with each of its qualifiers: "Asthma/drug therapy"."""
    yield Kind.HEADING, heading.name
    yield Kind.HEADING, heading.ui
    if heading.major or any(qualifier.major for qualifier in heading.qualifiers):
        yield Kind.MAJOR_HEADING, heading.name
        yield Kind.MAJOR_HEADING, heading.ui
    for qualifier in heading.qualifiers:
        name = f"{heading.name}/{qualifier.name}"
        yield Kind.HEADING, name
        if qualifier.major:
            yield Kind.MAJOR_HEADING, name


def _author_names(author: Author) -> Iterator[str]:
    """Family name alone, with some or all initials, and with given names in either order, as in PubMed."""
    yield author.group
    if not author.last:
        return
    yield author.last
    yield from (f"{author.last} {author.initials[:n]}" for n in range(1, len(author.initials) + 1))
    if author.fore:
        yield f"{author.last} {author.fore}"
        yield f"{author.last} {author.fore.split()[0]}"
        yield f"{author.fore} {author.last}"
        yield f"{author.fore.split()[0]} {author.last}"


def _author(value: str) -> str:
    """Initials are written together: "Smith, J. A." is "smith ja"."""
    return _INITIALS.sub(lambda initials: initials[0].replace(" ", ""), plain(value))


def _journal(value: str) -> str:
    return plain(value).removeprefix("the ")


def _heading(value: str) -> str:
    """The slash before a qualifier is kept, as "Pain/therapy" is not a heading "Pain Therapy"."""
    return "/".join(plain(part) for part in value.split("/"))


def _exact(value: str) -> str:
    return "".join(value.split()).lower()


_FORMS = {
    Kind.LANGUAGE: language_code,
    Kind.HEADING: _heading,
    Kind.MAJOR_HEADING: _heading,
    Kind.JOURNAL: _journal,
    Kind.AUTHOR: _author,
    Kind.FIRST_AUTHOR: _author,
    Kind.DOI: _exact,
    Kind.PMCID: _exact,
}
