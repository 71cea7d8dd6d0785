"""A citation in one line, as PubMed's summary prints it (NLM, Citing Medicine)."""

from bioqa.app.exports.fields import date_text, one_line, short_name
from bioqa.app.exports.standing import statement
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Author, Metadata

FIRST_AUTHORS = 3


def nlm(document: Document, first_authors: int | None = FIRST_AUTHORS) -> str:
    """Cite: ``Doe J, Roe R. Title. J Tests. 2019 Jul 2;47(1):5-9. doi: 10.1/x. PMID: 1; PMCID: PMC2.``

    Of a longer list the first authors are named, or all for None. A withdrawn article's notices follow.
    """
    metadata = document.metadata
    parts = (
        author_list(metadata, first_authors),
        document.title,
        source(document),
        f"doi: {metadata.doi}" if metadata.doi else "",
        _ahead_of_print(metadata),
        _identifiers(document),
        statement(metadata),
    )
    return " ".join(_end(one_line(part)) for part in parts if part)


def author_list(metadata: Metadata, first_authors: int | None = None) -> str:
    shortened = first_authors is not None and len(metadata.authors) > first_authors
    authors = metadata.authors[:first_authors]
    names = "".join(
        f"{separator(*authors[number - 1 : number + 1]) if number else ''}{short_name(author)}"
        for number, author in enumerate(authors)
    )
    return f"{names}, et al" if names and (shortened or not metadata.authors_complete) else names


def separator(author: Author, following: Author) -> str:
    """What stands between two authors: a semicolon beside an organisation, whose name may have commas.

    NLM's samples for the ICMJE: van Moorselaar RJ; Alf-One Study Group."""
    return "; " if author.group or following.group else ", "


def source(document: Document) -> str:
    """Return journal, date and place: ``J Tests. 2019 Jul 2;47(1):5-9``. Empty if nothing is known."""
    metadata = document.metadata
    where = metadata.volume + (f"({metadata.issue})" if metadata.issue else "")
    when = ";".join(filter(None, (date_text(document), where)))
    if metadata.pages:
        when = f"{when}:{metadata.pages}" if when else metadata.pages
    return " ".join(filter(None, (_end(metadata.journal.abbreviation or metadata.journal.title), when)))


def _ahead_of_print(metadata: Metadata) -> str:
    electronic = metadata.electronic
    if electronic is None or metadata.published is None or str(electronic) == str(metadata.published):
        return ""
    return f"Epub {electronic}"


def _identifiers(document: Document) -> str:
    pmcid = f"PMCID: {document.metadata.pmcid}" if document.metadata.pmcid else ""
    return "; ".join(filter(None, (f"PMID: {document.pmid}", pmcid)))


def _end(part: str) -> str:
    return part if not part or part.endswith((".", "?", "!")) else f"{part}."
