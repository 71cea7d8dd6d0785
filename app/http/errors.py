"""Error responses: one format, problem+json (RFC 9457), built in one place.

A response never contains a traceback, a path of the server or a message of the search engine: those go to the
log.
"""

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from bioqa.app.answers.answering import IndexDamaged, IndexUnavailable
from bioqa.app.answers.question import OptionError, fault_message, field_name
from bioqa.app.answers.refusals import RETRY_AFTER_S, BatchesUnavailable, QueueFull, Refused
from bioqa.app.answers.service import UnknownRanker
from bioqa.app.answers.workers import TooMuchWork
from bioqa.indexer.medline.packed import DamagedMetadata
from bioqa.indexer.search.filtering.filters import FilterError
from bioqa.indexer.search.notation.syntax import SyntaxFault

MEDIA_TYPE = "application/problem+json"

MOST_PROBLEMS = 100
"""Errors of a request's fields that are listed."""

log = logging.getLogger("bioqa")


class FieldProblem(BaseModel):
    field: str = Field(description="Where in the request: body, max_documents, questions[3].body, …")
    message: str
    position: int | None = Field(
        default=None, description="Of an error in a query's syntax: the character, from 0."
    )


class Problem(BaseModel):
    """An error as RFC 9457 defines it, with the invalid fields."""

    type: str = "about:blank"
    title: str = Field(description="The status in words.")
    status: int
    detail: str
    errors: list[FieldProblem] | None = Field(default=None, description="The invalid fields, if any.")


class FieldError(Exception):
    """A field that is invalid given the service's state or settings, which its schema does not know."""

    def __init__(self, field: str, message: str) -> None:
        # Both as arguments, so that it can be carried from one process to another.
        super().__init__(field, message)
        self.problem = FieldProblem(field=field, message=message)

    def __str__(self) -> str:
        return f"{self.problem.field}: {self.problem.message}"


class BadBody(Exception):
    """A body that cannot be read; the text says why."""


def problem(
    status: int,
    detail: str,
    errors: Sequence[FieldProblem] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    content = Problem(
        title=HTTPStatus(status).phrase, status=status, detail=detail, errors=list(errors) if errors else None
    ).model_dump_json(exclude_none=True)
    return Response(content, status, headers, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Make ``app`` report every error in this format."""
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(FieldError, _field)
    app.add_exception_handler(UnknownRanker, _unknown_ranker)
    app.add_exception_handler(FilterError, _filter)
    app.add_exception_handler(OptionError, _option)
    app.add_exception_handler(SyntaxFault, _syntax)
    app.add_exception_handler(IndexUnavailable, _unavailable)
    app.add_exception_handler(IndexDamaged, _respond_damaged)
    app.add_exception_handler(DamagedMetadata, _respond_damaged)
    app.add_exception_handler(Refused, _respond_refused)
    app.add_exception_handler(TooMuchWork, _too_much)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(BadBody, _bad_body)
    app.add_exception_handler(BatchesUnavailable, _no_batches)
    app.add_exception_handler(Exception, respond_unexpected)


_DETAILS = {
    400: "the body cannot be read as JSON in UTF-8",
    404: "there is nothing at this address; GET /openapi.json lists what there is",
    405: "this address does not accept that method",
}


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = error.detail if error.detail != HTTPStatus(error.status_code).phrase else ""
    usual = _DETAILS.get(error.status_code, "")
    detail = usual if error.status_code == 400 or not said else said
    return problem(error.status_code, detail or HTTPStatus(error.status_code).phrase, headers=error.headers)


async def _validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = error.errors()
    if any(fault["type"] == "json_invalid" for fault in faults):
        position = faults[0]["loc"][-1]
        return problem(400, f"the body is not JSON: {faults[0]['ctx']['error']} at character {position}")
    if isinstance(error.body, bytes) and error.body:
        return problem(415, "the body must be JSON, with the header Content-Type: application/json")
    problems = [field_problem(fault) for fault in faults[:MOST_PROBLEMS]]
    detail = "; ".join(f"{p.field}: {p.message}" for p in problems[:3])
    more = f"; only the first {MOST_PROBLEMS} errors are listed" if len(faults) > MOST_PROBLEMS else ""
    return problem(422, detail + more, problems)


def field_problem(fault: Mapping[str, Any]) -> FieldProblem:
    """Reword an error of pydantic, whose ``loc`` begins with the part of the request."""
    # The first element is body, path or query; alone, it means the whole of that part.
    field = field_name(fault["loc"][1:]) or "the request's body"
    return FieldProblem(field=field, message=fault_message(fault))


async def _field(request: Request, error: Exception) -> Response:
    assert isinstance(error, FieldError)
    return problem(422, str(error), [error.problem])


async def _bad_body(request: Request, error: Exception) -> Response:
    return problem(400, str(error))


async def _no_batches(request: Request, error: Exception) -> Response:
    log.error("%s", error)
    return problem(503, "batches cannot be stored at the moment", headers={"Retry-After": str(RETRY_AFTER_S)})


async def _unavailable(request: Request, error: Exception) -> Response:
    log.warning("%s", error)
    return problem(
        503,
        "the search index is not available at the moment; see GET /readyz",
        headers={"Retry-After": str(RETRY_AFTER_S)},
    )


async def _respond_damaged(request: Request, error: Exception) -> Response:
    # Metadata is unpacked when it is looked at, which may be long after the index was asked.
    log.error("%s", error)
    return problem(503, "the search index is damaged and must be restored; see the service's log")


async def _respond_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    status = 429 if isinstance(error, QueueFull) else 503
    return problem(status, str(error), headers={"Retry-After": str(error.retry_after_s)})


async def _too_much(request: Request, error: Exception) -> Response:
    return problem(422, f"the request cannot be answered: {error}; send less at once")


async def _unknown_ranker(request: Request, error: Exception) -> Response:
    return await _field(request, FieldError("ranker", str(error)))


async def _filter(request: Request, error: Exception) -> Response:
    assert isinstance(error, FilterError)
    return await _field(request, FieldError(error.field, error.message))


async def _option(request: Request, error: Exception) -> Response:
    assert isinstance(error, OptionError)
    problems = [FieldProblem(field=field, message=message) for field, message in error.faults]
    return problem(422, str(error), problems)


async def _syntax(request: Request, error: Exception) -> Response:
    assert isinstance(error, SyntaxFault)
    fault = FieldProblem(field="body", message=error.message, position=error.position)
    return problem(422, f"body: {error}", [fault])


async def _gone(request: Request, error: Exception) -> Response:
    # Only for the log, as the client has disconnected; nginx's "client closed request".
    return Response(status_code=499)


async def respond_unexpected(request: Request, error: Exception) -> Response:
    # The server logs the traceback itself.
    return problem(500, "an unexpected error; see the service's log")


def document_problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe in OpenAPI the problems that an operation can respond with."""
    reference = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: reference}}
        for status in statuses
    }
