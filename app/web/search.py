"""The page at /: a question and its answer."""

import hashlib
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from bioqa.app.answers.answering import Answer, SearchOptions
from bioqa.app.answers.service import CurrentService, Service
from bioqa.app.api.connection import while_connected
from bioqa.app.api.search import check_length
from bioqa.app.http.errors import FieldError
from bioqa.app.http.schemas import Day
from bioqa.app.web.pages import page
from bioqa.app.web.passages import articles
from bioqa.bioasq.domain import MAX_ITEMS, Question
from bioqa.bioasq.files import submission_dict
from bioqa.indexer.search.filters import Filters

router = APIRouter(include_in_schema=False)

EXAMPLES = (
    "How does metformin lower blood glucose?",
    "Which genes influence the dose of warfarin?",
    "Is celiac disease associated with HLA-DQ2?",
    "Why are BRCA-deficient tumours sensitive to PARP inhibitors?",
)


def _absent(value: object) -> object:
    """Forms also send empty fields."""
    return None if value == "" else value


def _asked(value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise ValueError("is empty: please type one")
    return value


class SearchForm(BaseModel):
    """The form's fields, as the address has them."""

    q: Annotated[str | None, AfterValidator(_asked)] = None
    before: Annotated[Day | None, BeforeValidator(_absent)] = None
    ranker: Annotated[str | None, BeforeValidator(_absent)] = None
    n: Annotated[int, Field(ge=1, le=100)] = MAX_ITEMS

    def address(self) -> str:
        """Return the query that reproduces this answer, without empty fields."""
        return urlencode(self.model_dump(mode="json", exclude_defaults=True))


SearchFormQuery = Annotated[SearchForm, Query()]


@router.get("/", response_class=HTMLResponse)
async def search(request: Request, asked: SearchFormQuery, service: CurrentService) -> HTMLResponse:
    if asked.q is None:
        return page(request, "start.html", examples=EXAMPLES)
    answer = await while_connected(request, _answer(asked.q, asked, service, asked.n))
    return page(request, "answer.html", answer=answer, articles=articles(answer), address=asked.address())


@router.get("/answer.json")
async def answer_as_bioasq(request: Request, asked: SearchFormQuery, service: CurrentService) -> JSONResponse:
    """Return the answer as a BioASQ submission of one question, with at most ten documents and snippets."""
    if asked.q is None:
        raise FieldError("q", "is missing")
    answer = await while_connected(request, _answer(asked.q, asked, service, min(asked.n, MAX_ITEMS)))
    return JSONResponse(submission_dict([answer.response()]))


async def _answer(body: str, asked: SearchForm, service: Service, size: int) -> Answer:
    check_length(body, "q", service)
    # An id like BioASQ's, 24 hexadecimal digits; the same question always gets the same one.
    identifier = hashlib.sha256(body.strip().encode()).hexdigest()[:24]
    options = SearchOptions(size, size, service.settings.candidates, Filters(published_before=asked.before))
    return await service.answer(Question(identifier, body.strip()), options, ranker=asked.ranker)
