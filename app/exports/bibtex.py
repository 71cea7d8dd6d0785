"""BibTeX: titles in double braces, so that styles keep their capitals; UTF-8, as today's programs read it."""

import re
from collections.abc import Iterator, Sequence

from bioqa.app.exports.fields import one_line, pages, subjects, year
from bioqa.app.exports.links import pubmed_link
from bioqa.app.exports.standing import statement
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Author, PartialDate

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}",  # not \{: BibTeX counts braces even after a backslash
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: f"\\{character}" for character in "#$%&_"},
    }
)


def bibtex(documents: Sequence[Document]) -> str:
    """Write entries; a withdrawn article says so in ``note``, which styles print."""
    return "\n".join(map(_entry, documents))


def _entry(document: Document) -> str:
    lines = "".join(f"  {name} = {value},\n" for name, value in _fields(document) if value not in ("", "{}"))
    return f"@article{{pmid{document.pmid},\n{lines}}}\n"


def _fields(document: Document) -> Iterator[tuple[str, str]]:
    metadata = document.metadata
    journal = metadata.journal
    page = pages(metadata.pages)
    yield "author", _brace(" and ".join(_names(metadata.authors, complete=metadata.authors_complete)))
    yield "title", _brace(_brace(_tex(document.title)) if document.title else "")
    yield "journal", _brace(_tex(journal.title or journal.abbreviation))
    yield "shortjournal", _brace(_tex(journal.abbreviation))
    yield "volume", _brace(_tex(metadata.volume))
    yield "number", _brace(_tex(metadata.issue))
    yield "pages", _brace("--".join(filter(None, (_tex(page.first), _tex(page.last)))))
    yield "year", _brace(year(document))
    yield "month", _month(metadata.published)
    yield "note", _brace(_tex(statement(metadata)))
    yield "abstract", _brace(_tex(document.abstract))
    yield "keywords", _brace(_tex("; ".join(map(_keyword, subjects(metadata)))))
    yield "language", _brace(_tex(", ".join(metadata.languages)))
    yield "issn", _brace(_tex(journal.issn))
    yield "doi", _brace(_verbatim(metadata.doi))
    yield "pmid", _brace(document.pmid)
    yield "pmcid", _brace(_verbatim(metadata.pmcid))
    yield "url", _brace(pubmed_link(document.pmid))


def _brace(value: str) -> str:
    return f"{{{value}}}"


def _keyword(subject: str) -> str:
    """A subject without what separates keywords: ``Models (Molecular)``. Zotero splits at commas, too."""
    first, *others = re.split(r"[,;] ", subject)
    return "".join([first, *(f" ({other})" for other in others)])


def _tex(text: str) -> str:
    return one_line(text).translate(_TEX)


def _verbatim(identifier: str) -> str:
    """Return an identifier as styles take it, literally; only what could end the field is encoded."""
    return one_line(identifier).replace("\\", "%5C").replace("{", "%7B").replace("}", "%7D")


def _names(authors: Sequence[Author], *, complete: bool) -> Iterator[str]:
    for author in authors:
        yield _brace(_tex(author.group)) if author.group else _name(author)
    if authors and not complete:
        yield "others"


def _name(author: Author) -> str:
    """Return "Last, Suffix, First", as BibTeX reads it; without first name the last one is one piece."""
    last, first, suffix = (_part(p) for p in (author.last, author.fore or author.initials, author.suffix))
    if not first:
        return _brace(_tex(f"{author.last} {author.suffix}".strip()))
    return ", ".join(filter(None, (last, suffix, first)))


def _part(name: str) -> str:
    """Return a part of a name, in braces if it holds what divides names or their parts, or a command."""
    written = _tex(name)
    return _brace(written) if re.search(r"[,\\]|\b(and|others)\b", written, re.IGNORECASE) else written


def _month(date: PartialDate | None) -> str:
    return _MONTHS[date.month - 1] if date is not None and date.month and not date.text else ""
