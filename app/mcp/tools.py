"""The tools, and what they take. Arguments are checked here, in the words of every face."""

import inspect
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from bioqa.app.answers.question import DAY_SCHEMA, Number, OptionError, Options, Pmid, read
from bioqa.app.api.citations import FormatName
from bioqa.app.http.schemas import ExplainRequest, SearchRequest, StoredDocument
from bioqa.app.mcp.backends import Backend
from bioqa.app.mcp.extent import (
    MOST_CHARACTERS,
    documents_within,
    shorten_document,
    shorten_search,
    shorten_similar,
)
from bioqa.app.mcp.results import (
    Citations,
    Documents,
    MedlineDocument,
    SearchResult,
    SimilarArticles,
    Why,
    medline_document,
    search_result,
    similar_articles,
    why,
)
from bioqa.system.errors import BioqaError

MOST_DOCUMENTS = 50
"""Limit of one call of get_documents, and of citations."""

Result = TypeVar("Result")
Tool = Callable[..., Coroutine[Any, Any, Result]]

QUESTION = {
    "type": "string",
    "minLength": 1,
    "description": "One question in plain English. PubMed's notation (field tags, AND, OR, NOT) is "
    "understood, too, but finds less; a PMID, DOI or PMCID gives that article.",
}
PMID = "A PubMed number, such as 26023080; PMID:26023080 and addresses of PubMed are taken, too."


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Extent(Arguments):
    """How much a result holds."""

    details: bool = Field(
        default=False,
        description="Also dates, metadata (authors, MeSH, identifiers) and the like: much longer.",
    )
    max_characters: Annotated[int, Field(ge=1000, le=200_000), Number] = Field(
        default=MOST_CHARACTERS,
        description="Limit of the whole result; the last of what does not fit is left out, and named.",
    )


class Article(Extent):
    pmid: Pmid = Field(description=PMID)


class Articles(Extent):
    pmids: list[Pmid] = Field(min_length=1, max_length=MOST_DOCUMENTS, description=PMID)


class Similar(Extent):
    pmid: Pmid = Field(description=PMID)
    max_documents: Annotated[int, Field(ge=1, le=50), Number] = Field(default=5)


class Cited(Arguments):
    pmids: list[Pmid] = Field(min_length=1, max_length=MOST_DOCUMENTS, description=PMID)
    format: FormatName = Field(
        default="nlm", description="A style to paste (nlm, vancouver, apa), or a reference manager's format."
    )


class Explained(Arguments):
    question: str = Field(description="The question as it was searched for.")
    pmid: Pmid = Field(description=PMID)


ARGUMENTS: dict[str, type[Arguments]] = {
    "get_document": Article,
    "get_documents": Articles,
    "similar_articles": Similar,
    "cite": Cited,
    "explain": Explained,
}


def schema(name: str) -> dict[str, Any]:
    """The arguments of a tool. null is taken for a default, but not offered, and there is no reference and no
    alternative: some clients refuse such schemas."""
    if name == "search":
        options = SearchRequest.model_json_schema()["properties"]
        chosen = {key: options[key] for key in (*Options.model_fields, "ranker")}
        own = Extent.model_json_schema()["properties"]
        return _schema({"question": QUESTION, **chosen, **own}, ["question"])
    of_model = ARGUMENTS[name].model_json_schema()
    return _schema(of_model["properties"], of_model["required"])


def _schema(properties: dict[str, dict[str, Any]], required: list[str]) -> dict[str, Any]:
    plain = {name: _plain(of_property) for name, of_property in properties.items()}
    return {"type": "object", "properties": plain, "required": required}


def _plain(of_property: dict[str, Any]) -> dict[str, Any]:
    kinds = [kind for kind in of_property.get("anyOf", ()) if kind != {"type": "null"}]
    kind = kinds[0] if kinds else {}
    merged = {**of_property, **({"type": "string"} if kind in DAY_SCHEMA["anyOf"] else kind)}
    if "exclusiveMaximum" in merged:  # which Gemini's client does not know
        merged["maximum"] = merged.pop("exclusiveMaximum") - 1
    return {key: value for key, value in merged.items() if key not in ("title", "default", "anyOf")}


