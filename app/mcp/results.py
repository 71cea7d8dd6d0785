"""Results of the tools; descriptions here are part of the output schemas, which models read."""

from datetime import date
from typing import Literal

from pydantic import BaseModel, Field

from bioqa.app.exports.links import pubmed_link
from bioqa.app.exports.standing import WARNINGS
from bioqa.app.http.metadata import CitationMetadata
from bioqa.app.http.schemas import InterpretedQuestion, SearchAnswer, StoredDocument, WithStanding
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


class MedlineDocument(Warned):
    """A citation. Offsets count Unicode code points of the section from 0, the end exclusive."""

    pmid: str
    url: str
    title: str
    abstract: str
    published: date | None
    citation: str = Field(description="To cite the article by.")
    parts: list[DocumentPart] = Field(description="Of a structured abstract; each begins with its label.")
    sentences: list[DocumentSentence]
    metadata: CitationMetadata


class Documents(BaseModel):
    documents: list[MedlineDocument]
    missing: list[str] = Field(description="PMIDs that are not in the index.")


def search_result(answer: SearchAnswer) -> SearchResult:
    documents = {each.document: each for each in answer.documents}
    notes = [answer.degraded_reason] if answer.degraded_reason else []
    if answer.condensed:
        notes.append(f"the question is long, and was answered by these of its words: {answer.condensed}")
    if answer.documents and answer.confidence and answer.confidence.caution:
        notes.insert(0, answer.confidence.caution.removesuffix("."))
    if answer.truncated_sentences:
        notes.append(f"{answer.truncated_sentences} sentences were truncated")
    if answer.interpretation:
        notes += _read(answer.interpretation)
    if answer.emptied:
        left_out = "; ".join(
            f"{each.documents} without {each.filter} ({each.condition})" for each in answer.emptied
        )
        notes.append(f"the filters leave no document: {left_out}")
    elif not answer.documents:
        notes.append(_nothing(answer))
    if answer.interpretation and not answer.interpretation.words and not answer.interpretation.identifiers:
        notes.append("documents are listed by date, the newest first, as the question has restrictions only")
    elif answer.documents and not answer.calibrated and not _is_found_by_identifier(answer):
        notes.append("scores are no probabilities: they are comparable within this result only")
    return SearchResult(
        warning=_warning_of_all(answer),
        question=answer.body,
        documents=[
            FoundDocument(
                warning=warning(each),
                pmid=each.pmid,
                url=pubmed_link(each.pmid),
                title=each.title,
                published=each.published,
                citation=each.citation,
                score=each.score,
                metadata=each.metadata,
            )
            for each in answer.documents
        ],
        snippets=[
            FoundSnippet(
                warning=warning(document),
                pmid=document.pmid,
                url=pubmed_link(document.pmid),
                section=each.beginSection,
                begin=each.offsetInBeginSection,
                end=each.offsetInEndSection,
                text=each.text,
                score=each.score,
            )
            for each in answer.snippets
            for document in (documents[each.document],)
        ],
        index=answer.index,
        ranker=answer.ranker,
        answers_question=answer.confidence.level if answer.confidence else None,
        next_offset=answer.next_offset,
        note="; ".join(notes) or None,
    )


def warning(article: WithStanding) -> str | None:
    """Return what a model must know before it reads the article; None if there is nothing."""
    loud = WARNINGS[Standing(article.standing)]
    return " ".join(filter(None, (loud, *(notice.text for notice in article.notices)))) or None


def _warning_of_all(answer: SearchAnswer) -> str | None:
    """Name the retracted and the doubted articles, before anything else is read."""
    named = {
        "RETRACTED, do not rely on": [each.pmid for each in answer.documents if each.standing == "retracted"],
        "DOUBTED BY THEIR JOURNALS": [each.pmid for each in answer.documents if each.standing == "concern"],
    }
    return "; ".join(f"{words}: {', '.join(pmids)}" for words, pmids in named.items() if pmids) or None


def _read(interpretation: InterpretedQuestion) -> list[str]:
    """What was searched for beside the words of the question, or instead of them."""
    notes = []
    if interpretation.corrections:
        taken = ", ".join(each.correction for each in interpretation.corrections)
        asked = ", ".join(each.word for each in interpretation.corrections)
        notes.append(f"results for {taken}, as no article has {asked}; literal searches for {asked}")
    if interpretation.expansions:
        also = "; ".join(f"{each.words}: {', '.join(each.also)}" for each in interpretation.expansions)
        notes.append(f"searched for, too: {also}")
    return notes


def _nothing(answer: SearchAnswer) -> str:
    if answer.interpretation and answer.interpretation.identifiers:
        return "no document of the index has this identifier"
    if answer.offset:
        return "there are no further documents"
    return "no document of the index contains a word of this question"


def _is_found_by_identifier(answer: SearchAnswer) -> bool:
    """Then nothing was ranked, and there are no scores."""
    return answer.interpretation is not None and bool(answer.interpretation.identifiers)


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
        parts=[DocumentPart(label=p.label, begin=p.begin, end=p.end) for p in stored.parts],
        sentences=[
            DocumentSentence(
                section=s.section, begin=s.begin, end=s.end, text=texts[s.section][s.begin : s.end]
            )
            for s in stored.sentences
        ],
    )
