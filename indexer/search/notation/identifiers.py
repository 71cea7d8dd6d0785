"""Articles named by PMID, DOI or PMCID: bare, with a prefix, or as a link."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from bioqa.indexer.search.notation.syntax import SyntaxFault

MAX_IDENTIFIERS = 100

_SEPARATOR = r"(?:[\s,;|&.]+|$)"
_OPERATOR = re.compile(r"(?:or|and)\s+", re.IGNORECASE)
"""Between two articles of a list."""
_QUOTATION_MARKS = dict.fromkeys(map(ord, '"“”'), " ")
_HTTP = r"(?:https?://)?"
_NCBI = rf"{_HTTP}(?:www\.)?ncbi\.nlm\.nih\.gov"
_END_OF_LINK = r"(?:/[^\s,;]*|[?#][^\s,;]*)?"

_PATTERN = re.compile(
    rf"""(?:
        (?:(?P<pmid_prefix>pmids?)(?:\s*:)?\s*(?P<pmid>[1-9][0-9]{{0,17}}))
      | (?:(?:{_HTTP}(?:www\.)?pubmed\.(?:ncbi\.nlm\.nih\.)?gov/|{_NCBI}/(?:m/)?pubmed/
            |{_HTTP}(?:www\.)?europepmc\.org/(?:article|abstract)/med/)(?P<linked_pmid>[1-9][0-9]{{0,17}})
            {_END_OF_LINK})
      | (?:(?:pmcid(?:\s*:)?\s*|{_HTTP}pmc\.ncbi\.nlm\.nih\.gov/articles/|{_NCBI}/pmc/articles/
            |{_HTTP}(?:www\.)?europepmc\.org/(?:articles?/pmc/|articles?/|abstract/pmc/))?
            (?P<pmcid>pmc[1-9][0-9]{{0,17}})(?:\.[0-9]+)?{_END_OF_LINK})
      | (?:(?:doi\s*:\s*|{_HTTP}(?:dx\.)?doi\.org/|doi\s+)?(?P<doi>10\.[0-9]{{4,9}}/\S+))
      | (?P<number>[1-9][0-9]{{0,8}})
    ){_SEPARATOR}""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Identifier:
    kind: Literal["pmid", "pmcid", "doi"]
    value: str
    """Digits; PMC and digits; or a DOI in lower case, as case makes no difference there."""
    bare: bool = False
    """A number alone, which may be meant otherwise."""


def identifiers(text: str) -> tuple[Identifier, ...]:
    """The articles that a text names, if it holds nothing else. Raises SyntaxFault if they are more than
    ``MAX_IDENTIFIERS``, at the first that is too many."""
    identified: dict[Identifier, None] = {}
    text = text.translate(_QUOTATION_MARKS).strip().strip("<>()[] ")
    position = excess = 0
    while position < len(text):
        match = _PATTERN.match(text, position)
        if match is None:
            return ()
        if len(identified) == MAX_IDENTIFIERS and not excess:
            excess = position
        identified[_identifier(match)] = None
        position = match.end()
        if operator := _OPERATOR.match(text, position):
            position = operator.end()
    if len(identified) > MAX_IDENTIFIERS:
        raise SyntaxFault(f"a list may have {MAX_IDENTIFIERS} articles, not {len(identified)}", text, excess)
    return tuple(identified)


def _identifier(match: re.Match[str]) -> Identifier:
    if number := match["number"]:
        return Identifier("pmid", number, bare=True)
    if pmid := match["pmid"] or match["linked_pmid"]:
        return Identifier("pmid", pmid)
    if pmcid := match["pmcid"]:
        return Identifier("pmcid", pmcid.upper())
    return Identifier("doi", unquote(match["doi"]).lower().rstrip(".,;"))
