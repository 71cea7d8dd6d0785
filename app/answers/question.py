"""What can be asked of an answer: each option once, with its type, bounds, description and names.

Every face derives its options from ``Options``: the HTTP body is this model, addresses and forms give its
values as text, and the command line's options, the tools for assistants and Python's keyword arguments are
made of its fields. So an option has one name, one limit and one error text everywhere.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.fields import FieldInfo

from bioqa.app.answers.vectors import Retrieval
from bioqa.app.settings import MAX_CANDIDATES
from bioqa.bioasq.domain import DEFAULT_DOCUMENTS, DEFAULT_SNIPPETS
from bioqa.bioasq.trec import pmid as pmid_in
from bioqa.indexer.search.filtering.filters import MAX_VALUE_CHARACTERS, MAX_VALUES, Filters, read_day
from bioqa.indexer.search.notation.interpretation import Interpretation, Mode, interpret
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import shorten, show

MAX_SIZE = 100
"""Documents, and snippets, that an answer may have."""

DEFAULT_CANDIDATES = 100

Order = Literal["relevance", "date"]


class OptionError(BioqaError):
    """Options that cannot be used. ``faults``: the name of each, and what it must be."""

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        super().__init__(faults)  # so that it can be carried from one process to another
        self.faults = faults

    def __str__(self) -> str:
        return "; ".join(f"{name}: {message}" if name else message for name, message in self.faults[:3])


@dataclass(frozen=True, slots=True)
class Named:
    """What else an option is called."""

    short: str = ""
    """In addresses of pages and on the command line, beside its full name."""
    label: str = ""
    """In words, where the page says that it is set."""
    former: tuple[str, ...] = ()
    """Names in addresses of pages until 0.2, which are read for one release more."""


# Types of values

DAY_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "format": "date"},
        {"type": "string", "pattern": r"^[12]\d{3}(-(0[1-9]|1[0-2]))?$"},
    ]
}


def _read_number(value: object) -> object:
    # In JSON, 10.0 is an integer, but "10" and true are not, though pydantic would accept them.
    if isinstance(value, bool | str):
        raise ValueError("must be a valid integer")
    return value


NOT_BLANK = r"[^\s\u001c-\u001f\u0085\ufeff]"
"""A character that neither Python nor JSON Schema counts as white space; their \\s differ."""


def _refuse_blank(value: str) -> str:
    if not re.search(NOT_BLANK, value):
        raise ValueError("must contain more than white space")
    return value


def read_list(value: object) -> object:
    if isinstance(value, str):
        raise ValueError(f"must be a list, such as [{show(value)}]")
    # JSON has lists only; what is frozen has tuples.
    return tuple(value) if isinstance(value, list) else value


_PMID_PREFIX = re.compile(r"^pmid:?\s*", re.IGNORECASE)


def read_pmid(text: str) -> str:
    """Read a PMID, with or without "PMID:", or an address of PubMed. Raises BioqaError for anything else."""
    try:
        return pmid_in(_PMID_PREFIX.sub("", text.strip(" "), count=1))
    except BioqaError as error:
        raise BioqaError(f"{show(text)} is no PMID, such as 26023080, and no address of PubMed") from error


def _read_pmid(value: object) -> object:
    if isinstance(value, float) and value.is_integer():  # in JSON, 1.0 is a whole number
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return value
    try:
        return read_pmid(value)
    except BioqaError as error:
        raise ValueError("must be a PMID, such as 26023080, or an address of PubMed") from error


def split_pmids(values: object) -> object:
    """Of an address: a parameter may be repeated, and have several PMIDs with commas between them."""
    if isinstance(values, list) and all(isinstance(value, str) for value in values):
        return [pmid for value in values for pmid in value.split(",")]
    return values


Number = BeforeValidator(_read_number)
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_VALUE_CHARACTERS),
    AfterValidator(_refuse_blank),
]
ReadPmid = Annotated[str, BeforeValidator(_read_pmid)]
if TYPE_CHECKING:  # what may be given; the model turns it into days and tuples
    Day = date | str
    Names = Sequence[str]
    Pmid = str | int
else:
    Day = Annotated[date, BeforeValidator(read_day), WithJsonSchema(DAY_SCHEMA)]
    Names = Annotated[tuple[Name, ...], Field(max_length=MAX_VALUES), BeforeValidator(read_list)]
    Pmid = ReadPmid

Body = Annotated[
    str,
    StringConstraints(min_length=1),
    AfterValidator(_refuse_blank),
    Field(
        description="The question. White space around it is ignored.",
        json_schema_extra={"pattern": NOT_BLANK},
    ),
]


def allow_null(schema: dict[str, Any]) -> None:
    """Say in the schema what ``NullIsDefault`` does."""
    for name, field in schema.get("properties", {}).items():
        if name in schema.get("required", ()) or {"type": "null"} in field.get("anyOf", ()):
            continue
        kept = {key: field.pop(key) for key in ("title", "description", "default") if key in field}
        schema["properties"][name] = {"anyOf": [field, {"type": "null"}], **kept}


class NullIsDefault(BaseModel):
    """null means a field's default, as typed clients send null for what is not set."""

    model_config = ConfigDict(json_schema_extra=allow_null)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        fields = cls.model_fields
        return {
            name: value
            for name, value in data.items()
            if value is not None or name not in fields or fields[name].is_required()
        }


