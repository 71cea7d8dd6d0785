"""Explain why an article is, or is not, in an answer, as ``bioqa explain`` does."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request

from bioqa.app.answers.service import CurrentService
from bioqa.app.api.search import answer_request
from bioqa.app.http.errors import document_problems
from bioqa.app.http.explanations import ExplainedAnswer, explained_answer
from bioqa.app.http.parsers import checked_route
from bioqa.app.http.schemas import ExplainRequest

router = APIRouter(tags=["answers"], route_class=checked_route(ExplainRequest, lambda settings: {}))

EXAMPLES: dict[str, Any] = {
    "an article": {
        "value": {"body": "Is metformin a first-line treatment of type 2 diabetes?", "pmid": "90000001"}
    }
}


@router.post("/v1/explain", responses=document_problems(400, 413, 415, 422, 429, 503))
async def explain_an_article(
    query: Annotated[ExplainRequest, Body(openapi_examples=EXAMPLES)],
    service: CurrentService,
    request: Request,
) -> ExplainedAnswer:
    """Tell where an article stood at each stage of an answer, what carried it, and what it lacked."""
    return explained_answer(await answer_request(query, service, request))
