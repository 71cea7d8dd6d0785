"""Citations: files for reference managers, and text to paste."""

from collections.abc import Iterable

from bioqa.app.exports.formats import format_named
from bioqa.bioasq.domain import Document


def cite(documents: Document | Iterable[Document], format: str = "nlm") -> str:
    """Cite documents, as a file's text or one a line; withdrawn articles say so in every format.

    ``format``: "ris", "bibtex", "nbib", "csl" or "csv" for programs, "nlm", "vancouver" or "apa" to read.
    Raises BioqaError for another format.

    >>> index = bioqa.open_index("sample-index")
    >>> document = index.document("90000032")
    >>> "Why some people bleed on small doses of warfarin." in bioqa.cite(document, "apa")
    True
    >>> answer = bioqa.ask("Which genes influence the dose of warfarin?", index)
    >>> print(bioqa.cite((each.document for each in answer.documents), "ris").split()[:3])
    ['TY', '-', 'JOUR']
    """
    return format_named(format).write([documents] if isinstance(documents, Document) else list(documents))
