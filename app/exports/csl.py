"""CSL-JSON, which citation processors read: with it any style can be made of a citation."""

import json
from collections.abc import Sequence
from typing import Any

from bioqa.app.exports.fields import bare_title, one_line, pages, subjects
from bioqa.app.exports.links import pubmed_link
from bioqa.app.exports.standing import statement, word
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Author, PartialDate

_SEASONS = {"spring": 1, "summer": 2, "autumn": 3, "fall": 3, "winter": 4}


def csl_json(documents: Sequence[Document]) -> str:
    """Write a list of items; a withdrawn article says so in ``status``, which styles print, and ``note``."""
    return json.dumps([csl_item(document) for document in documents], ensure_ascii=False, indent=1) + "\n"


def csl_item(document: Document) -> dict[str, Any]:
    """Return a citation as an item of CSL 1.0.2, without empty fields."""
    metadata = document.metadata
    journal = metadata.journal
    is_preprint = "Preprint" in metadata.types
    page = pages(metadata.pages)
    item = {
        "id": f"pmid{document.pmid}",
        "type": "article" if is_preprint else "article-journal",
        "status": word(metadata),
        "title": bare_title(document.title),
        "original-title": one_line(metadata.vernacular_title),
        "author": [_name(author) for author in metadata.authors],
        "issued": _date(metadata.published or _year_only(document)),
        "container-title": one_line(journal.title or journal.abbreviation),
        "container-title-short": one_line(journal.abbreviation),
        "volume": one_line(metadata.volume),
        "issue": one_line(metadata.issue),
        "page": "-".join(filter(None, (one_line(page.first), one_line(page.last)))),
        "genre": "Preprint" if is_preprint else "",
        "abstract": one_line(document.abstract),
        "keyword": "; ".join(subjects(metadata)),
        "language": ", ".join(map(one_line, metadata.languages)),
        "ISSN": one_line(journal.issn),
        "DOI": one_line(metadata.doi),
        "PMID": document.pmid,
        "PMCID": one_line(metadata.pmcid),
        "URL": pubmed_link(document.pmid),
        "note": one_line(statement(metadata)),
    }
    return {name: value for name, value in item.items() if value}


def _name(author: Author) -> dict[str, str]:
    if author.group:
        return {"literal": one_line(author.group)}
    name = {
        "family": one_line(author.last),
        "given": one_line(author.fore or author.initials),
        "suffix": one_line(author.suffix),
    }
    return {part: value for part, value in name.items() if value}


def _year_only(document: Document) -> PartialDate | None:
    """An index's own date tells the year for sure, and no more."""
    return PartialDate(document.published.year) if document.published else None


def _date(date: PartialDate | None) -> dict[str, Any]:
    if date is None:
        return {}
    first = [part for part in (date.year, date.month, date.day) if part]
    if not date.text:
        return {"date-parts": [first]}
    season = next((number for name, number in _SEASONS.items() if name in date.text.lower()), 0)
    if season:
        return {"date-parts": [[date.year]], "season": season}
    if date.month and date.until:  # a range of months, or of days
        last = [date.until.year, date.until.month, date.until.day][: len(first)]
        return {"date-parts": [first, last]}
    return {"date-parts": [[date.year]], "literal": one_line(date.text)}
