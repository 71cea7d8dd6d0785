"""Schemas of HTTP requests and responses, with the descriptions that OpenAPI shows."""

import re
from collections.abc import Callable, Collection
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from bioqa.app.answers.answering import Answer, Order, SearchOptions
from bioqa.app.answers.facets import MAX_VALUES as FACET_VALUES
from bioqa.app.answers.facets import Counts, Facets
from bioqa.app.answers.understood import Understood
from bioqa.app.exports.citing import nlm
from bioqa.app.exports.standing import notice_text, shown_notices
from bioqa.app.http.metadata import CitationMetadata, citation_metadata
from bioqa.app.settings import MAX_CANDIDATES
from bioqa.bioasq.domain import MAX_ITEMS, Document, Question
from bioqa.indexer.search.filtering.filters import MAX_VALUE_CHARACTERS, MAX_VALUES, Filters
from bioqa.indexer.search.notation.interpretation import Mode, interpret
from bioqa.models.answers.confidence import Confidence, Level

StandingName = Literal[
    "retracted", "concern", "retraction_notice", "concern_notice", "erratum_notice", "sound"
]
Type = Literal["yesno", "factoid", "list", "summary"]


def _day(value: object) -> object:
    # Otherwise pydantic would accept numbers as seconds since 1970, and times as days.
    if isinstance(value, str) and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        raise ValueError("must be a day as YYYY-MM-DD")
    if isinstance(value, str | date) or value is None:
        return value
    raise ValueError("must be a day as YYYY-MM-DD")


def _number(value: object) -> object:
    # In JSON, 10.0 is an integer, but "10" and true are not, though pydantic would accept them.
    if isinstance(value, bool | str):
        raise ValueError("must be a valid integer")
    return value


NOT_BLANK = r"[^\s\u001c-\u001f\u0085\ufeff]"
"""A character that neither Python nor JSON Schema counts as white space; their \\s differ."""


def _not_blank(value: str) -> str:
    if not re.search(NOT_BLANK, value):
        raise ValueError("must contain more than white space")
    return value


Day = Annotated[date, BeforeValidator(_day)]
Body = Annotated[
    str,
    StringConstraints(min_length=1),
    AfterValidator(_not_blank),
    Field(
        description="The question. White space around it is ignored.",
        json_schema_extra={"pattern": NOT_BLANK},
    ),
]
Number = BeforeValidator(_number)


def null_is(default: object) -> Callable[[object], object]:
    """For a field with a default: null means it too, as typed clients send null for what is not set."""
    return lambda value: default if value is None else value


Documents = Annotated[int, Field(ge=1, le=100), Number]
Snippets = Annotated[int, Field(ge=0, le=100), Number]


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


Included = Annotated[list[Literal["abstract"]], Field(max_length=10)]
Flag = Annotated[StrictBool, BeforeValidator(null_is(False), json_schema_input_type=StrictBool | None)]
Name = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_VALUE_CHARACTERS), AfterValidator(_not_blank)
]
Names = Annotated[
    tuple[Name, ...],
    Field(max_length=MAX_VALUES),
    BeforeValidator(
        null_is(()), json_schema_input_type=Annotated[list[Name], Field(max_length=MAX_VALUES)] | None
    ),
]
Offset = Annotated[int, Field(ge=0, lt=MAX_CANDIDATES), Number]


class SearchFilters(BaseModel):
    """Which documents can be found; all filters must be met. They change no score."""

    published_after: Day | None = Field(
        default=None,
        description="Only documents published that day or later. Of a date that is known in part, the first "
        "day counts. Documents without a date are left out, unless undated.",
    )
    published_before: Day | None = Field(
        default=None, description="Only documents published before that day; otherwise as published_after."
    )
    undated: Flag = Field(default=False, description="Let documents without a date pass a limit of dates.")
    types: Names = Field(default=(), description="Publication types, of which one is enough.")
    languages: Names = Field(
        default=(), description="English names or ISO 639 codes, of which one is enough."
    )
    headings: Names = Field(
        default=(), description="MeSH headings, with a qualifier or not (Asthma/genetics); all are needed."
    )
    journals: Names = Field(
        default=(), description="NLM's abbreviations, titles, ISSNs or NLM's ids, of which one is enough."
    )
    authors: Names = Field(default=(), description="As in Smith, Smith J or John Smith; all are needed.")
    has_abstract: Flag = False
    free_full_text: Flag = Field(default=False, description="Only what is in PubMed Central.")
    exclude_retracted: Flag = Field(
        default=False, description="Leave out retracted articles, before anything is ranked."
    )

    def filters(self) -> Filters:
        """Raises FilterError for filters that contradict each other."""
        return Filters(**{name: getattr(self, name) for name in SearchFilters.model_fields})


