"""The page at /explain: why an article is, or is not, in an answer."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from bioqa.app.answers.answering import Answer
from bioqa.app.answers.explaining import SHOWN_FEATURES
from bioqa.app.answers.service import CurrentService, Service
from bioqa.app.api.connection import while_connected
from bioqa.app.api.search import check_length
from bioqa.app.http.errors import FieldError
from bioqa.app.http.explanations import ExplainedAnswer, Pmid, explained_answer
from bioqa.app.web.form import SearchForm
from bioqa.app.web.pages import page
from bioqa.bioasq.domain import Question

router = APIRouter(include_in_schema=False)


class ExplainForm(SearchForm):
    """A search, and the article in question."""

    pmid: Pmid


ExplainQuery = Annotated[ExplainForm, Query()]


@router.get("/explain", response_class=HTMLResponse)
async def explain(request: Request, asked: ExplainQuery, service: CurrentService) -> HTMLResponse:
    answer = await while_connected(request, _answer(asked, service))
    search = SearchForm.model_validate(asked.model_dump(exclude={"pmid"}))
    return page(
        request,
        "explain.html",
        answer=answer,
        explanation=answer.explanation,
        form=search,
        pmid=asked.pmid,
        hidden=search.model_dump(mode="json", exclude_defaults=True, exclude={"q"}),
        shown_features=SHOWN_FEATURES,
    )


@router.get("/explain.json")
async def explanation(request: Request, asked: ExplainQuery, service: CurrentService) -> ExplainedAnswer:
    return explained_answer(await while_connected(request, _answer(asked, service)))


async def _answer(asked: ExplainForm, service: Service) -> Answer:
    if asked.q is None:
        raise FieldError("q", "is missing")
    check_length(asked.q, "q", service)
    # By date, only the documents of the answer would be ranked.
    options = asked.options(asked.n, service.settings.candidates)
    options = replace(options, explained=asked.pmid, order="relevance", offset=0)
    return await service.explain(Question("", asked.q.strip()), options, ranker=asked.ranker)
