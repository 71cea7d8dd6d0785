"""Rendering: templates, their common context, and static files."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from bioqa.app.answers.service import Service
from bioqa.app.exports.citing import author_list, nlm, source
from bioqa.app.exports.links import doi_link, pmc_link, pubmed_link
from bioqa.app.exports.standing import notice_text, shown_notices, word
from bioqa.app.reports.report import template_names
from bioqa.app.version import version
from bioqa.app.web.exports import FILES
from bioqa.app.web.form import FLAGS, LABELS, SHORT, SearchForm, values_of
from bioqa.app.web.kinds import kinds
from bioqa.indexer.search.filtering.languages import language_name

STATIC = Path(__file__).parent / "static"

SIZES = (5, 10, 20, 50)
"""Numbers of results that the form offers."""

COMMON_TYPES = (
    "Review", "Systematic Review", "Meta-Analysis", "Randomized Controlled Trial", "Clinical Trial",
    "Practice Guideline", "Case Reports", "Preprint",
)  # fmt: skip
"""Types that the form offers."""

MENU = (
    ("/", "Ask"),
    ("/batches", "Test sets"),
    ("/evaluate", "Evaluation"),
    ("/help", "Help"),
    ("/docs", "API"),
)

HTMX = {
    "allowEval": False,
    "historyCacheSize": 0,
    "includeIndicatorStyles": False,  # the content policy takes no style from a script
    "refreshOnHistoryMiss": True,
    "responseHandling": [{"code": "204", "swap": False}, {"code": "...", "swap": True}],
}
"""Error responses are shown too. Going back reloads the page, as its address describes it completely."""


def page(
    request: Request,
    template: str,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **context: Any,
) -> HTMLResponse:
    service: Service = request.app.state.service
    common = {
        "asked": values_of(SearchForm, request.query_params.multi_items()),
        "here": request.url.path,
        "rankers": [*service.rankers],
        "menu": getattr(request.app.state, "menu", MENU),
        "max_question": service.settings.max_question_characters,
        "root": (service.settings.root_path or "").rstrip("/"),
        "sizes": SIZES,
        "wrong": (),
    }
    content = _templates().get_template(template).render(common | context)
    return HTMLResponse(content, status, headers)


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=ChoiceLoader([PackageLoader("bioqa.app.web"), PackageLoader("bioqa.app.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"day": day, "duration": _duration, "language": language_name}
    templates.globals |= {
        "author_list": author_list,
        "doi_link": doi_link,
        "common_types": COMMON_TYPES,
        "ended": _end,
        "flags": FLAGS,
        "formats": FILES,
        "htmx_config": json.dumps(HTMX),
        "kinds": kinds,
        "labels": LABELS,
        "language_name": language_name,
        "language_names": language_names,
        "nlm": nlm,
        "notice_text": notice_text,
        "notices": shown_notices,
        "pmc_link": pmc_link,
        "pubmed_link": pubmed_link,
        "short": SHORT,
        "source": source,
        "standing": word,
        "static": static,
        "version": version(),
        **template_names(),
    }
    return templates


def language_names(codes: Sequence[str]) -> str:
    """The languages of an article that is not, or not only, in English; empty for one in English."""
    return ", ".join(language_name(code) for code in codes) if set(codes) - {"eng"} else ""


def _end(text: str) -> str:
    """With a full stop if it is an abbreviation's: "et al."."""
    return f"{text}." if text.endswith("et al") else text


def day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def _duration(seconds: float) -> str:
    """Remaining time, rounded to the precision of the estimate."""
    for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= 1.5 * size:
            return f"about {round(seconds / size)} {unit}s"
    return "about a minute" if seconds >= 45 else "less than a minute"


@cache
def static(name: str) -> str:
    """Return a static file's address, which changes with its content, so that it can be cached for ever."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?v={digest}"


class StaticFolder(StaticFiles):
    """The files under ``static``, cached for ever if the address has their hash."""

    def __init__(self) -> None:
        super().__init__(directory=STATIC)

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        if b"v=" in scope["query_string"] and response.status_code == 200:
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response
