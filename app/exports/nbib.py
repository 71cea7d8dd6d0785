"""NLM's own format, as PubMed exports it: tags of up to four characters, lines wrapped under six spaces."""

import re
from collections.abc import Iterator, Sequence

from bioqa.app.exports.citing import source
from bioqa.app.exports.fields import date_text, one_line, short_name
from bioqa.app.exports.standing import place, word
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import RETRACTED_TYPE, Author, Heading, Metadata, Standing

WIDTH = 81
"""Characters of a value on one line: PubMed's lines have at most 87, with the tag."""

_TAGS = {
    "CommentIn": "CIN",
    "CommentOn": "CON",
    "CorrectedandRepublishedFrom": "CRF",
    "CorrectedandRepublishedIn": "CRI",
    "ErratumFor": "EFR",
    "ErratumIn": "EIN",
    "ExpressionOfConcernFor": "ECF",
    "ExpressionOfConcernIn": "ECI",
    "PartialRetractionIn": "PRIN",
    "PartialRetractionOf": "PROF",
    "RepublishedFrom": "RPF",
    "RepublishedIn": "RPI",
    "RetractedandRepublishedFrom": "RRF",
    "RetractedandRepublishedIn": "RRI",
    "RetractionIn": "RIN",
    "RetractionOf": "ROF",
    "UpdateIn": "UIN",
    "UpdateOf": "UOF",
}
"""NLM's tags for corrections, by RefType."""


def nbib(documents: Sequence[Document]) -> str:
    """Write records as PubMed does.

    Other programs look for the type of a retracted article, which is written even where the record has
    only a notice, or for keywords, where its standing is written too.
    """
    return "\n".join("".join(_lines(document)) for document in documents)


def _lines(document: Document) -> Iterator[str]:
    for tag, value in _fields(document):
        if value := one_line(value):
            yield f"{tag:<4}- " + "\n      ".join(_wrap(value)) + "\n"


def _fields(document: Document) -> Iterator[tuple[str, str]]:
    metadata = document.metadata
    journal = metadata.journal
    yield "PMID", document.pmid
    yield "STAT", metadata.status
    # A kind has to be named, also of an index that has none.
    yield "IS", f"{journal.issn} ({journal.issn_kind or 'Linking'})" if journal.issn else ""
    yield "VI", metadata.volume
    yield "IP", metadata.issue
    yield "DP", date_text(document)
    yield "TI", document.title
    yield "TT", metadata.vernacular_title
    yield "PG", metadata.pages
    yield "LID", f"{metadata.doi} [doi]" if metadata.doi else ""
    yield "AB", document.abstract
    for author in metadata.authors:
        yield from _author(author)
    yield from (("LA", language) for language in metadata.languages)
    yield from (("PT", kind) for kind in _types(metadata))
    yield "DEP", _day(metadata)
    yield "TA", journal.abbreviation
    yield "JT", journal.title
    yield "JID", journal.nlm_id
    yield from (("NM", substance) for substance in metadata.substances)
    yield from (("MH", _heading(heading)) for heading in metadata.headings)
    yield from (("OT", keyword) for keyword in (word(metadata), *metadata.keywords))
    yield from _notices(metadata)
    yield "PMC", metadata.pmcid
    yield "AID", f"{metadata.doi} [doi]" if metadata.doi else ""
    yield "SO", source(document)


def _author(author: Author) -> Iterator[tuple[str, str]]:
    if author.group:
        yield "CN", author.group
        return
    yield "FAU", ", ".join(filter(None, (author.last, author.fore or author.initials, author.suffix)))
    yield "AU", short_name(author)
    yield "AUID", f"ORCID: {author.orcid}" if author.orcid else ""


def _types(metadata: Metadata) -> list[str]:
    retracted = (RETRACTED_TYPE,) if metadata.standing is Standing.RETRACTED else ()
    return list(dict.fromkeys((*metadata.types, *retracted)))


def _day(metadata: Metadata) -> str:
    """Return YYYYMMDD, the one form there is: a date known less precisely is left out."""
    date = metadata.electronic
    if date is None or not date.month or not date.day:
        return ""
    return f"{date.year:04}{date.month:02}{date.day:02}"


def _heading(heading: Heading) -> str:
    names = [
        (heading.name, heading.major),
        *((qualifier.name, qualifier.major) for qualifier in heading.qualifiers),
    ]
    return "/".join(f"*{name}" if major else name for name, major in names)


def _notices(metadata: Metadata) -> Iterator[tuple[str, str]]:
    for correction in metadata.corrections:
        if correction.kind in _TAGS:
            yield _TAGS[correction.kind], place(correction)


def _wrap(text: str) -> Iterator[str]:
    """Wrap at single spaces only, which readers restore; all other white space is content."""
    line = ""
    for part in re.split(r"(?<! ) (?! )", text):
        if line and len(line) + 1 + len(part) > WIDTH:
            yield line
            line = part
        else:
            line = f"{line} {part}" if line else part
    yield line
