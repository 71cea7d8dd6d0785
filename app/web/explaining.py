"""The page at /explain: why an article is, or is not, in an answer."""

from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.explaining import SHOWN_FEATURES
from bioqa.app.answers.service import CurrentService, Service
from bioqa.app.api.connection import while_connected
from bioqa.app.api.search import check_length
from bioqa.app.http.errors import FieldError
from bioqa.app.http.explanations import ExplainedAnswer, explained_answer
from bioqa.app.web.form import ExplainForm, ExplainFormQuery
from bioqa.app.web.pages import page
from bioqa.bioasq.domain import Question

router = APIRouter(include_in_schema=False)


@router.get("/explain", response_class=HTMLResponse)
async def explain(request: Request, query: ExplainFormQuery, service: CurrentService) -> HTMLResponse:
    answer = await while_connected(request, _answer(query, service))
    return page(
        request,
        "explain.html",
        answer=answer,
        explanation=answer.explanation,
        form=query,
        pmid=query.pmid,
        hidden=parse_qsl(query.address(q=None)),
        shown_features=SHOWN_FEATURES,
    )


@router.get("/explain.json")
async def explanation(request: Request, query: ExplainFormQuery, service: CurrentService) -> ExplainedAnswer:
    return explained_answer(await while_connected(request, _answer(query, service)))


async def _answer(query: ExplainForm, service: Service) -> Answer:
    if query.q is None:
        raise FieldError("q", "is missing")
    check_length(query.q, "q", service)
    return await service.answer(Question("", query.q.strip()), query, ranker=query.ranker)
