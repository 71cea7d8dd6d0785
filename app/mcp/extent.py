"""How long results may be: models read all of them, and pay for each character."""

from collections.abc import Sequence

import pydantic_core
from pydantic import BaseModel

from bioqa.app.mcp.results import Documents, MedlineDocument, SearchResult, SimilarArticles

MOST_CHARACTERS = 8000
"""Limit of a result, by default. Ten documents and ten sentences with citations have some 7,500."""

SHORT = 300
"""Characters of a question that is repeated in a result that would be too long otherwise."""


def length(result: BaseModel) -> int:
    """Characters of the result as the protocol's text."""
    return len(pydantic_core.to_json(result, indent=2).decode())


def shorten_search(result: SearchResult, most: int, offset: int) -> SearchResult:
    """Leave out the last documents and sentences in turn until the result is short enough.

    ``offset`` is that of the first document, so that what is left out can be asked for."""
    short = result
    while length(short) > most:
        if len(short.documents) > max(1, len(short.snippets)):
            *documents, last = short.documents
            snippets = [snippet for snippet in short.snippets if snippet.pmid != last.pmid]
            short = short.model_copy(
                update={"documents": documents, "snippets": snippets, "next_offset": offset + len(documents)}
            )
        elif short.snippets:
            short = short.model_copy(update={"snippets": short.snippets[:-1]})
        elif short.documents and short.documents[0].details:
            documents = [document.model_copy(update={"details": None}) for document in short.documents]
            short = short.model_copy(update={"documents": documents})
        elif short.facets or len(short.question) > SHORT:
            short = short.model_copy(update={"facets": None, "question": short.question[:SHORT]})
        else:
            break
        short = short.model_copy(update={"note": _note(result, short, most)})
    return short


def _note(whole: SearchResult, short: SearchResult, most: int) -> str:
    lost = {
        "documents": len(whole.documents) - len(short.documents),
        "sentences": len(whole.snippets) - len(short.snippets),
        "facets": bool(whole.facets and not short.facets),
        "details": len(whole.documents)
        and bool(whole.documents[0].details and not short.documents[0].details),
    }
    counted = [
        name if isinstance(count, bool) else f"{count} {name}" for name, count in lost.items() if count
    ]
    left_out = ", ".join(counted) or "a part of the question"
    more = " next_offset continues with them." if lost["documents"] else ""
    said = [whole.note, f"Left out to keep to max_characters ({most}): {left_out}.{more}"]
    return " ".join(filter(None, said))


def shorten_similar(result: SimilarArticles, most: int) -> SimilarArticles:
    """Leave out the last documents, then the details of the first."""
    while length(result) > most:
        *documents, last = result.documents
        if not documents and last.details is None:
            break
        result = result.model_copy(
            update={"documents": documents or [last.model_copy(update={"details": None})]}
        )
    return result


def shorten_document(document: MedlineDocument, most: int) -> MedlineDocument:
    """Leave out the details, then the end of the abstract."""
    if length(document) <= most:
        return document
    if document.details:
        note = f"Left out to keep to max_characters ({most}): the details."
        document = document.model_copy(update={"details": None, "note": note})
    while (excess := length(document) - most) > 0 and document.abstract:
        abstract = document.abstract[: max(0, len(document.abstract) - excess - 100)]
        note = f"Left out to keep to max_characters ({most}): the end of the abstract."
        document = document.model_copy(update={"abstract": abstract, "note": note})
    return document


def documents_within(documents: Sequence[MedlineDocument], missing: Sequence[str], most: int) -> Documents:
    """The first documents that there is room for, the first of them shortened if need be."""
    first = [shorten_document(document, most - 200) for document in documents[:1]]
    result = Documents(documents=[*first, *documents[1:]], missing=[*missing], left_out=[])
    while len(result.documents) > 1 and length(result) > most:
        *kept, last = result.documents
        result = result.model_copy(update={"documents": kept, "left_out": [last.pmid, *result.left_out]})
    return result
