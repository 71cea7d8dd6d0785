"""The pages: rendered here, usable without JavaScript; htmx (vendored, 2.0.11) only saves page loads."""

from fastapi import FastAPI

from bioqa.app.web import batches, evaluation, exports, problems, search
from bioqa.app.web.pages import StaticFolder

UPLOADS = ("/batches", "/evaluate")
"""Where the pages' forms send whole files to."""


def install(app: FastAPI) -> None:
    """Add the pages and their files; to a browser, errors become pages too.

    To be called after the error handlers and the middleware that answers with problems are in place.
    """
    for module in (search, exports, batches, evaluation):
        app.include_router(module.router)
    app.mount("/static", StaticFolder(), name="static")
    problems.install(app)
