"""Citations for reference managers, from the indexed fields: title, abstract, year and PMID.

Authors and journals are not in the index; reference managers complete a record by its PMID. Only the year of
a date is written: an indexed date is the earliest that the record allows, so month and day may be invented.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from bioqa.bioasq.domain import Document

_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    media_type: str
    write: Callable[[Sequence[Document]], str]


def ris(documents: Sequence[Document]) -> str:
    """Write RIS, as Research Information Systems defined it: one tag per line, lines end with CR LF."""
    return "".join(f"{line}\r\n" for document in documents for line in _ris_lines(document))


def _ris_lines(document: Document) -> Iterator[str]:
    yield "TY  - JOUR"
    for tag, value in (
        ("TI", document.title),
        ("AB", document.abstract),
        ("PY", _year(document)),
        ("AN", document.pmid),
        ("DB", "PubMed"),
        ("UR", document.url),
    ):
        if value:
            yield f"{tag}  - {_line(value)}"
    yield "ER  - "


def bibtex(documents: Sequence[Document]) -> str:
    """Write BibTeX, with titles in double braces, so that styles keep their capitals."""
    return "\n".join(map(_bibtex_entry, documents))


def _bibtex_entry(document: Document) -> str:
    fields = {
        "title": f"{{{_tex(document.title)}}}" if document.title else "",
        "year": _year(document),
        "abstract": _tex(document.abstract),
        "pmid": document.pmid,
        "url": document.url,
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@article{{pmid{document.pmid},\n{lines}}}\n"


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


def _tex(text: str) -> str:
    return _line(text).translate(_TEX)


def nbib(documents: Sequence[Document]) -> str:
    """Write NLM's format, as PubMed exports it: four-character tags, continuation lines after six spaces."""
    return "\n".join("".join(chain.from_iterable(_nbib_lines(document))) for document in documents)


def _nbib_lines(document: Document) -> Iterator[str]:
    for tag, value in (
        ("PMID", document.pmid),
        ("DP", _year(document)),
        ("TI", document.title),
        ("AB", document.abstract),
    ):
        if value:
            yield f"{tag:<4}- " + "\n      ".join(_wrapped(_line(value))) + "\n"


def _wrapped(text: str) -> Iterator[str]:
    """Wrap at single spaces only, which readers restore; all other white space is content."""
    line = ""
    for word in re.split(r"(?<! ) (?! )", text):
        if line and len(line) + 1 + len(word) > _WIDTH:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def _line(text: str) -> str:
    """Join lines: no format here can contain line breaks, or characters that readers take for one."""
    return " ".join(text.splitlines()).strip(" ")


def _year(document: Document) -> str:
    return str(document.published.year) if document.published else ""


FORMATS: Mapping[str, Format] = {
    "ris": Format("RIS", "application/x-research-info-systems", ris),
    "bib": Format("BibTeX", "application/x-bibtex", bibtex),
    "nbib": Format("NBIB", "application/nbib", nbib),
}
"""Formats by file name extension."""
