"""The MCP server: MEDLINE for language-model assistants, so that they can cite sentences with offsets.

Tools with structured results, as the Model Context Protocol defines them. Errors of a call are returned as
the tool's errors, for the model to read and correct.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import ToolAnnotations
from pydantic import BeforeValidator, Field
from starlette.types import ASGIApp

from bioqa.app.answers.answering import IndexUnavailable
from bioqa.app.answers.question import DAY_SCHEMA, OptionError, Options, read
from bioqa.app.api.documents import PMID
from bioqa.app.http.limits import TOGETHER, BodiesInFlight, BodyLimit
from bioqa.app.http.schemas import SearchRequest
from bioqa.app.mcp.backends import Backend
from bioqa.app.mcp.hosts import guard
from bioqa.app.mcp.results import Documents, MedlineDocument, SearchResult, medline_document, search_result
from bioqa.app.security.authentication import RequireKey
from bioqa.app.security.keyfile import KeyRing
from bioqa.app.security.rates import Rate, RateLimit
from bioqa.app.settings import Settings
from bioqa.app.version import version
from bioqa.system.errors import BioqaError
from bioqa.system.secret import scrub

INSTRUCTIONS = (
    "Searches an index of MEDLINE citations (titles and abstracts) and returns sentences to cite. Ask "
    "`search` one self-contained biomedical question in plain English; it returns the best articles and the "
    "best sentences in them. Cite a sentence by its PMID and, where exactness matters, section and offsets. "
    "Read a whole abstract with `get_document` before relying on more of it than the sentences returned. "
    "An article or sentence with a `warning` is retracted, doubted or corrected: tell the user so whenever "
    "you mention it, and never present a retracted finding as evidence. "
    "Where `answers_question` is unlikely, report that nothing was found. "
    "Articles outside the index are not found: an empty result says nothing about what is known."
)
MOST_DOCUMENTS = 50
"""Limit of one call of get_documents."""

log = logging.getLogger("bioqa")

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _pmid(value: object) -> object:
    # Models also send numbers, and PMIDs with the prefix used in text.
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.removeprefix("PMID:").strip() if isinstance(value, str) else value


QUESTION = {
    "type": "string",
    "minLength": 1,
    "description": "One question in plain English. PubMed's notation (field tags, AND, OR, NOT) is "
    "understood, too, but finds less; a PMID, DOI or PMCID gives that article.",
}


Pmid = Annotated[
    str,
    BeforeValidator(_pmid),
    Field(pattern=PMID, description="The article's PubMed number, digits only."),
]


def create_server(backend: Backend) -> MCPServer[Any]:
    """Create the server with its tools, without running it."""
    server: MCPServer[Any] = MCPServer(
        "bioqa", title="MEDLINE", instructions=INSTRUCTIONS, version=version(), log_level="WARNING"
    )
    tools = _Tools(backend)
    reading = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    for tool, title in (
        (tools.search, "Search MEDLINE"),
        (tools.get_document, "Read an article"),
        (tools.get_documents, "Read articles"),
    ):
        server.add_tool(_reporting_errors(tool), title=title, annotations=reading)
    search = server._tool_manager.get_tool("search")
    assert search
    search.parameters = search_schema()
    return server


def search_schema() -> dict[str, Any]:
    """The arguments of ``search``: a question and the options of every face.

    null is taken for an option's default, but not offered: some clients refuse schemas with alternatives.
    """
    properties = {"question": QUESTION}
    for name, schema in SearchRequest.model_json_schema()["properties"].items():
        if name in (*Options.model_fields, "ranker"):
            kinds = [kind for kind in schema.pop("anyOf", ()) if kind != {"type": "null"}]
            kind = kinds[0] if kinds else {}
            schema = {**schema, **({"type": "string"} if kind in DAY_SCHEMA["anyOf"] else kind)}
            properties[name] = {
                key: value for key, value in schema.items() if key not in ("title", "default")
            }
    return {"type": "object", "properties": properties, "required": ["question"]}


def http_app(server: MCPServer[Any], settings: Settings, allowed_hosts: Collection[str]) -> ASGIApp:
    """Create the application that serves streamable HTTP at ``/mcp`` to those who know it by such a name.

    It has the service's limits, and its keys if there are any. Raises BioqaError for a wrong file of keys.
    """
    # The package's own check of names knows no addresses and does not say what to do. The tools keep no
    # state, so there are no sessions, which anybody could open until there is no place for others. Nothing is
    # streamed: a response is one JSON text, which cannot end before it has begun.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app: ASGIApp = server.streamable_http_app(
        stateless_http=True, json_response=True, transport_security=unchecked
    )
    most = settings.max_body_bytes
    app = BodyLimit(app, most, {}, BodiesInFlight(TOGETHER * most, TOGETHER // 2 * most))
    if settings.rate_per_minute or settings.api_keys_file:
        rate = Rate(settings.rate_per_minute, settings.rate_burst) if settings.rate_per_minute else None
        app = RateLimit(app, default=rate, is_open=lambda path: False)
    if settings.api_keys_file:
        app = RequireKey(app, KeyRing(settings.api_keys_file), is_open=lambda path: False)
    return guard(app, allowed_hosts)


def _reporting_errors(
    tool: Callable[Arguments, Awaitable[Result]],
) -> Callable[Arguments, Coroutine[Any, Any, Result]]:
    """Wrap a tool so that errors that the user can act on reach the model."""

    @wraps(tool)
    async def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return await tool(*args, **kwargs)
        except IndexUnavailable as error:
            # It may name folders and repeat the engine's words, which are for the log.
            log.warning("%s", error)
            unavailable = "the search index is not available at the moment; the server's log says why"
            raise ToolError(unavailable) from error
        except BioqaError as error:
            raise ToolError(scrub(str(error))) from error

    return call


def taking_options(
    tool: Callable[..., Coroutine[Any, Any, Result]],
) -> Callable[..., Coroutine[Any, Any, Result]]:
    """Let a tool's signature show the options that it takes. They are checked in the tool, in our words."""
    signature = inspect.signature(tool)
    own = [given for given in signature.parameters.values() if given.name not in ("self", "options")]
    further = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
        for name in (*Options.model_fields, "ranker")
    ]
    tool.__signature__ = signature.replace(parameters=[*own, *further])  # type: ignore[attr-defined]
    return tool


