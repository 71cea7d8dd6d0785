"""Order texts by relevance, in the request and response format of Cohere and Jina."""

import re
import uuid
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Request
from fastapi import Body as RequestBody
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.question import MAX_SIZE, Body, NullIsDefault, Number
from bioqa.app.answers.reranking import GivenText, ScoredText, scored_texts, truncate_words
from bioqa.app.answers.service import CurrentService, Service, UnknownRanker
from bioqa.app.api.connection import while_connected
from bioqa.app.api.search import check_length
from bioqa.app.http.errors import FieldError, document_problems
from bioqa.app.http.parsers import checked_route
from bioqa.system.jsonfile import shorten

MAX_DOCUMENTS = 1000
RANKED_FIELDS = ("text", "title")
API_VERSION = "2"
"""Version of Cohere's API whose format this is."""

FOREIGN_MODEL = r"^((cohere\.)?rerank|jina-(reranker|colbert))-[A-Za-z0-9.:-]{1,80}$"
"""Names of Cohere's and Jina's models, which their clients send, some without being told to. Who sends one
means "the one that is usual here".
"""

FOREIGN_FIELDS = frozenset({"priority", "max_chunks_per_doc", "truncation", "return_embeddings"})
"""Fields of Cohere's and Jina's requests that have no meaning here."""

MOST_NAMED = 5


class RerankText(BaseModel):
    """A text, and its title if it has one. Other keys are ignored."""

    model_config = ConfigDict(extra="ignore")

    text: str
    title: str | None = None


