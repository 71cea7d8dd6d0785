"""Questions, documents, sentences, snippets and responses: the vocabulary that all packages share.

Offsets are 0-based Unicode code points; the end is exclusive; each section is counted from 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from bioqa.bioasq.metadata import NO_METADATA, Metadata

Section = Literal["title", "abstract"]

PUBMED_URL = "http://www.ncbi.nlm.nih.gov/pubmed/"
"""Prefix of a document's URL in a submission. The official evaluator compares whole strings, so no other form
counts, https included."""

MOST_DOCUMENTS = 10
"""Documents that a submission may have for a question."""

MOST_SNIPPETS = 10
"""Snippets that a submission may have for a question."""

DEFAULT_DOCUMENTS, DEFAULT_SNIPPETS = 10, 10
"""Size of an answer for which nobody has said another."""

DEPTH = 10
"""How many first documents science looks at: measures (MAP at 10), calibration, agreement of documents."""


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
    """A part of a structured abstract, including its label: ``abstract[begin:end]`` starts with ``LABEL: ``.

    The label is empty if the part has none.
    """

    label: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A citation. ``abstract`` is the BioASQ string: parts with their labels, joined by the index's joiner.

    ``published`` is the earliest day that agrees with the record (1 January if only the year is known), or
    None. ``sentences`` are in reading order, those of the title first.
    """

    pmid: str
    version: int
    title: str
    abstract: str
    published: date | None = None
    sentences: tuple[Sentence, ...] = ()
    parts: tuple[Part, ...] = ()
    metadata: Metadata = NO_METADATA

    @property
    def url(self) -> str:
        return PUBMED_URL + self.pmid

    def text(self, section: Section) -> str:
        return self.title if section == "title" else self.abstract

    def sentence_text(self, sentence: Sentence) -> str:
        return self.text(sentence.section)[sentence.begin : sentence.end]

    # For many documents at a time, as these need not make what is stored of sentences into objects.

    @property
    def sentence_count(self) -> int:
        return len(self.sentences)

    @property
    def title_sentences(self) -> int:
        """Number of sentences of the title."""
        return sum(sentence.section == "title" for sentence in self.sentences)

    def sentence_spans(self) -> Sequence[int]:
        """[2 · sentences] begin and end of each, in turn."""
        return [position for sentence in self.sentences for position in (sentence.begin, sentence.end)]

    def sentence_texts(self) -> list[str]:
        """[sentences]"""
        return [self.sentence_text(sentence) for sentence in self.sentences]

    def snippet(self, sentence: Sentence) -> "Snippet":
        section = sentence.section
        text = self.sentence_text(sentence)
        return Snippet(self.url, text, section, section, sentence.begin, sentence.end)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document retrieved by the first stage, with its BM25 score."""

    document: Document
    score: float
    cosine: float | None = None
    """That of the vectors of question and document, by the bundled encoder; None if it is not known."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A snippet as it appears in BioASQ files.

    Golden files break every rule of the format, so any string is accepted as a section and any integer as
    an offset. Snippets written by this project have ``begin_section == end_section``, which is a
    ``Section``, and ``text == section_text[begin:end]``.
    """

    document: str
    text: str
    begin_section: str
    end_section: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Response:
    """An entry of a submission or a golden file: a question's documents (URLs) and snippets, best first."""

    question: Question
    documents: tuple[str, ...]
    snippets: tuple[Snippet, ...]