class Options(NullIsDefault):
    """Which documents can be found, how many of them an answer has, and how the question is read.

    Filters must all be met, and change no score. Further results have an ``offset``: of the documents that
    are found, up to ``MAX_CANDIDATES``, each run of ``candidates`` is ranked by itself, so that results
    neither repeat nor go missing from one offset to the next, and any costs as much as the first. An answer
    ends where its run ends. By date, those documents of the first run are sorted that fit, the newest first
    and those without a date last.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    published_after: Annotated[
        Day | None,
        Field(
            description="Only documents published that day or later. Of a date that is known in part, the "
            "first day counts. Documents without a date are left out, unless undated."
        ),
        Named("after", "published from"),
    ] = None
    published_before: Annotated[
        Day | None,
        Field(description="Only documents published before that day; otherwise as published_after."),
        Named("before", "published before"),
    ] = None
    undated: Annotated[
        StrictBool,
        Field(description="Let documents without a date pass a limit of dates."),
        Named(label="undated ones too"),
    ] = False
    types: Annotated[
        Names,
        Field(
            description="Publication types of NLM's, of which one is enough: Review, Systematic Review, "
            "Meta-Analysis, Randomized Controlled Trial, Case Reports, …"
        ),
        Named("type", "type"),
    ] = ()
    languages: Annotated[
        Names,
        Field(description="English names or ISO 639 codes, of which one is enough."),
        Named("language", "language"),
    ] = ()
    headings: Annotated[
        Names,
        Field(description="MeSH headings, with a qualifier or not (Asthma/genetics); all are needed."),
        Named("heading", "MeSH heading", ("mesh",)),
    ] = ()
    journals: Annotated[
        Names,
        Field(description="NLM's abbreviations, titles, ISSNs or NLM's ids, of which one is enough."),
        Named("journal", "journal"),
    ] = ()
    authors: Annotated[
        Names,
        Field(description="As in Smith, Smith J or John Smith; all are needed."),
        Named("author", "author"),
    ] = ()
    has_abstract: Annotated[
        StrictBool,
        Field(description="Only documents with an abstract."),
        Named(label="with an abstract", former=("abstract",)),
    ] = False
    free_full_text: Annotated[
        StrictBool,
        Field(description="Only what is in PubMed Central."),
        Named(label="free full text", former=("free",)),
    ] = False
    exclude_retracted: Annotated[
        StrictBool,
        Field(description="Leave out retracted articles, before anything is ranked."),
        Named(label="without retracted articles", former=("unretracted",)),
    ] = False
    max_documents: Annotated[
        int,
        Field(ge=1, le=MAX_SIZE, description="Maximum number of documents."),
        Number,
        Named(former=("n",)),
    ] = DEFAULT_DOCUMENTS
    max_snippets: Annotated[
        int, Field(ge=0, le=MAX_SIZE, description="Maximum number of snippets."), Number
    ] = DEFAULT_SNIPPETS
    candidates: Annotated[
        Annotated[int, Field(ge=1, le=MAX_CANDIDATES), Number] | None,
        Field(description="Documents that are retrieved to be ranked; BIOQA_CANDIDATES if absent."),
    ] = None
    order: Annotated[
        Order,
        Field(
            description="date: the candidates that fit by date, the newest first, and those without a date "
            "last. One fits if its score is at least .05 and a fifth of the best one's."
        ),
    ] = "relevance"
    offset: Annotated[
        int,
        Field(
            ge=0,
            lt=MAX_CANDIDATES,
            description="For further results: next_offset of the answer before. Each run of candidates is "
            "ranked by itself, and an answer ends where a run does.",
        ),
        Number,
    ] = 0
    facets: Annotated[
        StrictBool,
        Field(description=f"Count the {MAX_CANDIDATES} best documents by year, type and the like."),
        Named(former=("counts",)),
    ] = False
    syntax: Annotated[
        Mode,
        Field(
            description="Whether PMIDs, DOIs and PMCIDs, PubMed's field tags, phrases and AND, OR, NOT are "
            "read as such: where they show themselves, always (so that any fault in a query is reported), or "
            "never."
        ),
    ] = "auto"
    literal: Annotated[
        StrictBool,
        Field(
            description="Search for the words of the question alone: no other spellings, abbreviations or "
            "synonyms, and no corrections of misspelt words."
        ),
    ] = False
    retrieval: Annotated[
        Retrieval,
        Field(
            description="How documents are found: by their words, by vectors of their meaning, or by both. "
            "An index without vectors is searched by words; so is any with literal."
        ),
    ] = "both"
    weak_snippets: Annotated[
        StrictBool,
        Field(
            description="Also snippets that are much weaker than the best one, up to max_snippets. Without "
            "them, snippet F1 is higher."
        ),
    ] = False

    @property
    def run(self) -> int:
        """How many documents are ranked together."""
        return self.candidates or DEFAULT_CANDIDATES

    @property
    def found_by(self) -> Retrieval:
        """What finds the candidates: who asks literally wants words alone."""
        return "words" if self.literal else self.retrieval

    def as_filters(self) -> Filters:
        """Raises FilterError for filters that contradict each other, or name what there is not."""
        return Filters(**{name: getattr(self, name) for name in FILTERS})

    def interpretation(self, body: str) -> Interpretation | None:
        """What the question means, if it is not to be taken as it is. Raises SyntaxFault."""
        return interpret(body, self.syntax)

    def check(self, body: str) -> None:
        """Raises FilterError and SyntaxFault, as finding candidates would."""
        self.as_filters()
        self.interpretation(body)

    def ready(self, candidates: int) -> "Options":
        """These options alone, without what a request adds to them. ``candidates``: how many, if they do not
        say."""
        kind = ExplainOptions if isinstance(self, ExplainOptions) else Options
        values = {name: getattr(self, name) for name in kind.model_fields}
        return kind.model_construct(**values | {"candidates": self.candidates or candidates})

    def with_changes(self, **changes: Any) -> Self:
        """These options with others in place of some. Unchecked: for values of our own."""
        return self.model_copy(update=changes)


class ExplainOptions(Options):
    """Options, and an article whose place in the answer, or absence from it, is to be explained."""

    pmid: Pmid = Field(description="An article, in the answer or not: its PMID, or its address.")

    @model_validator(mode="after")
    def _of_first_results(self) -> "ExplainOptions":
        if self.order != "relevance" or self.offset or self.facets:
            raise ValueError("order, offset and facets change nothing that is explained: omit them")
        return self


DEFAULT_OPTIONS = Options()

FILTERS = tuple(field.name for field in fields(Filters) if field.name in Options.model_fields)
"""The options that are filters."""

OF_EXPLANATIONS = tuple(name for name in Options.model_fields if name not in ("order", "offset", "facets"))
OF_TEST_SETS = (*FILTERS, "candidates", "literal", "retrieval", "weak_snippets")
"""A submission has at most ten documents and snippets a question, by relevance, and no notation."""


def names_of(field: FieldInfo) -> Named:
    return next((data for data in field.metadata if isinstance(data, Named)), Named())


def option_names(field_name: str, field: FieldInfo) -> tuple[str, ...]:
    """By which an option may be given as text: its short name first, if it has one, then its full name."""
    short = names_of(field).short
    return (short, field_name) if short else (field_name,)


# Values as text

Model = TypeVar("Model", bound=BaseModel)

_FLAGS = dict.fromkeys(("1", "true", "on", "yes"), True) | dict.fromkeys(("0", "false", "off", "no"), False)
_NUMBER = re.compile(r"(-?\d{1,18})(?:\.0{0,18})?", re.ASCII)


def is_made_of(annotation: Any, kind: type) -> bool:
    """Whether an option's values are of a type, or may be."""
    return annotation is kind or any(is_made_of(part, kind) for part in get_args(annotation))


