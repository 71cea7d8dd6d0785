"""Answer a small BioASQ test set with a submission."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request, Response
from fastapi.responses import JSONResponse

from bioqa.app.answers.service import CurrentService, Service
from bioqa.app.api.connection import while_connected
from bioqa.app.api.search import check_length
from bioqa.app.http.errors import FieldError, document_problems
from bioqa.app.http.parsers import checked_route
from bioqa.app.http.schemas import Submission, TestSet, TestSetAddress
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Question
from bioqa.bioasq.files import submission_dict


def _most(settings: Settings) -> dict[str, tuple[int, str]]:
    most = settings.max_batch_questions
    return {
        "questions": (most, f"must be at most {most} here, not {{found}}; submit more at /v1/bioasq/batches")
    }


router = APIRouter(tags=["answers"], route_class=checked_route(TestSet, _most))

DEGRADED_HEADER = "Bioqa-Degraded-Answers"
"""Number of answers by BM25 alone, if any: the submission's format has no field for it."""

EXAMPLES: dict[str, Any] = {
    "a test set": {
        "value": {
            "questions": [
                {
                    "id": "5e2f3a0bd6ef6a2d4b000001",
                    "type": "list",
                    "body": "Which genes are mutated in cystic fibrosis?",
                },
                {
                    "id": "5e2f3a0bd6ef6a2d4b000002",
                    "type": "yesno",
                    "body": "Is metformin a first-line treatment of type 2 diabetes?",
                },
            ]
        }
    }
}


@router.post(
    "/v1/bioasq",
    response_model=Submission,
    response_model_exclude_none=True,
    responses=document_problems(400, 413, 415, 422, 429, 503),
)
async def answer_a_test_set(
    testset: Annotated[TestSet, Body(openapi_examples=EXAMPLES)],
    query: Annotated[TestSetAddress, Query()],
    service: CurrentService,
    request: Request,
) -> Response:
    """Answer the test set's questions in order, each with at most ten documents and ten snippets.

    Filters and other options for all questions are parameters of the address. Snippets that are much weaker
    than a question's best are left out, unless weak_snippets or BIOQA_WEAK_SNIPPETS is set.
    """
    questions = [entry.question() for entry in testset.questions]
    _check(questions, service)
    options = query.options(weak_snippets=service.settings.weak_snippets)
    answers = await while_connected(request, service.answer_all(questions, options))
    degraded = sum(answer.degraded is not None for answer in answers)
    return JSONResponse(
        submission_dict(answer.response() for answer in answers),
        headers={DEGRADED_HEADER: str(degraded)} if degraded else None,
    )


def _check(questions: list[Question], service: Service) -> None:
    most = service.settings.max_batch_questions
    if len(questions) > most:
        raise FieldError("questions", _most(service.settings)["questions"][1].format(found=len(questions)))
    seen: set[str] = set()
    for position, question in enumerate(questions):
        check_length(question.body, f"questions[{position}].body", service)
        if question.id in seen:
            raise FieldError(f"questions[{position}].id", "duplicate question id")
        seen.add(question.id)