def with_arguments(*names: str) -> Callable[[Tool[Result]], Tool[Result]]:
    """Let a tool's signature show arguments of any kind: they are checked in the tool, in our words."""

    def decorate(tool: Tool[Result]) -> Tool[Result]:
        parameters = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
            for name in names
        ]
        signature = inspect.signature(tool)
        tool.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return tool

    return decorate


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    # Models send null and "" for what they do not set.
    return {name: value for name, value in arguments.items() if value not in (None, "")}


class Tools:
    """The docstrings are the descriptions that models read."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @with_arguments("question", *Options.model_fields, "ranker", *Extent.model_fields)
    async def search(self, **arguments: Any) -> SearchResult:
        """Find the MEDLINE articles, and the sentences in their titles and abstracts, that answer a
        biomedical question, best first. Each article comes with a citation, each sentence with its PMID,
        section and offsets to cite. Filters leave articles out and do not change the order of the others."""
        given = _given(arguments)
        extent = read(Extent, {name: given.pop(name) for name in Extent.model_fields if name in given})
        if "question" in given:
            given["body"] = given.pop("question")
        request = _read_question(SearchRequest, given)
        result = search_result(await self._backend.search(request), details=extent.details)
        return shorten_search(result, extent.max_characters, request.offset)

    @with_arguments(*Article.model_fields)
    async def get_document(self, **arguments: Any) -> MedlineDocument:
        """Read one article of the index by its PMID: title, abstract and citation. With details, also its
        date, metadata, the parts of its abstract, and every sentence with its offsets."""
        article = read(Article, _given(arguments))
        document = medline_document(await self._document(str(article.pmid)), details=article.details)
        return shorten_document(document, article.max_characters)

    @with_arguments(*Articles.model_fields)
    async def get_documents(self, **arguments: Any) -> Documents:
        """Read several articles by their PMIDs, each as get_document gives it; those not in the index are
        listed as missing, and those for which the result has no room as left out."""
        articles = read(Articles, _given(arguments))
        pmids = list(dict.fromkeys(map(str, articles.pmids)))
        stored = [await self._backend.document(pmid) for pmid in pmids]
        documents = [medline_document(one, details=articles.details) for one in stored if one is not None]
        missing = [pmid for pmid, document in zip(pmids, stored, strict=True) if document is None]
        return documents_within(documents, missing, articles.max_characters)

    @with_arguments(*Similar.model_fields)
    async def similar_articles(self, **arguments: Any) -> SimilarArticles:
        """Find the articles of the index that are most like one of them: by its title and the words that its
        abstract repeats, and by its meaning, if the index has vectors."""
        wanted = read(Similar, _given(arguments))
        document = await self._document(str(wanted.pmid))
        similar = await self._backend.similar(document.pmid, wanted.max_documents)
        return shorten_similar(similar_articles(similar, details=wanted.details), wanted.max_characters)

    @with_arguments(*Cited.model_fields)
    async def cite(self, **arguments: Any) -> Citations:
        """Cite articles of the index by their PMIDs, in a style to paste or for a reference manager.
        Withdrawn articles say so in every format."""
        cited = read(Cited, _given(arguments))
        pmids = list(dict.fromkeys(map(str, cited.pmids)))
        return Citations(text=await self._backend.citations(pmids, cited.format))

    @with_arguments(*Explained.model_fields)
    async def explain(self, **arguments: Any) -> Why:
        """Say why an article is, or is not, in the answer to a question: what it was found by, where it stood
        at each stage, and what would have had to be different."""
        explained = read(Explained, _given(arguments))
        request = _read_question(ExplainRequest, {"body": explained.question, "pmid": explained.pmid})
        return why(await self._backend.explain(request), str(explained.pmid))

    async def _document(self, pmid: str) -> StoredDocument:
        document = await self._backend.document(pmid)
        if document is None:
            raise BioqaError(f"pmid: there is no document {pmid} in the index")
        return document


Request = TypeVar("Request", SearchRequest, ExplainRequest)


def _read_question(model: type[Request], values: dict[str, Any]) -> Request:
    try:
        return read(model, values)
    except OptionError as error:
        named = [("question" if name == "body" else name, message) for name, message in error.faults]
        raise OptionError(named) from None
