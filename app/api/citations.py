"""Citations as files for reference managers, or as text to paste."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi import Body as RequestBody
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from bioqa.app.answers.question import split_pmids
from bioqa.app.answers.service import Service
from bioqa.app.api.documents import AddressPmid, BodyPmid
from bioqa.app.exports.formats import FORMATS
from bioqa.app.http.errors import document_problems
from bioqa.app.http.parsers import Parsers, checked_route
from bioqa.indexer.search.base import SearchIndex

MOST = 1000
"""Citations of one request."""

MOST_IN_ADDRESS = 100

FEW = 20
"""Citations that are written in this process."""

MOST_NAMED = 50
"""Missing PMIDs that an error names."""

FormatName = Literal["ris", "bibtex", "nbib", "csl", "csv", "nlm", "vancouver", "apa"]


class CitationsRequest(BaseModel):
    """Articles, and the format in which to cite them."""

    model_config = ConfigDict(extra="forbid")

    pmids: Annotated[list[BodyPmid], Field(min_length=1, max_length=MOST)] = Field(
        description="In the order in which they are cited; repeated ones are cited once."
    )
    format: FormatName


TOO_MANY = {"pmids": (MOST, f"must have at most {MOST}, not {{found}}")}

router = APIRouter(tags=["documents"], route_class=checked_route(CitationsRequest, lambda settings: TOO_MANY))

EXAMPLES: dict[str, Any] = {
    "for a reference manager": {"value": {"pmids": ["90000001", "90000002"], "format": "ris"}},
    "to paste": {"value": {"pmids": ["90000001"], "format": "vancouver"}},
}
FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The citations: a file of that format, or text with one citation a line.",
        "content": {format.media_type: {"schema": {"type": "string"}} for format in FORMATS.values()},
    }
}


@router.get("/v1/citations", responses=FILE | document_problems(404, 422, 429, 503), response_class=Response)
async def citations(
    request: Request,
    pmid: Annotated[
        list[AddressPmid],
        BeforeValidator(split_pmids),
        Query(
            min_length=1,
            max_length=MOST_IN_ADDRESS,
            description="PMIDs, repeated or separated by commas: at most 100, as addresses have a length.",
            openapi_examples={"PMIDs": {"value": ["90000001", "90000002"]}},
        ),
    ],
    format: FormatName,
) -> Response:
    """Cite articles of the index: an address for links. Withdrawn articles say so in every format."""
    return await respond_with_citations(request, pmid, format)


@router.post(
    "/v1/citations",
    responses=FILE | document_problems(400, 404, 413, 415, 422, 429, 503),
    response_class=Response,
)
async def many_citations(
    request: Request, query: Annotated[CitationsRequest, RequestBody(openapi_examples=EXAMPLES)]
) -> Response:
    """Cite up to 1,000 articles of the index. Withdrawn articles say so in every format."""
    return await respond_with_citations(request, query.pmids, query.format)


async def respond_with_citations(request: Request, pmids: Sequence[str], format: str) -> Response:
    """Return the citations as a file, in that order. Raises 404, naming the PMIDs that the index lacks."""
    unique = list(dict.fromkeys(pmids))
    if len(unique) <= FEW:
        service: Service = request.app.state.service
        content = await run_in_threadpool(
            service.engine.index.ask, lambda index: write_citations(index, format, unique)
        )
    else:
        # A thousand citations in a style take two seconds, in which nothing else would be answered.
        parsers: Parsers = request.app.state.parsers
        content = await parsers.look_up(write_citations, format, unique)
    if not isinstance(content, bytes):
        more = f" and {len(content) - MOST_NAMED} more" if len(content) > MOST_NAMED else ""
        raise HTTPException(404, f"not in the index: {', '.join(content[:MOST_NAMED])}{more}")
    name = f"pubmed-{unique[0]}" if len(unique) == 1 else f"pubmed-{len(unique)}-articles"
    return Response(
        content,
        media_type=f"{FORMATS[format].media_type}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.{FORMATS[format].ending}"'},
    )


def write_citations(index: SearchIndex, format: str, pmids: Sequence[str]) -> bytes | list[str]:
    """Write citations, or name the PMIDs that the index lacks; a function of this module, so that another
    process can call it.
    """
    documents = index.get(pmids)
    if missing := [pmid for pmid in pmids if pmid not in documents]:
        return missing
    return FORMATS[format].write([documents[pmid] for pmid in pmids]).encode()
