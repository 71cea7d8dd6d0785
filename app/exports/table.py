"""A table for spreadsheets: CSV in UTF-8 with the mark that Excel needs, every field quoted."""

import csv
import io
from collections.abc import Mapping, Sequence

from bioqa.app.exports.citing import author_list
from bioqa.app.exports.fields import one_line, pages, year
from bioqa.app.exports.links import doi_link, pmc_link, pubmed_link
from bioqa.app.exports.standing import notice_text, shown_notices, word
from bioqa.bioasq.domain import Document

MARK = "\ufeff"
"""Without it Excel reads UTF-8 as another encoding. PubMed's own CSV has it too."""

_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
"""What a cell must not begin with: spreadsheets would run it, and its text is other people's (OWASP)."""


def csv_table(documents: Sequence[Document]) -> str:
    """Write a row for each citation; a cell that a spreadsheet would run as a formula gets an apostrophe."""
    written = io.StringIO()
    written.write(MARK)
    table = csv.DictWriter(written, list(_row(Document("", 1, "", ""))), quoting=csv.QUOTE_ALL)
    table.writeheader()
    for document in documents:
        table.writerow({name: cell(value) for name, value in _row(document).items()})
    return written.getvalue()


def _row(document: Document) -> Mapping[str, str]:
    metadata = document.metadata
    page = pages(metadata.pages)
    return {
        "pmid": document.pmid,
        "standing": word(metadata),
        "notices": " ".join(map(notice_text, shown_notices(metadata))),
        "title": document.title,
        "authors": author_list(metadata),
        "journal": metadata.journal.abbreviation or metadata.journal.title,
        "year": year(document),
        "date": str(metadata.published or ""),
        "volume": metadata.volume,
        "issue": metadata.issue,
        "pages": "-".join(filter(None, (page.first, page.last))),
        "doi": metadata.doi,
        "pmcid": metadata.pmcid,
        "types": "; ".join(metadata.types),
        "languages": "; ".join(metadata.languages),
        "mesh": "; ".join(heading.name for heading in metadata.headings),
        "keywords": "; ".join(metadata.keywords),
        "abstract": document.abstract,
        "pubmed": pubmed_link(document.pmid),
        "doi_link": doi_link(metadata.doi) if metadata.doi else "",
        "pmc": pmc_link(metadata.pmcid) if metadata.pmcid else "",
    }


def cell(value: str) -> str:
    line = one_line(value)
    return f"'{line}" if line.startswith(_FORMULA) else line