OF_BIOASQ = frozenset(
    {"documents", "snippets", "concepts", "triples", "ideal_answer", "exact_answer", "answerReady"}
)
"""Further keys of questions in BioASQ's files, which may be sent as they are."""


def _ignored(schema: dict[str, Any]) -> None:
    ignored = {"description": "As questions in BioASQ's files have it; ignored."}
    schema["properties"] |= dict.fromkeys(sorted(OF_BIOASQ), ignored)


class SearchRequest(SearchFilters):
    """A question, alone or as in a BioASQ file, with options for the answer. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_ignored)

    body: Body
    id: Annotated[str, Field(min_length=1)] | None = None
    type: Type | None = None
    max_documents: Annotated[
        Documents, BeforeValidator(null_is(MAX_ITEMS), json_schema_input_type=Documents | None)
    ] = MAX_ITEMS
    max_snippets: Annotated[
        Snippets, BeforeValidator(null_is(MAX_ITEMS), json_schema_input_type=Snippets | None)
    ] = MAX_ITEMS
    candidates: Annotated[int, Field(ge=1, le=MAX_CANDIDATES), Number] | None = Field(
        default=None,
        description="Number of documents that BM25 retrieves to be re-ranked; BIOQA_CANDIDATES if absent.",
    )
    order: Annotated[Order, BeforeValidator(null_is("relevance"), json_schema_input_type=Order | None)] = (
        Field(
            default="relevance",
            description="date: the candidates by date, the newest first, and those without a date last.",
        )
    )
    # The description is inside: before 2.12, pydantic loses validators of a field that is given a Field.
    offset: Annotated[
        Offset,
        BeforeValidator(null_is(0), json_schema_input_type=Offset | None),
        Field(
            description="For further results: next_offset of the answer before. Each run of candidates is "
            "ranked by itself, and an answer ends where a run does."
        ),
    ] = 0
    facets: Flag = Field(
        default=False, description=f"Count the {MAX_CANDIDATES} best documents by year, type and the like."
    )
    syntax: Annotated[Mode, BeforeValidator(null_is("auto"), json_schema_input_type=Mode | None)] = Field(
        default="auto",
        description="Whether PMIDs, DOIs and PMCIDs, PubMed's field tags, phrases and AND, OR, NOT are read "
        "as such: where they show themselves, always (so that any fault in a query is reported), or never.",
    )
    literal: Flag = Field(
        default=False,
        description="Search for the words of the question alone: no other spellings, abbreviations or "
        "synonyms, and no corrections of misspelt words.",
    )
    weak_snippets: Flag = Field(
        default=False,
        description="Also snippets that are much weaker than the best one, up to max_snippets. Without "
        "them, snippet F1 is higher.",
    )
    ranker: str | None = Field(default=None, description="One of GET /v1/models; the default if absent.")
    timeout_ms: Annotated[int, Field(ge=100, le=3_600_000), Number] | None = Field(
        default=None,
        description="Milliseconds that the question may wait before it is ranked; default and maximum are "
        "BIOQA_REQUEST_TIMEOUT_S.",
    )
    include: Annotated[Included, BeforeValidator(null_is([]), json_schema_input_type=Included | None)] = (
        Field(
            default=[], description="What the answer's documents have beside their titles: their abstracts."
        )
    )

    @model_validator(mode="before")
    @classmethod
    def _without_keys_of_bioasq(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        return {key: value for key, value in data.items() if key not in OF_BIOASQ}

    def options(self, candidates: int) -> SearchOptions:
        """``candidates``: how many, if the request does not say. Raises FilterError and SyntaxFault."""
        return SearchOptions(
            self.max_documents,
            self.max_snippets,
            self.candidates or candidates,
            self.filters(),
            self.order,
            self.offset,
            self.facets,
            interpret(self.body, self.syntax),
            self.literal,
            self.weak_snippets,
        )


class SearchAddress(SearchRequest):
    """``SearchRequest`` as the parameters of an address, which are text. Empty ones count as absent."""

    undated: bool = False
    has_abstract: bool = False
    free_full_text: bool = False
    exclude_retracted: bool = False
    facets: bool = False
    literal: bool = False
    weak_snippets: bool = False
    max_documents: Annotated[int, Field(ge=1, le=100)] = MAX_ITEMS
    max_snippets: Annotated[int, Field(ge=0, le=100)] = MAX_ITEMS
    candidates: Annotated[int, Field(ge=1, le=MAX_CANDIDATES)] | None = None
    offset: Annotated[int, Field(ge=0, lt=MAX_CANDIDATES)] = 0
    timeout_ms: Annotated[int, Field(ge=100, le=3_600_000)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _given(cls, parameters: object) -> object:
        if not isinstance(parameters, dict):
            return parameters
        given = {
            name: [each for each in value if each != ""] if isinstance(value, list) else value
            for name, value in parameters.items()
        }
        return {name: value for name, value in given.items() if value != ""}


class DocumentPart(BaseModel):
    label: str
    begin: int
    end: int


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
    parts: list[DocumentPart] | None = Field(
        default=None, description="The abstract's parts; each begins with its label. Given with the abstract."
    )
    metadata: CitationMetadata


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
    score: float = Field(description=SCORE)


class NamedArticle(BaseModel):
    kind: Literal["pmid", "pmcid", "doi"]
    value: str


class CorrectedWord(BaseModel):
    word: str = Field(description="As the question has it; no document has this word.")
    correction: str


class ExpandedWords(BaseModel):
    words: str = Field(description="As the question has them.")
    also: list[str] = Field(description="What was searched for beside them.")
    why: Literal["spelling", "abbreviation", "name", "synonym"] = Field(
        description="spelling: other ways to write the same word, such as Greek letters or hyphens. "
        "name: brand names, British and American names of drugs, lay words."
    )


class InterpretedQuestion(BaseModel):
    """What was searched for instead of the question as it is."""

    words: str = Field(
        description="What the documents are ranked by; empty if they are only listed, the newest first."
    )
    restriction: str | None = Field(description="What they must be like, in PubMed's notation.")
    identifiers: list[NamedArticle] = Field(description="The articles that the question names, if it does.")
    corrections: list[CorrectedWord] = Field(
        description="Words that were searched for instead of misspelt ones; none with literal."
    )
    expansions: list[ExpandedWords] = Field(description="What was searched for, too; none with literal.")


class Counted(BaseModel):
    value: str
    documents: int


class CountedYear(BaseModel):
    year: int
    documents: int


class CountedDocuments(BaseModel):
    """Numbers of documents among the best ones."""

    documents: int = Field(description="That are counted.")
    years: list[CountedYear] = Field(description="In order; years without any are missing.")
    undated: int
    types: list[Counted] = Field(description=f"Here and below, the {FACET_VALUES} most frequent.")
    languages: list[Counted]
    journals: list[Counted]
    headings: list[Counted]
    free_full_text: int
    retracted: int


class EmptyingFilter(BaseModel):
    filter: str = Field(description="The name of its field; restriction for a part of the question.")
    condition: str = Field(description="What it asks for.")
    documents: int = Field(description="That would be found without it.")


class StageTimings(BaseModel):
    wait: float = Field(description="In queues.")
    retrieve: float
    rerank: float
    select: float
    total: float


class QuestionLanguage(BaseModel):
    code: str = Field(description="ISO 639-1.")
    name: str = Field(description="In English.")


class AnswerConfidence(BaseModel):
    """Whether the answer answers its question, as estimated: docs/confidence.md."""

    probability: Annotated[float, Field(ge=0, le=1)] = Field(
        description="That one of the ten best documents answers the question."
    )
    level: Level = Field(description="`unlikely`: treat the answer as if nothing had been found.")
    language: QuestionLanguage | None = Field(
        description="The language that the question seems to be in, if that is not English."
    )
    caution: str = Field(description="The same in words, for people; empty if there is nothing to say.")


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
    timings_ms: StageTimings
    truncated_sentences: int = Field(description="Sentences that the ranker truncated.")
    calibrated: bool = Field(
        default=False, description="Whether scores are probabilities, comparable between answers."
    )
    degraded: bool = Field(description="Whether the ranker failed and BM25 answered instead.")
    degraded_reason: str | None
    condensed: str | None = Field(
        description="The words of a long question that it was answered by; null if it was answered as asked."
    )
    confidence: AnswerConfidence | None = Field(
        default=None, description="Whether the documents answer the question; null where it is not estimated."
    )
    interpretation: InterpretedQuestion | None = Field(description="None if the question was taken as it is.")
    order: Order
    offset: int
    next_offset: int | None = Field(description="Offset of further results; none if there are no more.")
    candidates: int = Field(description="Documents that the ranker read.")
    facets: CountedDocuments | None = Field(description="If they were asked for.")
    emptied: list[EmptyingFilter] = Field(
        description="If filters leave no document: each with the number that would be found without it. Zero "
        "everywhere: it takes several of them."
    )


class SubmittedQuestion(BaseModel):
    id: str
    type: Type | SkipJsonSchema[None] = None
    body: str
    documents: Annotated[list[str], Field(max_length=MAX_ITEMS)]
    snippets: Annotated[list[SubmittedSnippet], Field(max_length=MAX_ITEMS)]


class Submission(BaseModel):
    """A submission, as the BioASQ site accepts it."""

    questions: list[SubmittedQuestion]


class DocumentSentence(BaseModel):
    section: Literal["title", "abstract"]
    begin: int
    end: int


class StoredDocument(WithStanding):
    """A citation as it is indexed; all offsets count Unicode code points, ends are exclusive."""

    document: str
    pmid: str
    version: int
    title: str
    abstract: str
    published: date | None
    sentences: list[DocumentSentence]
    parts: list[DocumentPart] = Field(description="The abstract's parts; each begins with its label.")
    citation: str = Field(description="As PubMed's summary cites it, with notices of withdrawal.")
    metadata: CitationMetadata


class StoredDocuments(BaseModel):
    """Citations in the order of the request, each once."""

    documents: list[StoredDocument]
    missing: list[str] = Field(description="PMIDs of the request that are not in the index.")


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
    with_text = "abstract" in include
    timings = answer.timings_ms
    return SearchAnswer(
        id=identifier,
        type=answer.question.type,  # type: ignore[arg-type]  # pydantic checks it
        body=answer.question.body,
        documents=[
            AnswerDocument(
                document=d.document.url,
                pmid=d.document.pmid,
                title=d.document.title,
                published=d.document.published,
                score=d.score,
                standing=d.document.metadata.standing.value,
                notices=notices(d.document),
                citation=nlm(d.document),
                abstract=d.document.abstract if with_text else None,
                parts=_parts(d.document) if with_text else None,
                metadata=citation_metadata(d.document.metadata),
            )
            for d in answer.documents
        ],
        snippets=[
            AnswerSnippet(
                document=s.document.url,
                text=s.text,
                beginSection=s.sentence.section,
                endSection=s.sentence.section,
                offsetInBeginSection=s.sentence.begin,
                offsetInEndSection=s.sentence.end,
                standing=s.document.metadata.standing.value,
                score=s.score,
            )
            for s in answer.sentences
        ],
        ranker=answer.ranker,
        ranker_hash=answer.ranker_hash,
        index=answer.index,
        timings_ms=StageTimings(
            wait=timings.wait,
            retrieve=timings.retrieve,
            rerank=timings.rerank,
            select=timings.select,
            total=round(timings.total, 3),
        ),
        truncated_sentences=answer.truncated_sentences,
        calibrated=answer.calibrated,
        degraded=answer.degraded is not None,
        degraded_reason=answer.degraded,
        condensed=answer.condensed,
        confidence=answer_confidence(answer.confidence),
        interpretation=_interpreted(answer.understood),
        order=answer.options.order,
        offset=answer.options.offset,
        next_offset=answer.next_offset,
        candidates=answer.candidates,
        facets=_counted(answer.facets),
        emptied=[
            EmptyingFilter(filter=each.filter, condition=each.condition, documents=each.documents)
            for each in answer.emptied
        ],
    )


def answer_confidence(confidence: Confidence | None) -> AnswerConfidence | None:
    if confidence is None:
        return None
    language = confidence.language
    return AnswerConfidence(
        probability=confidence.probability,
        level=confidence.level,
        language=None if language is None else QuestionLanguage(code=language.code, name=language.name),
        caution=confidence.caution,
    )


def _interpreted(found: Understood | None) -> InterpretedQuestion | None:
    if found is None:
        return None
    return InterpretedQuestion(
        words=found.words,
        restriction=found.restriction,
        identifiers=[NamedArticle(kind=each.kind, value=each.value) for each in found.identifiers],
        corrections=[CorrectedWord(word=each.word, correction=each.correction) for each in found.corrections],
        expansions=[
            ExpandedWords(words=each.words, also=[*each.also], why=each.why) for each in found.expansions
        ],
    )


def _counted(facets: Facets | None) -> CountedDocuments | None:
    if facets is None:
        return None
    return CountedDocuments(
        documents=facets.documents,
        years=[CountedYear(year=year, documents=number) for year, number in facets.years],
        undated=facets.undated,
        types=_counts(facets.types),
        languages=_counts(facets.languages),
        journals=_counts(facets.journals),
        headings=_counts(facets.headings),
        free_full_text=facets.free_full_text,
        retracted=facets.retracted,
    )


def _counts(counts: Counts) -> list[Counted]:
    return [Counted(value=value, documents=number) for value, number in counts]


def stored_document(document: Document) -> StoredDocument:
    return StoredDocument(
        document=document.url,
        pmid=document.pmid,
        version=document.version,
        title=document.title,
        abstract=document.abstract,
        published=document.published,
        sentences=[DocumentSentence(section=s.section, begin=s.begin, end=s.end) for s in document.sentences],
        parts=_parts(document),
        standing=document.metadata.standing.value,
        notices=notices(document),
        citation=nlm(document),
        metadata=citation_metadata(document.metadata),
    )


def notices(document: Document) -> list[Notice]:
    return [
        Notice(kind=each.kind, pmid=each.pmid or None, source=each.source, text=notice_text(each))
        for each in shown_notices(document.metadata)
    ]


def _parts(document: Document) -> list[DocumentPart]:
    return [DocumentPart(label=part.label, begin=part.begin, end=part.end) for part in document.parts]
