"""The web pages, rendered here and usable without JavaScript; htmx (vendored, 2.0.11) saves page loads."""

from fastapi import FastAPI

from bioqa.app.web import (
    articles,
    batches,
    evaluation,
    explaining,
    exports,
    help,
    problems,
    reference,
    search,
)
from bioqa.app.web.pages import StaticFolder

UPLOADS = ("/batches", "/evaluate")
"""Addresses to which forms send whole files."""


def install(app: FastAPI) -> None:
    """Add the pages and their static files; browsers get errors as pages too.

    Call it after the error handlers and all middleware that responds with problems are added.
    """
    for module in (search, articles, exports, batches, evaluation, explaining, help, reference):
        app.include_router(module.router)
    app.mount("/static", StaticFolder(), name="static")
    problems.install(app)
