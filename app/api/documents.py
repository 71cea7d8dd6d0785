"""Look up a citation in the index."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path

from bioqa.app.answers.service import CurrentService
from bioqa.app.http.errors import documented
from bioqa.app.http.schemas import StoredDocument, stored_document

router = APIRouter(tags=["documents"])

Pmid = Annotated[
    str,
    Path(
        pattern=r"^[1-9][0-9]{0,17}$",
        description="The PMID.",
        openapi_examples={"a PMID": {"value": "90000001"}},
    ),
]


# Not async: the lookup is quick but blocks, so it runs in one of the framework's threads.
@router.get("/v1/documents/{pmid}", responses=documented(404, 422, 503))
def a_document(pmid: Pmid, service: CurrentService) -> StoredDocument:
    """Return a citation as it is indexed, with its sentences and the parts of its abstract."""
    document = service.document(pmid)
    if document is None:
        raise HTTPException(404, f"there is no document {pmid} in the index")
    return stored_document(document)
