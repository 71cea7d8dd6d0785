"""The page at /: a question and its answer."""

import hashlib
from collections import defaultdict

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.remarks import remarks
from bioqa.app.answers.service import CurrentService, Service
from bioqa.app.api.connection import while_connected
from bioqa.app.api.search import check_length
from bioqa.app.http.errors import FieldError
from bioqa.app.web.form import SearchForm, SearchFormQuery
from bioqa.app.web.pages import page
from bioqa.app.web.passages import articles
from bioqa.app.web.years import bars
from bioqa.bioasq.domain import MOST_DOCUMENTS, MOST_SNIPPETS, Question
from bioqa.bioasq.files import submission_dict

router = APIRouter(include_in_schema=False)

EXAMPLES = (
    "How does metformin lower blood glucose?",
    "Which genes influence the dose of warfarin?",
    "Is celiac disease associated with HLA-DQ2?",
    "Why are BRCA-deficient tumours sensitive to PARP inhibitors?",
)


@router.get("/", response_class=HTMLResponse)
async def search(request: Request, form: SearchFormQuery, service: CurrentService) -> Response:
    if form.q is None:
        return page(request, "start.html", examples=EXAMPLES)
    answer = await while_connected(request, _answer(form, service))
    if (pmid := _named_article(answer)) is not None:
        return _redirection(request, f"/article/{pmid}")
    return page(
        request,
        "answer.html",
        answer=answer,
        remarks=defaultdict(str, {remark.kind: remark.text for remark in remarks(answer)}),
        articles=articles(answer, form.offset + 1),
        form=form,
        bars=bars(answer.facets.years) if answer.facets else [],
    )


@router.get("/counts", response_class=HTMLResponse)
async def counts(request: Request, form: SearchFormQuery, service: CurrentService) -> Response:
    """Return the part of the page that counts by year and type, which it fetches when the answer is shown."""
    # One candidate: nothing is ranked.
    alone = form.with_changes(max_documents=1, max_snippets=0, candidates=1, facets=True, offset=0)
    answer = await while_connected(request, _answer(alone, service))
    return page(
        request,
        "_counts.html",
        answer=answer,
        form=form,
        bars=bars(answer.facets.years) if answer.facets else [],
    )


@router.get("/answer.json")
async def answer_as_bioasq(request: Request, form: SearchFormQuery, service: CurrentService) -> JSONResponse:
    """Return the answer as a BioASQ submission of one question, with at most ten documents and snippets."""
    fitting = form.with_changes(
        max_documents=min(form.max_documents, MOST_DOCUMENTS),
        max_snippets=min(form.max_snippets, MOST_SNIPPETS),
    )
    answer = await while_connected(request, _answer(fitting, service))
    return JSONResponse(submission_dict([answer.response()]))


async def _answer(form: SearchForm, service: Service) -> Answer:
    if form.q is None:
        raise FieldError("q", "is missing")
    check_length(form.q, "q", service)
    body = form.q.strip()
    # An id like BioASQ's, 24 hexadecimal digits; the same question always gets the same one.
    identifier = hashlib.sha256(body.encode()).hexdigest()[:24]
    return await service.answer(Question(identifier, body), form, ranker=form.ranker)


def _named_article(answer: Answer) -> str | None:
    """The PMID of the article that was named by an identifier, if it is in the index."""
    if answer.notation is None or not answer.notation.identifiers or len(answer.documents) != 1:
        return None
    return answer.documents[0].pmid


def _redirection(request: Request, path: str) -> Response:
    if "hx-request" not in request.headers:
        return RedirectResponse(path, 303)
    # htmx would put the other page into this one; it adds no prefix of its own.
    root = (request.app.state.service.settings.root_path or "").rstrip("/")
    return Response(headers={"HX-Redirect": f"{root}{path}"})
