"""RIS, as Research Information Systems defined it: one tag a line, lines end with CR LF."""

from collections.abc import Iterator, Sequence

from bioqa.app.exports.fields import one_line, pages, subjects, year
from bioqa.app.exports.links import doi_link, pubmed_link
from bioqa.app.exports.standing import statement
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Author, PartialDate


def ris(documents: Sequence[Document]) -> str:
    """Write records; a withdrawn article has its notice in the first N1, and its standing in the first KW."""
    return "".join(f"{line}\r\n" for document in documents for line in _record(document))


def _record(document: Document) -> Iterator[str]:
    yield "TY  - JOUR"
    for tag, value in _fields(document):
        if value := one_line(value):
            yield f"{tag}  - {value}"
    yield "ER  - "


def _fields(document: Document) -> Iterator[tuple[str, str]]:
    metadata = document.metadata
    journal = metadata.journal
    yield from (("AU", _name(author)) for author in metadata.authors)
    yield "TI", document.title
    yield "TT", metadata.vernacular_title
    yield "T2", journal.title or journal.abbreviation
    yield "J2", journal.abbreviation
    yield "VL", metadata.volume
    yield "IS", metadata.issue
    page = pages(metadata.pages)
    yield "SP", page.first
    yield "EP", page.last
    yield "PY", year(document)
    yield "DA", _date(metadata.published)
    yield "N1", statement(metadata)
    yield "N1", f"Publication types: {'; '.join(metadata.types)}" if metadata.types else ""
    yield "AB", document.abstract
    yield from (("KW", subject) for subject in subjects(metadata))
    yield "LA", "; ".join(metadata.languages)
    yield "SN", journal.issn
    yield "DO", metadata.doi
    yield "AN", document.pmid
    yield "C2", metadata.pmcid
    yield "DB", "PubMed"
    yield "UR", pubmed_link(document.pmid)
    yield "UR", doi_link(metadata.doi) if metadata.doi else ""


def _name(author: Author) -> str:
    """Return "Last, First, Suffix", or a group's name with a comma behind it, which keeps it in one piece.

    RIS has no escape for other commas: they are left out.
    """
    if author.group:
        return f"{_without_commas(author.group)},"
    parts = [author.last, author.fore or author.initials, author.suffix]
    while parts and not parts[-1]:
        parts.pop()
    return ", ".join(map(_without_commas, parts))


def _without_commas(name: str) -> str:
    return " ".join(name.replace(",", " ").split())


def _date(date: PartialDate | None) -> str:
    """Return YYYY/MM/DD/other, with nothing where nothing is known; a season or a range is other."""
    if date is None:
        return ""
    if date.text:
        other = date.text.removeprefix(str(date.year)).strip().replace("/", "-")
        return f"{date.year}///{other}"
    month = f"{date.month:02}" if date.month else ""
    day = f"{date.day:02}" if date.month and date.day else ""
    return f"{date.year}/{month}/{day}/"
