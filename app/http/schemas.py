"""Schemas of HTTP requests and responses, with the descriptions that OpenAPI shows.

What can be asked is ``bioqa.app.answers.question.Options``; what is told of an answer are the dataclasses of
``bioqa.app.answers.answer``.
"""

from collections.abc import Collection, Mapping
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator
from pydantic.json_schema import SkipJsonSchema

from bioqa.app.answers.answer import Answer, Timings
from bioqa.app.answers.answer import AnswerDocument as RankedArticle
from bioqa.app.answers.emptied import LeftOut
from bioqa.app.answers.facets import Facets
from bioqa.app.answers.fusion import FoundBy
from bioqa.app.answers.question import (
    OF_TEST_SETS,
    Body,
    ExplainOptions,
    NullIsDefault,
    Number,
    Options,
    Order,
    allow_null,
    read_list,
    read_texts,
)
from bioqa.app.answers.remarks import Remark, remarks, remarks_by_words
from bioqa.app.answers.similar import SimilarArticles
from bioqa.app.answers.understood import Understood
from bioqa.app.exports.citing import nlm
from bioqa.app.exports.standing import notice_text, shown_notices
from bioqa.app.http.metadata import CitationMetadata, citation_metadata
from bioqa.bioasq.domain import MOST_DOCUMENTS, MOST_SNIPPETS, Document, Part, Question, Sentence
from bioqa.models.answers.confidence import Confidence
from bioqa.models.answers.roles import Role

StandingName = Literal[
    "retracted", "concern", "retraction_notice", "concern_notice", "erratum_notice", "sound"
]
Type = Literal["yesno", "factoid", "list", "summary"]


class AskedQuestion(BaseModel):
    """A question of a test set. Other keys are ignored."""

    model_config = ConfigDict(extra="ignore")

    id: Annotated[str, Field(min_length=1)]
    type: Type | None = None
    body: Body

    def question(self) -> Question:
        return Question(self.id, self.body, self.type)


class TestSet(BaseModel):
    """A BioASQ test set of phase A."""

    __test__ = False  # not pytest's

    questions: Annotated[list[AskedQuestion], Field(min_length=1)]


class BatchTestSet(TestSet):
    """A BioASQ test set of phase A. Invalid questions are reported; the others are answered."""


OF_BIOASQ = frozenset(
    {"documents", "snippets", "concepts", "triples", "ideal_answer", "exact_answer", "answerReady"}
)
"""Further keys of questions in BioASQ's files, which may be sent as they are."""


