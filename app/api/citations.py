"""Citations as files for reference managers, or as text to paste."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query, Response
from fastapi import Body as RequestBody
from pydantic import BaseModel, ConfigDict, Field

from bioqa.app.answers.service import CurrentService, Service
from bioqa.app.exports.formats import FORMATS, Format
from bioqa.app.http.errors import documented
from bioqa.app.http.parsers import checked_route

MOST = 1000
"""Citations of one request."""

MOST_NAMED = 50
"""Missing PMIDs that an error names."""

FormatName = Literal["ris", "bibtex", "nbib", "csl", "csv", "nlm", "vancouver", "apa"]
Pmid = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,17}$")]


class CitationsRequest(BaseModel):
    """Articles, and the format in which to cite them."""

    model_config = ConfigDict(extra="forbid")

    pmids: Annotated[list[Pmid], Field(min_length=1, max_length=MOST)] = Field(
        description="In the order in which they are cited; repeated ones are cited once."
    )
    format: FormatName


router = APIRouter(tags=["documents"], route_class=checked_route(CitationsRequest, lambda settings: {}))

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


# Not async: the lookup is quick but blocks.
@router.get("/v1/citations", responses=FILE | documented(404, 422, 503), response_class=Response)
def citations(
    pmid: Annotated[
        str,
        Query(
            pattern=r"^[1-9][0-9]{0,17}(,[1-9][0-9]{0,17}){0,99}$",
            description="PMIDs, separated by commas: at most 100, as addresses have a length.",
            openapi_examples={"PMIDs": {"value": "90000001,90000002"}},
        ),
    ],
    format: FormatName,
    service: CurrentService,
) -> Response:
    """Cite articles of the index: an address for links. Withdrawn articles say so in every format."""
    return cited(service, pmid.split(","), FORMATS[format])


@router.post(
    "/v1/citations", responses=FILE | documented(400, 404, 413, 415, 422, 503), response_class=Response
)
def many_citations(
    asked: Annotated[CitationsRequest, RequestBody(openapi_examples=EXAMPLES)], service: CurrentService
) -> Response:
    """Cite up to 1,000 articles of the index. Withdrawn articles say so in every format."""
    return cited(service, asked.pmids, FORMATS[asked.format])


def cited(service: Service, pmids: Sequence[str], format: Format) -> Response:
    """Return the citations as a file, in that order. Raises 404, naming the PMIDs that the index lacks."""
    unique = list(dict.fromkeys(pmids))
    found = service.documents(unique)
    if missing := [pmid for pmid in unique if pmid not in found]:
        more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        raise HTTPException(404, f"not in the index: {', '.join(missing[:MOST_NAMED])}{more}")
    name = f"pubmed-{unique[0]}" if len(unique) == 1 else f"pubmed-{len(unique)}-articles"
    return Response(
        format.write([found[pmid] for pmid in unique]),
        media_type=f"{format.media_type}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.{format.ending}"'},
    )