def _text(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


Text = Annotated[RerankText, BeforeValidator(_text, json_schema_input_type=str | RerankText)]


def _ranked_field(name: object) -> object:
    if isinstance(name, str) and name not in RANKED_FIELDS:
        raise ValueError("must be text or title: documents are ranked by these fields, and by no others")
    return name


RankedField = Annotated[Literal["text", "title"], BeforeValidator(_ranked_field)]


class RerankRequest(NullIsDefault):
    """A question and the texts to rank. Unknown keys are ignored, and named in the warnings."""

    model_config = ConfigDict(extra="allow")

    model: str | None = Field(
        default=None,
        description="One of GET /v1/models; the default if absent, or for a model of Cohere or Jina.",
    )
    query: Body
    documents: Annotated[list[Text], Field(min_length=1, max_length=MAX_DOCUMENTS)]
    top_n: Annotated[int, Field(ge=1), Number] | None = Field(
        default=None, description="Number of results; all if absent."
    )
    return_documents: StrictBool = Field(default=True, description="Whether results include their document.")
    rank_fields: Annotated[list[RankedField], Field(max_length=10)] | None = Field(
        default=None, description="Cohere's; may name text and title, which are ranked in any case."
    )
    max_tokens_per_doc: Annotated[int, Field(ge=1), Number] | None = Field(
        default=None, description="Longer texts are cut after this number of words."
    )
    max_sentences: Annotated[int, Field(ge=0, le=MAX_SIZE), Number] = Field(
        default=3, description="Number of best sentences of each document. An extension."
    )


class RerankSentence(BaseModel):
    """``text[begin:end]`` or ``title[begin:end]``, in Unicode code points."""

    field: Literal["text", "title"]
    begin: int
    end: int
    score: float = Field(ge=0, le=1)


class RerankResult(BaseModel):
    index: int = Field(description="The document's position in the request, from 0.")
    relevance_score: float = Field(
        ge=0,
        le=1,
        description="Of a ranker with a scale, a probability; else comparable within one answer only.",
    )
    document: RerankText | None = None
    sentences: list[RerankSentence] = Field(description="The best sentences, best first. An extension.")


class ApiVersion(BaseModel):
    version: str = API_VERSION


class Tokens(BaseModel):
    input_tokens: int
    output_tokens: int = 0


class Meta(BaseModel):
    api_version: ApiVersion = ApiVersion()
    tokens: Tokens
    warnings: list[str] | None = None


class Usage(BaseModel):
    total_tokens: int = Field(description="Words of the question and the texts, separated by white space.")


class RerankAnswer(BaseModel):
    """The documents in descending order of relevance; equal texts in the request's order."""

    id: str
    model: str
    results: list[RerankResult]
    meta: Meta
    usage: Usage


TOO_MANY = {"documents": (MAX_DOCUMENTS, f"must have at most {MAX_DOCUMENTS}, not {{found}}")}

router = APIRouter(tags=["answers"], route_class=checked_route(RerankRequest, lambda settings: TOO_MANY))

EXAMPLES: dict[str, Any] = {
    "two abstracts": {
        "value": {
            "query": "Is metformin a first-line treatment of type 2 diabetes?",
            "documents": [
                "Warfarin was given to 20 adults. No harm was seen.",
                {
                    "title": "Treatment of type 2 diabetes.",
                    "text": "The cohort had 200 adults. Metformin was the first-line treatment of most.",
                },
            ],
            "top_n": 1,
        }
    }
}


@router.post(
    "/v1/rerank",
    response_model_exclude_none=True,
    responses=document_problems(400, 404, 413, 415, 422, 429, 503),
)
@router.post("/v2/rerank", response_model_exclude_none=True, include_in_schema=False)
async def rerank_texts(
    query: Annotated[RerankRequest, RequestBody(openapi_examples=EXAMPLES)],
    service: CurrentService,
    request: Request,
) -> RerankAnswer:
    """Order texts of the request (not of the index) by relevance, each with its best sentences."""
    _check(query, service)
    foreign = _is_foreign(query.model, service)
    try:
        ranker = service.ranker_named(None if foreign else query.model)
    except UnknownRanker as error:
        raise HTTPException(404, f"model {error}") from error
    texts = [
        GivenText(truncate_words(given.text, query.max_tokens_per_doc), given.title or "")
        for given in query.documents
    ]
    answer = await while_connected(request, service.rank(query.query, texts, ranker=ranker.name))
    words = sum(len(part.split()) for text in texts for part in (text.title, text.text))
    tokens = words + len(query.query.split())
    return RerankAnswer(
        id=str(uuid.uuid4()),
        model=ranker.name,
        results=[_result(text, query) for text in scored_texts(answer, ranker)[: query.top_n]],
        meta=Meta(
            tokens=Tokens(input_tokens=tokens),
            warnings=[*_list_ignored(query, foreign, ranker.name), *_warnings(query, texts, answer)] or None,
        ),
        usage=Usage(total_tokens=tokens),
    )


def _check(query: RerankRequest, service: Service) -> None:
    check_length(query.query, "query", service)
    most = service.settings.max_rerank_characters
    characters = sum(len(given.text) + len(given.title or "") for given in query.documents)
    if characters > most:
        raise FieldError("documents", f"must have at most {most} characters in total, not {characters}")


def _is_foreign(model: str | None, service: Service) -> bool:
    """Whether another service's model is meant, and none is loaded under its name."""
    return model is not None and model not in service.rankers and bool(re.fullmatch(FOREIGN_MODEL, model))


def _result(scored: ScoredText, query: RerankRequest) -> RerankResult:
    best = [
        RerankSentence(
            field="title" if sentence.sentence.section == "title" else "text",
            begin=sentence.sentence.begin,
            end=sentence.sentence.end,
            score=sentence.score,
        )
        for sentence in scored.sentences[: query.max_sentences]
    ]
    document = query.documents[scored.position] if query.return_documents else None
    return RerankResult(
        index=scored.position, relevance_score=scored.score, document=document, sentences=best
    )


def _list_ignored(query: RerankRequest, foreign: bool, ranker: str) -> list[str]:
    warnings = [f"there is no {query.model} here: ranked by {ranker}, the default"] if foreign else []
    if unknown := sorted(set(query.model_extra or ()) - FOREIGN_FIELDS):
        named = ", ".join(shorten(name) for name in unknown[:MOST_NAMED])
        more = f" and {len(unknown) - MOST_NAMED} more" if len(unknown) > MOST_NAMED else ""
        warnings.append(f"unknown fields were ignored: {named}{more}")
    return warnings


def _warnings(query: RerankRequest, texts: list[GivenText], answer: Answer) -> list[str]:
    cut = sum(len(given.text) > len(text.text) for given, text in zip(query.documents, texts, strict=True))
    warnings = [f"{cut} documents were cut after {query.max_tokens_per_doc} words"] if cut else []
    if answer.condensed:
        warnings.append(f"the query is long, and was ranked by these of its words: {answer.condensed}")
    if answer.truncated_sentences:
        warnings.append(f"{answer.truncated_sentences} sentences were truncated")
    return [*warnings, answer.degraded] if answer.degraded else warnings
