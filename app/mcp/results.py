"""Results of the tools; descriptions here are part of the output schemas, which models read."""

from datetime import date
from typing import Literal

from pydantic import BaseModel, Field

from bioqa.app.answers.facets import Facets
from bioqa.app.exports.links import pubmed_link
from bioqa.app.exports.standing import WARNINGS
from bioqa.app.http.metadata import CitationMetadata
from bioqa.app.http.schemas import SearchAnswer, StoredDocument, WithStanding
from bioqa.bioasq.domain import Part
from bioqa.bioasq.metadata import Standing
from bioqa.models.answers.confidence import Level

Section = Literal["title", "abstract"]


class Warned(BaseModel):
    """The warning comes first, so that it is read before the text that it is about."""

    warning: str | None = Field(
        description="Retracted, doubted or corrected, with the notices: say so whenever you mention it."
    )


SCORE = "The probability that it is relevant to the question, unless the note says otherwise."


class FoundDocument(Warned):
    pmid: str
    url: str
    title: str
    published: date | None = Field(description="The earliest day that the record allows, if it has a date.")
    citation: str = Field(description="To cite the article by.")
    score: float = Field(description=SCORE)
    metadata: CitationMetadata


class FoundSnippet(Warned):
    """A sentence: ``text`` is the section's text from ``begin`` up to ``end``."""

    pmid: str
    url: str
    section: Section
    begin: int = Field(description="Offset in the section, in Unicode code points from 0.")
    end: int = Field(description="Exclusive.")
    text: str
    score: float = Field(description=SCORE)


class SearchResult(BaseModel):
    """Documents and snippets, best first; each snippet is of one of the documents."""

    warning: str | None = Field(description="Which of these articles must not be relied on.")
    question: str
    documents: list[FoundDocument]
    snippets: list[FoundSnippet]
    index: str
    ranker: str
    answers_question: Level | None = Field(
        description="Whether these articles answer the question, as estimated. If unlikely, say that nothing "
        "was found instead of citing them."
    )
    next_offset: int | None = Field(description="Offset of further documents; null if there are no more.")
    facets: Facets | None = Field(description="Numbers of articles by year, type and the like, if asked for.")
    note: str | None = Field(description="What is to be known of this result, if anything.")


class DocumentSentence(BaseModel):
    section: Section
    begin: int
    end: int
    text: str


class MedlineDocument(Warned):
    """A citation. Offsets count Unicode code points of the section from 0, the end exclusive."""

    pmid: str
    url: str
    title: str
    abstract: str
    published: date | None
    citation: str = Field(description="To cite the article by.")
    parts: list[Part] = Field(description="Of a structured abstract; each begins with its label.")
    sentences: list[DocumentSentence]
    metadata: CitationMetadata


class Documents(BaseModel):
    documents: list[MedlineDocument]
    missing: list[str] = Field(description="PMIDs that are not in the index.")


def search_result(answer: SearchAnswer) -> SearchResult:
    documents = {document.document: document for document in answer.documents}
    return SearchResult(
        warning=_warning_of_all(answer),
        question=answer.body,
        documents=[
            FoundDocument(
                warning=warning(document),
                pmid=document.pmid,
                url=pubmed_link(document.pmid),
                title=document.title,
                published=document.published,
                citation=document.citation,
                score=document.score,
                metadata=document.metadata,
            )
            for document in answer.documents
        ],
        snippets=[
            FoundSnippet(
                warning=warning(document),
                pmid=document.pmid,
                url=pubmed_link(document.pmid),
                section=snippet.beginSection,
                begin=snippet.offsetInBeginSection,
                end=snippet.offsetInEndSection,
                text=snippet.text,
                score=snippet.score,
            )
            for snippet in answer.snippets
            for document in (documents[snippet.document],)
        ],
        index=answer.index,
        ranker=answer.ranker,
        answers_question=answer.confidence.level if answer.confidence else None,
        next_offset=answer.next_offset,
        facets=answer.facets,
        note=" ".join(remark.text for remark in answer.remarks) or None,
    )


def warning(article: WithStanding) -> str | None:
    """Return what a model must know before it reads the article; None if there is nothing."""
    loud = WARNINGS[Standing(article.standing)]
    return " ".join(filter(None, (loud, *(notice.text for notice in article.notices)))) or None


def _warning_of_all(answer: SearchAnswer) -> str | None:
    """Name the retracted and the doubted articles, before anything else is read."""
    named = {
        "RETRACTED, do not rely on": [
            document.pmid for document in answer.documents if document.standing == "retracted"
        ],
        "DOUBTED BY THEIR JOURNALS": [
            document.pmid for document in answer.documents if document.standing == "concern"
        ],
    }
    return "; ".join(f"{words}: {', '.join(pmids)}" for words, pmids in named.items() if pmids) or None


def medline_document(stored: StoredDocument) -> MedlineDocument:
    texts: dict[Section, str] = {"title": stored.title, "abstract": stored.abstract}
    return MedlineDocument(
        warning=warning(stored),
        pmid=stored.pmid,
        url=pubmed_link(stored.pmid),
        title=stored.title,
        abstract=stored.abstract,
        published=stored.published,
        citation=stored.citation,
        metadata=stored.metadata,
        parts=stored.parts,
        sentences=[
            DocumentSentence(
                section=s.section, begin=s.begin, end=s.end, text=texts[s.section][s.begin : s.end]
            )
            for s in stored.sentences
        ],
    )
