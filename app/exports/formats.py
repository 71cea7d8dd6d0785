"""The formats of files with citations, by the name with which they are asked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from bioqa.app.exports.bibtex import bibtex
from bioqa.app.exports.citing import nlm
from bioqa.app.exports.csl import csl_json
from bioqa.app.exports.nbib import nbib
from bioqa.app.exports.ris import ris
from bioqa.app.exports.styles import apa, vancouver
from bioqa.app.exports.table import csv_table
from bioqa.bioasq.domain import Document
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import show


@dataclass(frozen=True, slots=True)
class Format:
    """``title`` is for people, ``ending`` of file names; ``write`` returns the whole file."""

    title: str
    ending: str
    media_type: str
    write: Callable[[Sequence[Document]], str]


def _lines(cite: Callable[[Document], str], documents: Sequence[Document]) -> str:
    return "".join(f"{cite(document)}\n" for document in documents)


FORMATS: Mapping[str, Format] = {
    "ris": Format("RIS", "ris", "application/x-research-info-systems", ris),
    "bibtex": Format("BibTeX", "bib", "application/x-bibtex", bibtex),
    "nbib": Format("NBIB", "nbib", "application/nbib", nbib),
    "csl": Format("CSL-JSON", "json", "application/vnd.citationstyles.csl+json", csl_json),
    "csv": Format("CSV", "csv", "text/csv", csv_table),
    "nlm": Format("NLM", "txt", "text/plain", partial(_lines, nlm)),
    "vancouver": Format("Vancouver", "txt", "text/plain", partial(_lines, vancouver)),
    "apa": Format("APA", "txt", "text/plain", partial(_lines, apa)),
}
"""Files for programs, then citations to be read, one a line."""


def format_named(name: str) -> Format:
    """Raises BioqaError, naming the formats that there are."""
    if name not in FORMATS:
        raise BioqaError(f"the format must be one of {', '.join(FORMATS)}, not {show(name)}")
    return FORMATS[name]
