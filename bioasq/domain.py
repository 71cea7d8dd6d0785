"""The task's language: what is asked, what is searched, and what is answered.

Offsets are 0-based Unicode code points, the end exclusive, counted anew in each section.
"""

from dataclasses import dataclass
from datetime import date
from typing import Literal

Section = Literal["title", "abstract"]
QuestionType = Literal["yesno", "factoid", "list", "summary"]

PUBMED_URL = "http://www.ncbi.nlm.nih.gov/pubmed/"
"""How a submission names a document; the official evaluator compares whole strings: no other form counts."""


MAX_ITEMS = 10
"""Documents, and snippets, that an answer may have."""


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    body: str
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A span of a section's text: ``document.text(section)[begin:end]``."""

    section: Section
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a structured abstract, its label included: ``abstract[begin:end]`` starts with ``LABEL: ``.

    An unlabelled part has an empty label.
    """

    label: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A citation. ``abstract`` is the BioASQ string: parts with their labels, joined by the index's joiner.

    ``published`` is the earliest day that the record allows (a year alone gives 1 January), or None.
    ``sentences`` are in reading order, the title's first.
    """

    pmid: str
    version: int
    title: str
    abstract: str
    published: date | None = None
    sentences: tuple[Sentence, ...] = ()
    parts: tuple[Part, ...] = ()

    @property
    def url(self) -> str:
        return PUBMED_URL + self.pmid

    def text(self, section: Section) -> str:
        return self.title if section == "title" else self.abstract

    def sentence_text(self, sentence: Sentence) -> str:
        return self.text(sentence.section)[sentence.begin : sentence.end]

    def snippet(self, sentence: Sentence) -> "Snippet":
        section = sentence.section
        text = self.sentence_text(sentence)
        return Snippet(self.url, text, section, section, sentence.begin, sentence.end)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that the first stage found, with its BM25 score."""

    document: Document
    score: float


@dataclass(frozen=True, slots=True)
class Snippet:
    """A snippet as BioASQ files hold it.

    Golden files break every rule, so the sections are any string and the offsets any integer here;
    what this project writes has ``begin_section == end_section``, a ``Section``, and
    ``text == section_text[begin:end]``.
    """

    document: str
    text: str
    begin_section: str
    end_section: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Response:
    """One question's documents (URLs) and snippets, best first: an entry of a submission or a golden file."""

    question: Question
    documents: tuple[str, ...]
    snippets: tuple[Snippet, ...]
