"""Fields of a citation as several formats write them: names, pages, dates, titles."""

import re
from dataclasses import dataclass

from bioqa.app.exports.standing import word
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Author, Metadata

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_RANGE = re.compile(r"([A-Za-z]*)(\d+)-([A-Za-z]*)(\d+)([A-Za-z]*)")


@dataclass(frozen=True, slots=True)
class Pages:
    """``last`` is empty for a single page, an article number, or pages that are no plain range."""

    first: str
    last: str = ""


def one_line(text: str) -> str:
    """Join lines, and drop other control characters: no format here can contain them."""
    return _CONTROL.sub("", " ".join(text.replace("\t", " ").splitlines())).strip(" ")


def pages(written: str) -> Pages:
    """Read NLM's short form: in ``101-9`` the last page is 109, in ``S12-8`` it is S18."""
    match = _RANGE.fullmatch(written)
    if match is None:
        return Pages(written)
    prefix, first, last_prefix, last, suffix = match.groups()
    if len(last) < len(first):
        last = first[: len(first) - len(last)] + last
    if int(last) < int(first) and last_prefix in ("", prefix):
        return Pages(written)
    return Pages(prefix + first, (last_prefix or prefix) + last + suffix)


def initials(author: Author) -> str:
    """Return the initials, made from the fore name where the record has none."""
    return author.initials or "".join(part[0] for part in re.split(r"[\s.-]+", author.fore) if part)


def short_name(author: Author) -> str:
    """Return a name as PubMed prints it: ``Smith JA Jr``; a group's name as it is."""
    parts = (author.last, initials(author), author.suffix)
    return one_line(author.group or " ".join(filter(None, parts)))


def year(document: Document) -> str:
    """Return the year, or nothing if the record has no date.

    An index's own date is the fallback for citations without metadata.
    """
    when = document.metadata.published
    if when is not None:
        return str(when.year)
    return str(document.published.year) if document.published else ""


def date_text(document: Document) -> str:
    """Return the date as NLM writes it, as precise as it is known; empty if there is none."""
    when = document.metadata.published
    return year(document) if when is None else one_line(str(when))


def bare_title(title: str) -> str:
    """Return the title without its full stop, which citation styles add themselves."""
    title = one_line(title)
    return title[:-1] if title.endswith(".") and not title.endswith("..") else title


def subjects(metadata: Metadata) -> list[str]:
    """Return what the article is about: MeSH headings, then the authors' keywords, each once.

    The standing of a withdrawn or doubted article comes first, so that it is seen in any collection.
    """
    names = (word(metadata), *(heading.name for heading in metadata.headings), *metadata.keywords)
    return list(dict.fromkeys(filter(None, map(one_line, names))))
