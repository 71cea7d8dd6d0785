"""Errors as pages: browsers get the same problems as programs, rendered as HTML."""

from fastapi import FastAPI, Request, Response
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bioqa.app.answers.service import Service
from bioqa.app.http.errors import MEDIA_TYPE, Problem, respond_unexpected
from bioqa.app.web.form import SHORT
from bioqa.app.web.pages import page

HEADLINES = {
    401: "A key is needed",
    403: "This is not allowed",
    404: "There is nothing here",
    409: "Not now",
    413: "Too large",
    421: "This service is not known by that name",
    422: "This cannot be taken as it is",
    429: "Too many requests at the moment",
    500: "Something went wrong",
    503: "No answer at the moment",
}

NAMES = {
    "q": "The question",
    "after": "The first date",
    "before": "The date",
    "type": "The type",
    "language": "The filter of languages:",
    "heading": "The MeSH heading",
    "journal": "The journal",
    "author": "The author",
    "exclude_retracted": "The choice without retracted articles",
    "max_documents": "The number of results",
    "candidates": "The number of candidates",
    "order": "The order",
    "offset": "The offset",
    "ranker": "The ranker",
    "file": "The test set",
    "testset": "The test set",
    "submission": "The submission",
    "golden": "The golden file",
    "editions": "The edition",
    "batch": "The test set",
    "judge": "The judge's name",
    "item": "The judgment",
}
"""The labels of the forms' fields."""

FORMS = ("/batches", "/evaluate")
"""Addresses to go back to after an error."""


def install(app: FastAPI) -> None:
    """Show problems from handlers and from middleware added before as pages."""
    app.add_middleware(ProblemPages)


def wants_page(scope: Scope) -> bool:
    """Return whether a client wants HTML: browsers accept it by name, htmx identifies itself."""
    headers = Headers(scope=scope)
    browser = "text/html" in headers.get("accept", "") or "hx-request" in headers
    return browser and not scope["path"].startswith("/v1/")


def problem_page(request: Request, body: bytes, retry_after: str | None = None) -> Response:
    """Render the problem in ``body``, on the page with the search form if it was sent from there."""
    problem = Problem.model_validate_json(body)
    errors = problem.errors or []
    names = ["q" if error.field == "body" else SHORT.get(error.field, error.field) for error in errors]
    # Who was not let in is shown nothing of the service, not even the form with its rankers.
    searched = request.url.path in ("/", "/answer.json") and _let_in(request, problem.status)
    return page(
        request,
        "search_problem.html" if searched else "problem.html",
        problem.status,
        problem=problem,
        headline=HEADLINES.get(problem.status, problem.title),
        faults=[(NAMES.get(name, name), error.message) for name, error in zip(names, errors, strict=True)],
        wrong=names,
        retry_after=retry_after,
        back=next((form for form in FORMS if request.url.path.startswith(form)), "/"),
    )


def _let_in(request: Request, status: int) -> bool:
    service: Service = request.app.state.service
    has_key = service.settings.api_keys_file is None or hasattr(request.state, "key")
    return has_key and status != 421


class ProblemPages:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not wants_page(scope):
            return await self.app(scope, receive, send)
        request = Request(scope)
        presenting = _Presenting(request, send)
        try:
            await self.app(scope, receive, presenting)
        except Exception as error:
            # Starlette answers unexpected errors outside of all middleware, too late for a page.
            if not presenting.begun:
                response = await respond_unexpected(request, error)
                await response(scope, receive, presenting)
            raise
        return None


class _Presenting:
    """Forwards responses; holds back a problem until it is complete, and sends it as a page."""

    def __init__(self, request: Request, send: Send) -> None:
        self.request = request
        self.send = send
        self.begun = False
        self._held: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        self.begun = True
        if message["type"] == "http.response.start":
            if Headers(raw=message["headers"]).get("content-type") == MEDIA_TYPE:
                self._held = message
                return
        elif self._held is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._send_page(self._held)
            return
        await self.send(message)

    async def _send_page(self, start: Message) -> None:
        shown = problem_page(self.request, self._body, Headers(raw=start["headers"]).get("retry-after"))
        own = {name for name, _ in shown.raw_headers}
        others = [(name, value) for name, value in start["headers"] if name.lower() not in own]
        await self.send({**start, "headers": [*others, *shown.raw_headers]})
        await self.send({"type": "http.response.body", "body": shown.body})
