"""The judging sheet: questions with pooled documents and sentences, in an order that says nothing of ranks.

A sheet holds all that a judge reads, so that judging needs neither an index nor a ranker. ``docs/judging.md``
describes its form.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from bioqa.bioasq.domain import PUBMED_URL, Document, Question, Section, Sentence, Snippet
from bioqa.bioasq.trec import PMID
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import has_lone_surrogate, read_json, shorten, show, write_json

KIND = "bioqa judging sheet"
FORM = 1

NOT_RELEVANT, RELEVANT = 0, 1
"""Grades of a document."""

NO, BEARS_ON_IT, ANSWERS = 0, 1, 2
"""Grades of a sentence: who reads it, knowing its article's title, has the answer or a real part of it; it
bears on exactly what is asked, but does not answer by itself; neither."""

DOCUMENT_GRADES: Mapping[int, str] = {RELEVANT: "relevant", NOT_RELEVANT: "not relevant"}
SENTENCE_GRADES: Mapping[int, str] = {ANSWERS: "answers", BEARS_ON_IT: "bears on it", NO: "no"}


class SheetError(BioqaError):
    """A file is no judging sheet, or not the one that was made."""


class Item(NamedTuple):
    """What a judge gives a grade: a document of a question, or a sentence of the document."""

    question: str
    pmid: str
    sentence: Sentence | None = None

    @property
    def key(self) -> str:
        """Its name within its question: ``31020319``, or ``31020319/abstract/0-141``."""
        if self.sentence is None:
            return self.pmid
        return f"{self.pmid}/{self.sentence.section}/{self.sentence.begin}-{self.sentence.end}"

    @property
    def grades(self) -> Mapping[int, str]:
        """The grades it can have, the best first, each with its name."""
        return DOCUMENT_GRADES if self.sentence is None else SENTENCE_GRADES


def _refuse_halves(text: str) -> str:
    if has_lone_surrogate(text):
        raise ValueError("has half of a character, which cannot be shown")
    return text


Text = Annotated[str, AfterValidator(_refuse_halves)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SheetSentence(_Part):
    section: Section
    begin: Annotated[int, Field(ge=0)]
    end: int

    def as_sentence(self) -> Sentence:
        return Sentence(self.section, self.begin, self.end)


class SheetDocument(_Part):
    """A document as judges read it, with those of its sentences that are to be judged, in reading order."""

    pmid: Annotated[str, StringConstraints(pattern=f"^{PMID.pattern}$")]
    title: Text
    abstract: Text
    sentences: list[SheetSentence]

    @classmethod
    def of(cls, document: Document, sentences: Iterable[Sentence]) -> Self:
        chosen = {*sentences}
        in_order = [
            SheetSentence(section=s.section, begin=s.begin, end=s.end)
            for s in document.sentences
            if s in chosen
        ]
        return cls(pmid=document.pmid, title=document.title, abstract=document.abstract, sentences=in_order)

    def snippet(self, sentence: Sentence) -> Snippet:
        text = self.title if sentence.section == "title" else self.abstract
        begin, end, section = sentence.begin, sentence.end, sentence.section
        return Snippet(PUBMED_URL + self.pmid, text[begin:end], section, section, begin, end)

    @model_validator(mode="after")
    def _within_the_text(self) -> Self:
        lengths = {"title": len(self.title), "abstract": len(self.abstract)}
        for sentence in self.sentences:
            if not sentence.begin < sentence.end <= lengths[sentence.section]:
                raise ValueError(
                    f"a sentence at {sentence.begin}-{sentence.end} is not in its {sentence.section}"
                )
        if len({*self.sentences}) < len(self.sentences):
            raise ValueError("a sentence is listed twice")
        return self


class SheetQuestion(_Part):
    id: Annotated[Text, StringConstraints(min_length=1)]
    body: Text
    type: Text | None = None
    documents: list[SheetDocument]

    @property
    def question(self) -> Question:
        return Question(self.id, self.body, self.type)

    def items(self) -> Iterator[Item]:
        """What is to be judged: each document, followed by its sentences."""
        for document in self.documents:
            yield Item(self.id, document.pmid)
            for sentence in document.sentences:
                yield Item(self.id, document.pmid, sentence.as_sentence())

    @model_validator(mode="after")
    def _different_documents(self) -> Self:
        if len({document.pmid for document in self.documents}) < len(self.documents):
            raise ValueError("a document is listed twice")
        return self


class SheetContent(_Part):
    """All that judges see, and how it was made."""

    kind: Literal["bioqa judging sheet"] = "bioqa judging sheet"
    form: Literal[1] = 1
    systems: list[Text]
    """The systems that were pooled, by name. Nothing says which of them showed what."""
    depth: int
    """How many of each system's first documents, and first sentences, are in the pool."""
    seed: int
    index: Text
    questions: Annotated[list[SheetQuestion], Field(min_length=1)]

    @model_validator(mode="after")
    def _different_questions(self) -> Self:
        if len({question.id for question in self.questions}) < len(self.questions):
            raise ValueError("a question is listed twice")
        return self

    def digest(self) -> str:
        """SHA-256 of this content as JSON with sorted keys, in ASCII and without spaces."""
        content = SheetContent.model_dump(self, exclude={"id"}, exclude_none=True)
        text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


class Sheet(SheetContent):
    """A sheet whose ``id`` is the digest of its content: judgments belong to exactly one."""

    id: str

    @classmethod
    def of(cls, content: SheetContent) -> Self:
        return cls(
            **{name: getattr(content, name) for name in SheetContent.model_fields}, id=content.digest()
        )

    @cached_property
    def items(self) -> Mapping[tuple[str, str], Item]:
        """Every item, by its question's id and its key."""
        return {(item.question, item.key): item for question in self.questions for item in question.items()}


def read_sheet(path: str | Path) -> Sheet:
    """Read a sheet. Raises SheetError, naming the place, for anything else, and for one that was changed."""
    data = read_json(path)
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise SheetError(f"{path}: is not a judging sheet; `bioqa judge pool` makes one")
    if data.get("form") != FORM:
        raise SheetError(
            f"{path}: is a judging sheet of form {show(data.get('form'))}; this version reads {FORM}"
        )
    try:
        sheet = Sheet.model_validate(data)
    except ValidationError as error:
        raise SheetError(f"{path}: {_describe(error)}") from error
    if sheet.digest() != sheet.id:
        raise SheetError(
            f"{path}: was changed after it was made, so that judgments may not be of what it says now: "
            "restore it, or make another sheet"
        )
    return sheet


def write_sheet(path: str | Path, sheet: Sheet) -> None:
    """Write a sheet, completely or not at all. Raises BioqaError."""
    write_json(path, sheet.model_dump(exclude_none=True))


def _describe(error: ValidationError) -> str:
    fault: Any = error.errors()[0]
    place = ".".join(map(str, fault["loc"]))
    message = fault["msg"].removeprefix("Value error, ")
    return shorten(f"{place}: {message}" if place else message)