class QuestionRequest(BaseModel):
    """A question, alone or as in a BioASQ file. Unknown fields are refused."""

    body: Body
    id: Annotated[str, Field(min_length=1)] | None = None
    type: Type | None = None
    ranker: str | None = Field(default=None, description="One of GET /v1/models; the default if absent.")
    timeout_ms: Annotated[int, Field(ge=100, le=3_600_000), Number] | None = Field(
        default=None,
        description="Milliseconds that the question may wait before it is ranked; default and maximum are "
        "BIOQA_REQUEST_TIMEOUT_S.",
    )

    @model_validator(mode="before")
    @classmethod
    def _without_keys_of_bioasq(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        return {key: value for key, value in data.items() if key not in OF_BIOASQ}

    def question(self) -> Question:
        return Question(self.id or "", self.body, self.type)


def _request_schema(schema: dict[str, Any]) -> None:
    allow_null(schema)
    ignored = {"description": "As questions in BioASQ's files have it; ignored."}
    schema["properties"] |= dict.fromkeys(sorted(OF_BIOASQ), ignored)


class SearchRequest(Options, QuestionRequest):
    """A question, alone or as in a BioASQ file, with options for the answer. Unknown fields are refused."""

    model_config = ConfigDict(json_schema_extra=_request_schema)

    include: Annotated[tuple[Literal["abstract"], ...], Field(max_length=10), BeforeValidator(read_list)] = (
        Field(
            default=(), description="What the answer's documents have beside their titles: their abstracts."
        )
    )


class ExplainRequest(ExplainOptions, QuestionRequest):
    """A question as for /v1/search, and the article in question."""

    model_config = ConfigDict(json_schema_extra=_request_schema)


class OfTexts(BaseModel):
    """Parameters of an address, which are text. Empty ones count as absent."""

    @model_validator(mode="before")
    @classmethod
    def _of_texts(cls, parameters: object) -> object:
        return read_texts(cls, parameters.items()) if isinstance(parameters, Mapping) else parameters


class SearchAddress(OfTexts, SearchRequest):
    """``SearchRequest`` as the parameters of an address."""


class OfTestSet(OfTexts, NullIsDefault):
    """The options for all questions of a test set, as parameters of its address."""

    model_config = ConfigDict(extra="forbid")

    def options(self, **defaults: Any) -> Options:
        """``defaults``: of what the address does not say."""
        return Options.model_validate({**defaults, **self.named_options(), "syntax": "never"})

    def named_options(self) -> dict[str, Any]:
        """The options that the address names, as JSON. Raises FilterError."""
        given = self.model_dump(mode="json", include=self.model_fields_set & set(OF_TEST_SETS))
        Options.model_validate(given).as_filters()
        return given


if TYPE_CHECKING:
    TestSetAddress = OfTestSet

    class BatchAddress(OfTestSet):
        ranker: str | None = None
else:
    TestSetAddress = create_model(
        "TestSetAddress",
        __base__=OfTestSet,
        **{
            name: (Options.model_fields[name].annotation, Options.model_fields[name]) for name in OF_TEST_SETS
        },
    )

    class BatchAddress(TestSetAddress):
        """The ranker and the options for all questions of a batch, as parameters of its address."""

        ranker: str | None = Field(
            default=None, description="One of GET /v1/models; the default if absent.", min_length=1
        )


class Notice(BaseModel):
    """A notice on an article, or what the article is a notice on."""

    kind: str = Field(description="NLM's RefType: RetractionIn, ExpressionOfConcernIn, ErratumIn, …")
    pmid: str | None
    source: str = Field(description="The other citation as MEDLINE writes it; may be empty.")
    text: str = Field(description="In words, as PubMed prints it.")


class WithStanding(BaseModel):
    """Whether an article can be relied on."""

    standing: StandingName = Field(
        description="retracted; concern: its journal doubts it; …_notice: it is itself a notice on another "
        "article; sound: nothing is known against it."
    )
    notices: list[Notice] = Field(description="The gravest first; a sound article can have an erratum.")


SCORE = (
    "If the answer is `calibrated`, the probability that an expert of BioASQ would have marked it as "
    "relevant; if not, a number that is comparable within this answer only."
)


class AnswerDocument(WithStanding):
    document: str = Field(
        description="URL as BioASQ writes it: http://www.ncbi.nlm.nih.gov/pubmed/ and the PMID."
    )
    pmid: str
    title: str
    published: date | None
    score: float = Field(description=SCORE)
    citation: str = Field(description="As PubMed's summary cites it, with notices of withdrawal.")
    abstract: str | None = Field(default=None, description="If the request includes it.")
    parts: list[Part] | None = Field(
        default=None, description="The abstract's parts; each begins with its label. Given with the abstract."
    )
    metadata: CitationMetadata
    found_by: FoundBy | None = Field(
        default=None,
        description="Its ranks by words and by meaning; null if vectors were not used, or if it was added as "
        "one that passes the filters.",
    )


class SubmittedSnippet(BaseModel):
    """``text`` is the section's text from the begin offset up to the end offset, in Unicode code points."""

    document: str
    text: str
    beginSection: Literal["title", "abstract"]
    endSection: Literal["title", "abstract"]
    offsetInBeginSection: int
    offsetInEndSection: int


class AnswerSnippet(SubmittedSnippet):
    standing: StandingName = Field(description="The document's.")
    role: Role | None = Field(
        default=None,
        description="What it does in its abstract, as its authors label its part, or as it reads; null for "
        "titles.",
    )
    score: float = Field(description=SCORE)


class SearchAnswer(BaseModel):
    """Documents and snippets, best first."""

    id: str | None
    type: Type | None
    body: str
    documents: list[AnswerDocument]
    snippets: list[AnswerSnippet]
    ranker: str
    ranker_hash: str
    index: str
    timings_ms: Timings
    truncated_sentences: int = Field(description="Sentences that the ranker truncated.")
    calibrated: bool = Field(
        default=False, description="Whether scores are probabilities, comparable between answers."
    )
    degraded: bool = Field(description="Whether the ranker failed and BM25 answered instead.")
    degraded_reason: str | None
    condensed: str | None = Field(
        description="The words of a long question that it was answered by; null if it was answered as asked."
    )
    confidence: Confidence | None = Field(
        default=None, description="Whether the documents answer the question; null where it is not estimated."
    )
    interpretation: Understood | None = Field(description="None if the question was taken as it is.")
    order: Order
    offset: int
    next_offset: int | None = Field(description="Offset of further results; none if there are no more.")
    candidates: int = Field(description="Documents that the ranker read.")
    facets: Facets | None = Field(description="If they were asked for.")
    emptied: tuple[LeftOut, ...] = Field(
        description="If filters leave no document: each with the number that would be found without it. Zero "
        "everywhere: it takes several of them."
    )
    remarks: tuple[Remark, ...] = Field(
        default=(), description="What is to be known of the answer, in words, the gravest first."
    )


class SubmittedQuestion(BaseModel):
    id: str
    type: Type | SkipJsonSchema[None] = None
    body: str
    documents: Annotated[list[str], Field(max_length=MOST_DOCUMENTS)]
    snippets: Annotated[list[SubmittedSnippet], Field(max_length=MOST_SNIPPETS)]


class Submission(BaseModel):
    """A submission, as the BioASQ site accepts it."""

    questions: list[SubmittedQuestion]


class StoredDocument(WithStanding):
    """A citation as it is indexed; all offsets count Unicode code points, ends are exclusive."""

    document: str
    pmid: str
    version: int
    title: str
    abstract: str
    published: date | None
    sentences: list[Sentence]
    parts: list[Part] = Field(description="The abstract's parts; each begins with its label.")
    citation: str = Field(description="As PubMed's summary cites it, with notices of withdrawal.")
    metadata: CitationMetadata


class StoredDocuments(BaseModel):
    """Citations in the order of the request, each once."""

    documents: list[StoredDocument]
    missing: list[str] = Field(description="PMIDs of the request that are not in the index.")


class SimilarDocument(WithStanding):
    document: str
    pmid: str
    title: str
    published: date | None
    citation: str = Field(description="As PubMed's summary cites it, with notices of withdrawal.")
    metadata: CitationMetadata
    found_by: FoundBy | None = Field(
        description="Its ranks by words and by meaning; null if vectors were not used."
    )


class SimilarDocuments(BaseModel):
    """Articles that are like another one, the most similar first."""

    pmid: str = Field(description="The article that they are like.")
    documents: list[SimilarDocument]
    remarks: tuple[Remark, ...] = Field(description="What is to be known of them, in words.")


class Model(BaseModel):
    name: str
    hash: str = Field(description="SHA-256 of the checkpoint's files.")
    default: bool
    config: dict[str, Any] = Field(description="Settings, training data and measured scores.")


class Models(BaseModel):
    models: list[Model]


class Health(BaseModel):
    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    ready: bool
    reasons: list[str] = Field(description="Why not; empty when ready.")


class IndexInfo(BaseModel):
    name: str
    documents: int
    without_abstract: int
    size_bytes: int


class RankerInfo(BaseModel):
    name: str
    hash: str


class Limits(BaseModel):
    max_body_bytes: int
    max_question_characters: int
    max_batch_questions: int
    max_candidates: int
    max_upload_bytes: int
    max_testset_questions: int


class Info(BaseModel):
    name: str
    version: str
    index: IndexInfo | None
    ranker: RankerInfo = Field(description="The default one.")
    rankers: list[RankerInfo]
    limits: Limits


def search_answer(
    answer: Answer, identifier: str | None = None, include: Collection[str] = ()
) -> SearchAnswer:
    """Convert an answer for HTTP and ``--json``; ``identifier`` is the client's id, if any."""
    facts: dict[str, Any] = {
        name: getattr(answer, name) for name in SearchAnswer.model_fields if hasattr(answer, name)
    }
    of_question = {"id": identifier, "type": answer.question.type, "body": answer.question.body}
    return SearchAnswer.model_validate(
        facts
        | of_question
        | {
            "documents": [_answer_document(d, include) for d in answer.documents],
            "snippets": [
                AnswerSnippet(
                    document=s.document.url,
                    text=s.text,
                    beginSection=s.section,
                    endSection=s.section,
                    offsetInBeginSection=s.begin,
                    offsetInEndSection=s.end,
                    standing=s.document.metadata.standing.value,
                    role=s.role,
                    score=s.score,
                )
                for s in answer.snippets
            ],
            "degraded": answer.degraded is not None,
            "degraded_reason": answer.degraded,
            "order": answer.options.order,
            "offset": answer.options.offset,
            "remarks": remarks(answer),
        }
    )


def _answer_document(ranked: RankedArticle, include: Collection[str]) -> AnswerDocument:
    document = ranked.document
    with_text = "abstract" in include
    return AnswerDocument(
        **_citation(document),
        score=ranked.score,
        found_by=ranked.found_by,
        abstract=document.abstract if with_text else None,
        parts=[*document.parts] if with_text else None,
    )


def stored_document(document: Document) -> StoredDocument:
    return StoredDocument(
        **_citation(document),
        version=document.version,
        abstract=document.abstract,
        sentences=[*document.sentences],
        parts=[*document.parts],
    )


def similar_documents(pmid: str, similar: SimilarArticles) -> SimilarDocuments:
    return SimilarDocuments(
        pmid=pmid,
        documents=[
            SimilarDocument(**_citation(other.document), found_by=other.found_by)
            for other in similar.articles
        ],
        remarks=remarks_by_words(similar.problem),
    )


def _citation(document: Document) -> dict[str, Any]:
    """What answers and looked-up documents say alike."""
    return {
        "document": document.url,
        "pmid": document.pmid,
        "title": document.title,
        "published": document.published,
        "standing": document.metadata.standing.value,
        "notices": [
            Notice(kind=notice.kind, pmid=notice.pmid or None, source=notice.source, text=notice_text(notice))
            for notice in shown_notices(document.metadata)
        ],
        "citation": nlm(document),
        "metadata": citation_metadata(document.metadata),
    }
