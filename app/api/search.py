"""Answer one question."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.service import CurrentService, Service
from bioqa.app.api.connection import while_connected
from bioqa.app.http.errors import FieldError, document_problems
from bioqa.app.http.parsers import checked_route
from bioqa.app.http.schemas import ExplainRequest, SearchAddress, SearchAnswer, SearchRequest, search_answer

router = APIRouter(tags=["answers"], route_class=checked_route(SearchRequest, lambda settings: {}))

EXAMPLES: dict[str, Any] = {
    "a question": {"value": {"body": "Is metformin a first-line treatment of type 2 diabetes?"}},
    "a question of a BioASQ test set": {
        "value": {
            "id": "5e2f3a0bd6ef6a2d4b000001",
            "type": "list",
            "body": "Which genes are mutated in cystic fibrosis?",
            "max_documents": 5,
            "published_before": "2020-01-01",
            "include": ["abstract"],
        }
    },
    "with filters, and counts to filter further": {
        "value": {
            "body": "How does metformin lower blood glucose?",
            "published_after": "2000-01-01",
            "types": ["Review", "Randomized Controlled Trial"],
            "exclude_retracted": True,
            "facets": True,
        }
    },
    "in PubMed's notation": {"value": {"body": "metformin AND glucose[ti] NOT review[pt]"}},
}


@router.post("/v1/search", responses=document_problems(400, 413, 415, 422, 429, 503))
async def answer_a_question(
    query: Annotated[SearchRequest, Body(openapi_examples=EXAMPLES)],
    service: CurrentService,
    request: Request,
) -> SearchAnswer:
    """Return the best documents and sentences for a question, and how they were found."""
    return await _answer(query, service, request)


@router.get("/v1/search", responses=document_problems(422, 429, 503))
async def answer_an_address(
    query: Annotated[SearchAddress, Query()], service: CurrentService, request: Request
) -> SearchAnswer:
    """The same by GET: an address that can be shared. Lists are repeated parameters: types=Review&types=…"""
    return await _answer(query, service, request)


async def _answer(query: SearchRequest, service: Service, request: Request) -> SearchAnswer:
    return search_answer(await answer_request(query, service, request), query.id, query.include)


async def answer_request(query: SearchRequest | ExplainRequest, service: Service, request: Request) -> Answer:
    check_length(query.body, "body", service)
    timeout_s = None if query.timeout_ms is None else query.timeout_ms / 1000
    return await while_connected(
        request, service.answer(query.question(), query, ranker=query.ranker, timeout_s=timeout_s)
    )


def check_length(body: str, field: str, service: Service) -> None:
    most = service.settings.max_question_characters
    if len(body) > most:
        raise FieldError(field, f"must have at most {most} characters, not {len(body)}")
