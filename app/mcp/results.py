"""Results of the tools; descriptions here are part of the output schemas, which models read."""

from datetime import date
from typing import Literal

from pydantic import BaseModel, Field

from bioqa.app.answers.facets import Facets
from bioqa.app.answers.fusion import FoundBy
from bioqa.app.exports.links import pubmed_link
from bioqa.app.exports.standing import WARNINGS
from bioqa.app.http.explanations import ExplainedAnswer
from bioqa.app.http.metadata import CitationMetadata
from bioqa.app.http.schemas import (
    AnswerDocument,
    SearchAnswer,
    SimilarDocuments,
    StoredDocument,
    WithStanding,
)
from bioqa.app.http.schemas import SimilarDocument as SimilarFound
from bioqa.bioasq.domain import Part
from bioqa.bioasq.metadata import Standing
from bioqa.models.answers.confidence import Level
from bioqa.system.errors import BioqaError

Section = Literal["title", "abstract"]
Stage = Literal["words", "meaning"]


class Warned(BaseModel):
    """The warning comes first, so that it is read before the text that it is about."""

    warning: str | None = Field(
        description="Retracted, doubted or corrected, with the notices: say so whenever you mention it."
    )


SCORE = "The probability that it is relevant to the question, unless the note says otherwise."


PUBLISHED = "The earliest day that the record allows, if it has a date."


class FoundDetails(BaseModel):
    title: str
    published: date | None = Field(description=PUBLISHED)
    metadata: CitationMetadata


class FoundDocument(Warned):
    pmid: str
    url: str
    citation: str = Field(description="To cite the article by: authors, title, journal, year.")
    score: float = Field(description=SCORE)
    details: FoundDetails | None = Field(description="If they were asked for.")


class SimilarDocument(Warned):
    pmid: str
    url: str
    citation: str = Field(description="To cite the article by: authors, title, journal, year.")
    found_by: list[Stage] = Field(description="Whether it has the article's words, or its meaning, or both.")
    details: FoundDetails | None = Field(description="If they were asked for.")


class FoundSnippet(Warned):
    """A sentence: ``text`` is the section's text from ``begin`` up to ``end``."""

    pmid: str
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


class DocumentDetails(BaseModel):
    """Offsets count Unicode code points of the section from 0, the end exclusive."""

    published: date | None = Field(description=PUBLISHED)
    parts: list[Part] = Field(description="Of a structured abstract; each begins with its label.")
    sentences: list[DocumentSentence]
    metadata: CitationMetadata


class MedlineDocument(Warned):
    """An article's record."""

    pmid: str
    url: str
    citation: str = Field(description="To cite the article by: authors, title, journal, year.")
    title: str
    abstract: str
    details: DocumentDetails | None = Field(description="If they were asked for.")
    note: str | None = Field(description="What was left out to keep the result short, if anything.")


class Documents(BaseModel):
    documents: list[MedlineDocument]
    missing: list[str] = Field(description="PMIDs that are not in the index.")
    left_out: list[str] = Field(description="PMIDs of articles for which max_characters was too small.")


class SimilarArticles(BaseModel):
    """Articles that are like another one, the most similar first."""

    pmid: str = Field(description="The article that they are like.")
    documents: list[SimilarDocument]
    note: str | None = Field(description="What is to be known of this result, if anything.")


class Citations(BaseModel):
    text: str = Field(description="The citations in that format, in the order of the PMIDs.")


class Why(BaseModel):
    """Where an article stood in the answer to a question, and why."""

    pmid: str
    title: str | None = Field(description="null if the index does not have the article.")
    matched: list[str] = Field(description="What it was found by, the most telling first.")
    retrieval_rank: int | None = Field(description="Among all documents by words; null beyond 1,000.")
    is_candidate: bool = Field(description="Whether the ranker read it.")
    rank: int | None = Field(description="Where the ranker put it, or would have.")
    selected: bool = Field(description="Whether it is one of the documents of the answer.")
    needed: list[str] = Field(description="What would have had to be different for it to be in the answer.")


def search_result(answer: SearchAnswer, *, details: bool = False) -> SearchResult:
    documents = {document.document: document for document in answer.documents}
    return SearchResult(
        warning=_warning_of_all(answer),
        question=answer.body,
        documents=[
            FoundDocument(
                warning=warning(document),
                pmid=document.pmid,
                url=pubmed_link(document.pmid),
                citation=document.citation,
                score=document.score,
                details=_found_details(document) if details else None,
            )
            for document in answer.documents
        ],
        snippets=[
            FoundSnippet(
                warning=warning(document),
                pmid=document.pmid,
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


def similar_articles(similar: SimilarDocuments, *, details: bool = False) -> SimilarArticles:
    return SimilarArticles(
        pmid=similar.pmid,
        documents=[
            SimilarDocument(
                warning=warning(document),
                pmid=document.pmid,
                url=pubmed_link(document.pmid),
                citation=document.citation,
                found_by=_stages(document.found_by),
                details=_found_details(document) if details else None,
            )
            for document in similar.documents
        ],
        note=" ".join(remark.text for remark in similar.remarks) or None,
    )


def _stages(found_by: FoundBy | None) -> list[Stage]:
    if found_by is None:
        return ["words"]
    by_words: list[Stage] = [] if found_by.words is None else ["words"]
    return by_words if found_by.vectors is None else [*by_words, "meaning"]


def _found_details(document: AnswerDocument | SimilarFound) -> FoundDetails:
    return FoundDetails(title=document.title, published=document.published, metadata=document.metadata)


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


def medline_document(stored: StoredDocument, *, details: bool = False) -> MedlineDocument:
    return MedlineDocument(
        warning=warning(stored),
        pmid=stored.pmid,
        url=pubmed_link(stored.pmid),
        citation=stored.citation,
        title=stored.title,
        abstract=stored.abstract,
        details=_details(stored) if details else None,
        note=None,
    )


def _details(stored: StoredDocument) -> DocumentDetails:
    texts: dict[Section, str] = {"title": stored.title, "abstract": stored.abstract}
    return DocumentDetails(
        published=stored.published,
        metadata=stored.metadata,
        parts=stored.parts,
        sentences=[
            DocumentSentence(
                section=s.section, begin=s.begin, end=s.end, text=texts[s.section][s.begin : s.end]
            )
            for s in stored.sentences
        ],
    )


def why(explained: ExplainedAnswer, pmid: str) -> Why:
    """Raises BioqaError if there is nothing to explain."""
    retrieval = explained.retrieval
    if retrieval is None:
        raise BioqaError("the question has no words to rank by: its documents are only listed")
    return Why(
        pmid=pmid,
        title=retrieval.title,
        matched=[term.text for term in retrieval.terms],
        retrieval_rank=retrieval.rank,
        is_candidate=retrieval.is_candidate,
        rank=explained.ranking.rank if explained.ranking else None,
        selected=explained.selection.selected if explained.selection else False,
        needed=[*explained.needed],
    )
