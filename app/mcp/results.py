"""Results of the tools; descriptions here are part of the output schemas, which models read."""

from datetime import date
from typing import Literal

from pydantic import BaseModel, Field

from bioqa.app.http.schemas import SearchAnswer, StoredDocument

Section = Literal["title", "abstract"]


def pubmed_url(pmid: str) -> str:
    return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"


class FoundDocument(BaseModel):
    pmid: str
    url: str
    title: str
    published: date | None = Field(description="The earliest day that the record allows, if it has a date.")
    score: float = Field(description="Comparable within one result only.")


class FoundSnippet(BaseModel):
    """A sentence: ``text`` is the section's text from ``begin`` up to ``end``."""

    pmid: str
    url: str
    section: Section
    begin: int = Field(description="Offset in the section, in Unicode code points from 0.")
    end: int = Field(description="Exclusive.")
    text: str
    score: float = Field(description="Comparable within one result only.")


class SearchResult(BaseModel):
    """Documents and snippets, best first; each snippet is of one of the documents."""

    question: str
    documents: list[FoundDocument]
    snippets: list[FoundSnippet]
    index: str
    ranker: str
    note: str | None = Field(description="Limitations of this result, if any.")


class DocumentPart(BaseModel):
    label: str
    begin: int
    end: int


class DocumentSentence(BaseModel):
    section: Section
    begin: int
    end: int
    text: str


class MedlineDocument(BaseModel):
    """A citation. Offsets count Unicode code points of the section from 0, the end exclusive."""

    pmid: str
    url: str
    title: str
    abstract: str
    published: date | None
    parts: list[DocumentPart] = Field(description="Of a structured abstract; each begins with its label.")
    sentences: list[DocumentSentence]


class Documents(BaseModel):
    documents: list[MedlineDocument]
    missing: list[str] = Field(description="PMIDs that are not in the index.")


def search_result(answer: SearchAnswer) -> SearchResult:
    pmids = {each.document: each.pmid for each in answer.documents}
    notes = [answer.degraded_reason] if answer.degraded_reason else []
    if answer.truncated_sentences:
        notes.append(f"{answer.truncated_sentences} sentences were truncated")
    if not answer.documents:
        notes.append("no document of the index contains a word of this question")
    return SearchResult(
        question=answer.body,
        documents=[
            FoundDocument(
                pmid=each.pmid,
                url=pubmed_url(each.pmid),
                title=each.title,
                published=each.published,
                score=each.score,
            )
            for each in answer.documents
        ],
        snippets=[
            FoundSnippet(
                pmid=pmids[each.document],
                url=pubmed_url(pmids[each.document]),
                section=each.beginSection,
                begin=each.offsetInBeginSection,
                end=each.offsetInEndSection,
                text=each.text,
                score=each.score,
            )
            for each in answer.snippets
        ],
        index=answer.index,
        ranker=answer.ranker,
        note="; ".join(notes) or None,
    )


def medline_document(stored: StoredDocument) -> MedlineDocument:
    texts: dict[Section, str] = {"title": stored.title, "abstract": stored.abstract}
    return MedlineDocument(
        pmid=stored.pmid,
        url=pubmed_url(stored.pmid),
        title=stored.title,
        abstract=stored.abstract,
        published=stored.published,
        parts=[DocumentPart(label=p.label, begin=p.begin, end=p.end) for p in stored.parts],
        sentences=[
            DocumentSentence(
                section=s.section, begin=s.begin, end=s.end, text=texts[s.section][s.begin : s.end]
            )
            for s in stored.sentences
        ],
    )
