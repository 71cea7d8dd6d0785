"""Citations in Vancouver and APA, made by citeproc-py from the style files beside this module."""

from functools import cache
from importlib.resources import as_file, files
from threading import Lock
from typing import Any, Literal

from bioqa.app.exports.citing import separator
from bioqa.app.exports.csl import csl_item
from bioqa.app.exports.fields import bare_title, date_text, initials, one_line, year
from bioqa.app.exports.links import doi_link
from bioqa.app.exports.standing import statement
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Author

SEMICOLON = "\uf8ff"
"""Stand-in, of a character for private use, for a semicolon between authors."""

_lock = Lock()  # citeproc-py writes into a style while it formats


def vancouver(document: Document) -> str:
    """Cite as the ICMJE recommends, with six authors; a withdrawn article's notices follow."""
    metadata = document.metadata
    named = metadata.authors[:7]  # the seventh becomes "et al."
    authors = [_short_name(author) for author in named]
    for before, author, following in zip(named, authors, named[1:], strict=False):
        if separator(before, following) == "; ":
            last = "suffix" if "suffix" in author else "given" if "given" in author else "literal"
            author[last if last in author else "family"] += SEMICOLON
    if authors and not metadata.authors_complete:
        authors.append({"literal": "et al"})
    texts = {"page": metadata.pages, "DOI": metadata.doi}
    cited = _format("vancouver", document, authors, {"literal": date_text(document)}, texts)
    cited = cited.replace(f"{SEMICOLON}, et al", ", et al").replace(f"{SEMICOLON},", ";")
    return " ".join(filter(None, (cited, one_line(statement(metadata)))))


def apa(document: Document) -> str:
    """Cite in APA's 7th edition, with twenty authors; a withdrawn article's notices follow in parentheses."""
    metadata = document.metadata
    named = metadata.authors
    # Those between the twentieth and the last become an ellipsis.
    authors = [_full_name(author) for author in (named if len(named) <= 21 else (*named[:20], named[-1]))]
    incomplete = bool(authors) and not metadata.authors_complete
    if incomplete:
        authors.append({"literal": "et al."})
    issued = {"date-parts": [[int(year(document))]]} if year(document) else {}
    texts = {"DOI": doi_link(metadata.doi) if metadata.doi else ""}
    cited = _format("apa", document, authors, issued, texts)
    if incomplete:
        cited = cited.replace(", & et al.", ", et al.", 1)
    said = one_line(statement(metadata))
    return f"{cited} ({said})" if said else cited


def _short_name(author: Author) -> dict[str, str]:
    if author.group or not author.last:
        return _one_name(author)
    return _parts(family=author.last, given=initials(author), suffix=author.suffix)


def _full_name(author: Author) -> dict[str, str]:
    if author.group or not author.last:
        return _one_name(author)
    return _parts(family=author.last, given=author.fore or " ".join(author.initials), suffix=author.suffix)


def _one_name(author: Author) -> dict[str, str]:
    return {"literal": one_line(author.group or author.fore or author.initials)}


def _parts(**name: str) -> dict[str, str]:
    return {part: one_line(value) for part, value in name.items() if value}


def _format(
    style: Literal["vancouver", "apa"],
    document: Document,
    authors: list[dict[str, str]],
    issued: dict[str, Any],
    texts: dict[str, str],
) -> str:
    """Format a citation.

    citeproc-py takes markup and quotation marks in a text for its own, and mends punctuation around them:
    it gets stand-ins, of characters that are for private use, for the title and ``texts``.
    """
    from citeproc import Citation, CitationItem, CitationStylesBibliography, formatter
    from citeproc.source.json import CiteProcJSON

    texts = {"title": bare_title(document.title), **texts}
    stand_ins = {name: chr(0xE000 + number) for number, name in enumerate(texts)}
    item = csl_item(document) | {"author": authors, "issued": issued}
    item |= {name: stand_ins[name] if text else "" for name, text in texts.items()}
    given = {name: value for name, value in item.items() if value}
    with _lock:
        source = CiteProcJSON([given])
        bibliography = CitationStylesBibliography(_style(style), source, formatter.plain)
        bibliography.register(Citation([CitationItem(given["id"])]))
        (entry,) = bibliography.bibliography()
        cited = str(entry)
    for name, text in texts.items():
        stand_in = stand_ins[name]
        if text.endswith(("?", "!")):
            cited = cited.replace(f"{stand_in}.", text)
        cited = cited.replace(stand_in, one_line(text))
    return one_line(cited)


@cache
def _style(name: str) -> Any:
    from citeproc import CitationStylesStyle

    with as_file(files("bioqa.app.exports") / "styles" / f"{name}.csl") as path:
        return CitationStylesStyle(str(path), validate=False)  # tests validate it
