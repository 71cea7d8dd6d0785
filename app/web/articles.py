"""The page of an article at /article/PMID: all that its record says, and articles like it."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Request
from fastapi.responses import HTMLResponse

from bioqa.app.answers.service import CurrentService
from bioqa.app.exports.citing import nlm
from bioqa.app.exports.styles import apa, vancouver
from bioqa.app.web.pages import page
from bioqa.app.web.passages import whole
from bioqa.indexer.search.records import PMID

router = APIRouter(include_in_schema=False)

SIMILAR = 5

FIRST_AUTHORS = 25
"""Authors that are shown before the list is unfolded; some articles have thousands."""


# Not async: the lookups are quick but block.
@router.get("/article/{pmid}", response_class=HTMLResponse)
def article(
    request: Request, pmid: Annotated[str, Path(max_length=100)], service: CurrentService
) -> HTMLResponse:
    document = service.document(pmid) if PMID.fullmatch(pmid) else None
    if document is None:
        raise HTTPException(404, f"there is no article {pmid!r} in this index")
    cited = {"NLM": nlm(document), "Vancouver": vancouver(document), "APA": apa(document)}
    return page(
        request,
        "article.html",
        article=whole(document),
        cited=cited,
        similar=[other.document for other in service.similar(document, SIMILAR).articles],
        first_authors=FIRST_AUTHORS,
    )