def takes_many(field: FieldInfo) -> bool:
    return get_origin(field.annotation) is tuple


def read_texts(model: type[BaseModel], given: Iterable[tuple[str, object]]) -> dict[str, Any]:
    """The values of an address, a form or a command line by the model's names: numbers and flags are text
    there, short and former names are read, and empty texts count as absent. Values that are no text stay.
    """
    by_name = dict(_names(model))
    values: dict[str, Any] = {}
    for key, value in given:
        name = by_name.get(key, key)
        field = model.model_fields.get(name)
        if value == "" or value is None:
            continue
        if field is None:
            values[name] = value
        elif takes_many(field):
            several = value if isinstance(value, list | tuple) else [value]
            values[name] = (*values.get(name, ()), *(item for item in several if item != ""))
        else:
            values[name] = _read_text(value[-1] if isinstance(value, list) and value else value, field)
    return {name: value for name, value in values.items() if value != ()}


def _names(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        for other_name in (*option_names(name, field), *names_of(field).former):
            yield other_name, name


def _read_text(value: object, field: FieldInfo) -> object:
    if not isinstance(value, str):
        return value
    if is_made_of(field.annotation, bool):
        return _FLAGS.get(value.lower(), value)
    if is_made_of(field.annotation, int) and (number := _NUMBER.fullmatch(value)):
        return int(number[1])
    return value


# Faults


def read(model: type[Model], values: Mapping[str, Any]) -> Model:
    """Check values. Raises OptionError, in the words of every face."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        faults = [
            (
                field_name(fault["loc"]),
                "is not an option" if fault["type"] == "extra_forbidden" else fault_message(fault),
            )
            for fault in error.errors()
        ]
        raise OptionError(faults) from None


def field_name(location: Sequence[int | str]) -> str:
    name = ""
    for step in location:
        name += f"[{step}]" if isinstance(step, int) else f".{step}" if name else step
    return shorten(name)


def fault_message(fault: Mapping[str, Any]) -> str:
    """Reword an error of pydantic."""
    if fault["type"] == "string_unicode":
        return "contains half a character (a lone surrogate)"
    if fault["type"] == "missing":
        return "is missing"
    if fault["type"] == "extra_forbidden":
        return "is not a field of this request"
    message = str(fault["msg"]).removeprefix("Value error, ")
    for pydantic, ours in _REWORDED:
        message = message.replace(pydantic, ours)
    return shorten(message)


_REWORDED = (
    ("Input should be", "must be"),
    ("String should have", "must have"),
    ("Value should have", "must have"),
    ("Tuple should have", "must have"),
    (" after validation", ""),
    ("valid tuple", "valid list"),
)