class _Tools:
    """The docstrings are the descriptions that models read."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @taking_options
    async def search(self, question: str, **options: Any) -> SearchResult:
        """Find the MEDLINE articles, and the sentences in their titles and abstracts, that answer a
        biomedical question, best first. Every sentence has its PMID, URL, section and offsets to cite.
        Filters leave articles out and do not change the order of the others."""
        try:
            # Models send "" for what they do not set, too.
            given = {name: value for name, value in options.items() if value != ""}
            request = read(SearchRequest, {"body": question, **given})
        except OptionError as error:
            named = [("question" if name == "body" else name, message) for name, message in error.faults]
            raise OptionError(named) from None
        return search_result(await self._backend.search(request))

    async def get_document(self, pmid: Pmid) -> MedlineDocument:
        """Read one article of the index by its PMID: title, abstract and its parts, date, and every sentence
        with its offsets."""
        document = await self._backend.document(pmid)
        if document is None:
            raise BioqaError(f"pmid: there is no document {pmid} in the index")
        return medline_document(document)

    async def get_documents(
        self, pmids: Annotated[list[Pmid], Field(min_length=1, max_length=MOST_DOCUMENTS)]
    ) -> Documents:
        """Read several articles by their PMIDs, each as get_document gives it; those not in the index are
        listed as missing."""
        unique = list(dict.fromkeys(pmids))
        stored = [await self._backend.document(pmid) for pmid in unique]
        return Documents(
            documents=[medline_document(document) for document in stored if document is not None],
            missing=[pmid for pmid, document in zip(unique, stored, strict=True) if document is None],
        )
