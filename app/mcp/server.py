"""The MCP server: MEDLINE for language-model assistants, so that they can cite sentences with offsets.

Tools with structured results, as the Model Context Protocol defines them. Errors of a call are returned as
the tool's errors, for the model to read and correct.
"""

from collections.abc import Awaitable, Callable, Collection, Coroutine
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import ToolAnnotations
from pydantic import BeforeValidator, Field
from starlette.types import ASGIApp

from bioqa.app.answers.answering import Order
from bioqa.app.api.documents import PMID
from bioqa.app.http.schemas import Day, Name, SearchRequest
from bioqa.app.mcp.backends import Backend
from bioqa.app.mcp.hosts import AllowedHosts
from bioqa.app.mcp.results import Documents, MedlineDocument, SearchResult, medline_document, search_result
from bioqa.app.version import version
from bioqa.bioasq.domain import MAX_ITEMS
from bioqa.indexer.search.filtering.filters import MAX_VALUES
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

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _pmid(value: object) -> object:
    # Models also send numbers, and PMIDs with the prefix used in text.
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.removeprefix("PMID:").strip() if isinstance(value, str) else value


Question = Annotated[
    str,
    Field(
        min_length=1,
        description="One question in plain English. PubMed's notation (field tags, AND, OR, NOT) is "
        "understood, too, but finds less; a PMID, DOI or PMCID gives that article.",
    ),
]


def _most(value: object) -> object:
    # Typed clients send null for an option that is not set.
    return MAX_ITEMS if value is None else value


def _day(value: object) -> object:
    return None if value == "" else value


Most = Annotated[int, BeforeValidator(_most), Field(ge=0, le=100)]
Pmid = Annotated[
    str,
    BeforeValidator(_pmid),
    Field(pattern=PMID, description="The article's PubMed number, digits only."),
]
PublishedAfter = Annotated[
    Day | None,
    BeforeValidator(_day),
    Field(description="YYYY-MM-DD: only articles published that day or later. The undated are left out."),
]
PublishedBefore = Annotated[
    Day | None,
    BeforeValidator(_day),
    Field(description="YYYY-MM-DD: only articles published before that day. The undated are left out."),
]
Types = Annotated[
    tuple[Name, ...] | None,
    Field(
        max_length=MAX_VALUES,
        description="Publication types of NLM's, one of which the article has: Review, Systematic Review, "
        "Meta-Analysis, Randomized Controlled Trial, Practice Guideline, Case Reports, …",
    ),
]
Languages = Annotated[
    tuple[Name, ...] | None,
    Field(
        max_length=MAX_VALUES, description="Languages, in one of which the article is: English, fre, de, …"
    ),
]
Headings = Annotated[
    tuple[Name, ...] | None,
    Field(max_length=MAX_VALUES, description="MeSH headings, all of which the article has: Humans, Aged, …"),
]
Journals = Annotated[
    tuple[Name, ...] | None,
    Field(max_length=MAX_VALUES, description="Journals, in one of which it is: NLM's abbreviation or title."),
]
Authors = Annotated[
    tuple[Name, ...] | None,
    Field(max_length=MAX_VALUES, description="Authors, all of which it has: Smith, Smith J or John Smith."),
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
    return server


def http_app(server: MCPServer[Any], allowed_hosts: Collection[str]) -> ASGIApp:
    """Create the application that serves streamable HTTP at ``/mcp`` to those who know it by such a name."""
    # The package's own check of names knows no addresses and does not say what to do.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return AllowedHosts(server.streamable_http_app(transport_security=unchecked), allowed_hosts)


def _reporting_errors(
    tool: Callable[Arguments, Awaitable[Result]],
) -> Callable[Arguments, Coroutine[Any, Any, Result]]:
    """Wrap a tool so that errors that the user can act on reach the model."""

    @wraps(tool)
    async def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return await tool(*args, **kwargs)
        except BioqaError as error:
            raise ToolError(scrub(str(error))) from error

    return call


class _Tools:
    """The docstrings are the descriptions that models read."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def search(
        self,
        question: Question,
        max_documents: Annotated[Most, Field(ge=1, description="Maximum number of articles.")] = MAX_ITEMS,
        max_snippets: Annotated[Most, Field(description="Maximum number of sentences.")] = MAX_ITEMS,
        published_after: PublishedAfter = None,
        published_before: PublishedBefore = None,
        undated: Annotated[
            bool | None, Field(description="Let articles without a date pass the limits of dates.")
        ] = None,
        types: Types = None,
        languages: Languages = None,
        headings: Headings = None,
        journals: Journals = None,
        authors: Authors = None,
        has_abstract: bool | None = None,
        free_full_text: Annotated[bool | None, Field(description="Only what is in PubMed Central.")] = None,
        exclude_retracted: Annotated[
            bool | None, Field(description="Leave out articles that were retracted.")
        ] = None,
        order: Annotated[
            Order | None, Field(description="date: the newest of the relevant articles first.")
        ] = None,
        offset: Annotated[
            int | None,
            Field(ge=0, lt=1000, description="next_offset of the result before, for more articles."),
        ] = None,
        literal: Annotated[
            bool | None,
            Field(
                description="Search for these very words: no other spellings, abbreviations, synonyms or "
                "corrections."
            ),
        ] = None,
    ) -> SearchResult:
        """Find the MEDLINE articles, and the sentences in their titles and abstracts, that answer a
        biomedical question, best first. Every sentence has its PMID, URL, section and offsets to cite.
        Filters leave articles out and do not change the order of the others."""
        if not question.strip():
            raise BioqaError("question: must contain more than white space")
        asked = SearchRequest.model_validate(
            {
                "body": question,
                "max_documents": max_documents,
                "max_snippets": max_snippets,
                "published_after": published_after,
                "published_before": published_before,
                "undated": undated,
                "types": types,
                "languages": languages,
                "headings": headings,
                "journals": journals,
                "authors": authors,
                "has_abstract": has_abstract,
                "free_full_text": free_full_text,
                "exclude_retracted": exclude_retracted,
                "order": order,
                "offset": offset,
                "literal": literal,
            }
        )
        return search_result(await self._backend.search(asked))

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
