"""Citations for reference managers, from what the index holds: title, abstract, year and PMID.

Authors and journals are not in the index; reference managers complete a record by its PMID. Of the date only
the year is given: an indexed date is the earliest that the record allows, so month and day may be assumed.
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
    """RIS, as Research Information Systems defined it: one tag a line, lines ending CR LF."""
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
    """BibTeX; titles stand in two pairs of braces, so that styles leave their capitals as they are."""
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
        "{": r"\textbraceleft{}",  # not \{: BibTeX counts braces, whatever stands before them
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: f"\\{character}" for character in "#$%&_"},
    }
)


def _tex(text: str) -> str:
    return _line(text).translate(_TEX)


def nbib(documents: Sequence[Document]) -> str:
    """NLM's own format, as PubMed exports it: four characters of tag, lines continued after six spaces."""
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
    """Broken at single spaces only, each of which a reader puts back: all other characters are content."""
    line = ""
    for word in re.split(r"(?<! ) (?! )", text):
        if line and len(line) + 1 + len(word) > _WIDTH:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def _line(text: str) -> str:
    """No format here can hold line breaks, nor what else Python and others take for one."""
    return " ".join(text.splitlines()).strip(" ")


def _year(document: Document) -> str:
    return str(document.published.year) if document.published else ""


FORMATS: Mapping[str, Format] = {
    "ris": Format("RIS", "application/x-research-info-systems", ris),
    "bib": Format("BibTeX", "application/x-bibtex", bibtex),
    "nbib": Format("NBIB", "application/nbib", nbib),
}
"""By the ending of their files' names."""
