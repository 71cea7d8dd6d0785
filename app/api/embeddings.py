"""Vectors of texts, in the request and response format of OpenAI."""

import base64
import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi import Body as RequestBody
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from bioqa.app.answers.embedding import Embeddings, InputType, UnknownEncoder
from bioqa.app.answers.question import NOT_BLANK, NullIsDefault, Number
from bioqa.app.answers.service import CurrentService, Service
from bioqa.app.api.connection import while_connected
from bioqa.app.http.errors import FieldError, document_problems
from bioqa.app.http.parsers import checked_route

MAX_TEXTS = 1000

FOREIGN_MODEL = r"^text-embedding-[A-Za-z0-9.:-]{1,80}$"
"""Names of OpenAI's models, which its clients send, some without being told to. Who sends one means "the one
that is usual here".
"""


def _text(value: object) -> object:
    if isinstance(value, int | list):
        raise ValueError("must be text, not numbers of tokens: each encoder has its own")
    if isinstance(value, str) and not value.strip():
        raise ValueError("must hold more than white space")
    return value


def _texts(value: object) -> object:
    return [value] if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_text), Field(json_schema_extra={"pattern": NOT_BLANK})]
Texts = Annotated[
    list[Text],
    Field(min_length=1, max_length=MAX_TEXTS),
    BeforeValidator(_texts, json_schema_input_type=str | list[str]),
]


class EmbeddingsRequest(NullIsDefault):
    """The texts to encode. Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")

    input: Texts = Field(description="A text, or 1 to 1000 texts.")
    model: str | None = Field(
        default=None,
        description="The encoder's name; whichever it is if absent, or for a model of OpenAI.",
    )
    encoding_format: Literal["float", "base64"] = Field(
        default="float",
        description="base64: of the numbers in single precision, the least significant byte first.",
    )
    dimensions: Annotated[int, Field(ge=1), Number] | None = Field(
        default=None, description="Must be the length of the encoder's vectors: they cannot be shortened."
    )
    user: str | None = Field(default=None, description="Ignored.")
    input_type: InputType = Field(
        default="document",
        description="Whether the texts are questions (query) or what is to be found by them (document). Only "
        "encoders with prefixes distinguish the two. An extension.",
    )


class Embedding(BaseModel):
    object: Literal["embedding"] = "embedding"
    index: int = Field(description="The text's position in the request, from 0.")
    embedding: list[float] | str = Field(description="A vector of length 1.")


class EmbeddingsUsage(BaseModel):
    prompt_tokens: int = Field(description="Word pieces that were read.")
    total_tokens: int


class EmbeddingsAnswer(BaseModel):
    """Vectors in the order of the texts."""

    object: Literal["list"] = "list"
    data: list[Embedding]
    model: str
    usage: EmbeddingsUsage
    hash: str = Field(
        description="SHA-256 of all that vectors depend on: those of different hashes cannot be compared. "
        "An extension."
    )
    warnings: list[str] | None = Field(default=None, description="What was cut. An extension.")


TOO_MANY = {"input": (MAX_TEXTS, f"must have at most {MAX_TEXTS}, not {{found}}")}

router = APIRouter(tags=["answers"], route_class=checked_route(EmbeddingsRequest, lambda settings: TOO_MANY))

EXAMPLES: dict[str, Any] = {
    "a question": {
        "value": {
            "input": "Is metformin a first-line treatment of type 2 diabetes?",
            "input_type": "query",
        }
    },
    "two texts": {
        "value": {
            "input": ["Warfarin was given to 20 adults.", "Metformin was the first-line treatment of most."],
            "encoding_format": "base64",
        }
    },
}


@router.post(
    "/v1/embeddings",
    response_model=EmbeddingsAnswer,
    response_model_exclude_none=True,
    responses=document_problems(400, 404, 413, 415, 422, 429, 503),
)
async def encode_texts(
    query: Annotated[EmbeddingsRequest, RequestBody(openapi_examples=EXAMPLES)],
    service: CurrentService,
    request: Request,
) -> Response:
    """Encode texts as the index's vectors were made, or by the bundled encoder if it has none."""
    _check_length(query, service)
    foreign = query.model is not None and bool(re.fullmatch(FOREIGN_MODEL, query.model))
    model = None if foreign else query.model
    try:
        embeddings = await while_connected(request, service.embed(query.input, query.input_type, model=model))
    except UnknownEncoder as error:
        raise HTTPException(404, f"model {error}") from error
    # Written here: a thousand vectors would take FastAPI several times as long.
    content = _answer(embeddings, query, foreign).model_dump_json(exclude_none=True)
    return Response(content, media_type="application/json")


def _check_length(query: EmbeddingsRequest, service: Service) -> None:
    most, characters = service.settings.max_rerank_characters, sum(map(len, query.input))
    if characters > most:
        raise FieldError("input", f"must have at most {most} characters in total, not {characters}")


def _answer(embeddings: Embeddings, query: EmbeddingsRequest, foreign: bool) -> EmbeddingsAnswer:
    width = embeddings.vectors.shape[1]
    if query.dimensions not in (None, width):
        raise FieldError(
            "dimensions", f"must be {width} or absent: vectors of {embeddings.encoder} cannot be shortened"
        )
    warnings = []
    if foreign:
        warnings.append(f"there is no {query.model} here: encoded by {embeddings.encoder}")
    if embeddings.cut:
        warnings.append(_describe_cut(embeddings))
    vectors = embeddings.vectors.astype("<f4")
    numbers: list[Any] = vectors.tolist()
    if query.encoding_format == "base64":
        numbers = [base64.b64encode(vector.tobytes()).decode() for vector in vectors]
    return EmbeddingsAnswer(
        data=[Embedding(index=index, embedding=vector) for index, vector in enumerate(numbers)],
        model=embeddings.encoder,
        usage=EmbeddingsUsage(prompt_tokens=embeddings.pieces, total_tokens=embeddings.pieces),
        hash=embeddings.hash,
        warnings=warnings or None,
    )


def _describe_cut(embeddings: Embeddings) -> str:
    named = ", ".join(map(str, embeddings.cut[:MOST_NAMED]))
    more = f" and {len(embeddings.cut) - MOST_NAMED} more" if len(embeddings.cut) > MOST_NAMED else ""
    return f"only the beginning was read of the texts {named}{more}"


MOST_NAMED = 5
