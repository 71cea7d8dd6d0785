"""The MCP server: MEDLINE for language-model assistants, so that they can cite sentences with offsets.

Tools with structured results, as the Model Context Protocol defines them. Errors of a call are returned as
the tool's errors, for the model to read and correct.
"""

import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import ToolAnnotations
from starlette.types import ASGIApp

from bioqa.app.answers.answering import IndexUnavailable
from bioqa.app.http.limits import TOGETHER, BodiesInFlight, BodyLimit
from bioqa.app.mcp.backends import Backend
from bioqa.app.mcp.hosts import guard
from bioqa.app.mcp.tools import Tools, schema
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
    "`similar_articles` and `cite` take PMIDs; `explain` says why an article was found or not. Results are "
    "short unless `details` or a larger `max_characters` are asked for. "
    "An article or sentence with a `warning` is retracted, doubted or corrected: tell the user so whenever "
    "you mention it, and never present a retracted finding as evidence. "
    "Where `answers_question` is unlikely, report that nothing was found. "
    "Articles outside the index are not found: an empty result says nothing about what is known."
)
log = logging.getLogger("bioqa")

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def create_server(backend: Backend) -> MCPServer[Any]:
    """Create the server with its tools, without running it."""
    server: MCPServer[Any] = MCPServer(
        "bioqa", title="MEDLINE", instructions=INSTRUCTIONS, version=version(), log_level="WARNING"
    )
    tools = Tools(backend)
    reading = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    for tool, title in (
        (tools.search, "Search MEDLINE"),
        (tools.get_document, "Read an article"),
        (tools.get_documents, "Read articles"),
        (tools.similar_articles, "Similar articles"),
        (tools.cite, "Cite articles"),
        (tools.explain, "Why an article was found or not"),
    ):
        server.add_tool(_reporting_errors(tool), title=title, annotations=reading)
        registered = server._tool_manager.get_tool(tool.__name__)
        assert registered
        registered.parameters = schema(tool.__name__)
    return server


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
