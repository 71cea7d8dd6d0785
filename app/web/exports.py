"""Citations as files for reference managers."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request, Response

from bioqa.app.api.citations import respond_with_citations
from bioqa.app.exports.formats import FORMATS
from bioqa.app.http.errors import FieldError
from bioqa.indexer.search.records import PMID

router = APIRouter(include_in_schema=False)

MOST = 100

NAMES = {format.ending: name for name, format in FORMATS.items() if format.ending != "txt"}
"""Names of formats by file name extension."""

FILES = {ending: FORMATS[name] for ending, name in NAMES.items()}

Pmids = Annotated[str, Query(max_length=2000)]


@router.get("/citations")
async def chosen_citations(
    request: Request,
    all: Pmids,
    format: Annotated[str, Query(max_length=20)],
    pmid: Annotated[tuple[str, ...], Query(max_length=MOST)] = (),
) -> Response:
    """Return the articles of a page that were chosen, or all, as a file: what the page's form asks for."""
    return await citations(request, format, ",".join(pmid) or all)


@router.get("/citations.{ending}")
async def citations(request: Request, ending: str, pmid: Pmids) -> Response:
    """Return the citations with these comma-separated PMIDs, in that order, as a file."""
    if ending not in FILES:
        raise HTTPException(404, f"citations are available as {', '.join(FILES)}, not as {ending[:20]}")
    pmids = pmid.split(",")
    if len(set(pmids)) > MOST or not all(PMID.fullmatch(pmid) for pmid in pmids):
        raise FieldError("pmid", f"must be comma-separated PMIDs, at most {MOST}")
    return await respond_with_citations(request, pmids, NAMES[ending])
