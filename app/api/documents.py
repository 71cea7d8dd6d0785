"""Look up citations in the index."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, HTTPException, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from starlette.concurrency import run_in_threadpool

from bioqa.app.answers.question import ReadPmid
from bioqa.app.answers.service import CurrentService, Service
from bioqa.app.http.errors import document_problems
from bioqa.app.http.parsers import CurrentParsers, checked_route
from bioqa.app.http.schemas import (
    SimilarDocuments,
    StoredDocument,
    StoredDocuments,
    similar_documents,
    stored_document,
)
from bioqa.bioasq.domain import Document
from bioqa.indexer.search.base import SearchIndex

MAX_PMIDS = 500
"""Some two megabytes of text."""

PMID_SCHEMA: dict[str, Any] = {"type": "string", "pattern": "^[1-9][0-9]{0,17}$"}
"""Other forms are taken, too."""

AddressPmid = Annotated[ReadPmid, WithJsonSchema(PMID_SCHEMA)]
OnePmid = Annotated[
    AddressPmid, Path(description="The PMID.", openapi_examples={"a PMID": {"value": "90000001"}})
]
BodyPmid = Annotated[
    ReadPmid,
    WithJsonSchema({"anyOf": [PMID_SCHEMA, {"type": "integer", "minimum": 1, "maximum": 10**18 - 1}]}),
]


class DocumentsRequest(BaseModel):
    """PMIDs of the citations to look up."""

    model_config = ConfigDict(extra="forbid")

    pmids: Annotated[list[BodyPmid], Field(min_length=1, max_length=MAX_PMIDS)]


TOO_MANY = {"pmids": (MAX_PMIDS, f"must have at most {MAX_PMIDS}, not {{found}}")}

router = APIRouter(tags=["documents"], route_class=checked_route(DocumentsRequest, lambda settings: TOO_MANY))

EXAMPLES: dict[str, Any] = {"two citations": {"value": {"pmids": ["90000001", "90000002"]}}}


MOST_SIMILAR = 50
FEW_SIMILAR = 5

FEW = 20
"""Documents that are looked up and written in this process."""


# Not async: lookups are quick but block, so they run in the framework's threads.
@router.get("/v1/documents/{pmid}", responses=document_problems(404, 422, 503))
def a_document(pmid: OnePmid, service: CurrentService) -> StoredDocument:
    """Return a citation as it is indexed, with its sentences and the parts of its abstract."""
    return stored_document(_find(pmid, service))


def _find(pmid: str, service: Service) -> Document:
    document = service.document(pmid)
    if document is None:
        raise HTTPException(404, f"there is no document {pmid} in the index")
    return document


@router.get("/v1/documents/{pmid}/similar", responses=document_problems(404, 422, 503))
def the_similar_documents(
    pmid: OnePmid,
    service: CurrentService,
    max_documents: Annotated[int, Query(ge=1, le=MOST_SIMILAR)] = FEW_SIMILAR,
) -> SimilarDocuments:
    """Return the articles that are most like one of the index, by words and by meaning."""
    return similar_documents(pmid, service.similar(_find(pmid, service), max_documents))


@router.post(
    "/v1/documents", response_model=StoredDocuments, responses=document_problems(400, 413, 415, 422, 429, 503)
)
async def many_documents(
    query: Annotated[DocumentsRequest, Body(openapi_examples=EXAMPLES)],
    service: CurrentService,
    parsers: CurrentParsers,
) -> Response:
    """Return citations as they are indexed, in the order of the request; unknown PMIDs are named."""
    pmids = list(dict.fromkeys(query.pmids))
    if len(pmids) <= FEW:
        content = await run_in_threadpool(
            service.engine.index.ask, lambda index: write_documents(index, pmids)
        )
    else:
        content = await parsers.look_up(write_documents, pmids)
    return Response(content, media_type="application/json")


def write_documents(index: SearchIndex, pmids: Sequence[str]) -> bytes:
    """Write documents as JSON; a function of this module, so that another process can call it."""
    documents = index.get(pmids)
    answer = StoredDocuments(
        documents=[stored_document(documents[pmid]) for pmid in pmids if pmid in documents],
        missing=[pmid for pmid in pmids if pmid not in documents],
    )
    return answer.model_dump_json().encode()
