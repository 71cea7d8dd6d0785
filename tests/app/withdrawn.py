"""An answer, and an index, in which one article is retracted and another doubted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bioqa.app.answers.answering import Answer
from bioqa.bioasq.domain import Candidate, Document
from bioqa.bioasq.metadata import Correction, Metadata
from bioqa.indexer.search.base import SearchIndex

RETRACTED = "90000001"
DOUBTED = "90000007"
ERRATUM = "90000013"

NOTICE = "Retraction in: Vellum Q. Invent J. 2020 Feb;4(2):11. PMID: 90000002."
METADATA = {
    RETRACTED: Metadata(
        corrections=(Correction("RetractionIn", "90000002", "Vellum Q. Invent J. 2020 Feb;4(2):11"),)
    ),
    DOUBTED: Metadata(
        corrections=(Correction("ExpressionOfConcernIn", "90000003", "<i>Invent</i> J. 2020"),)
    ),
    ERRATUM: Metadata(corrections=(Correction("ErratumIn", "90000004", "Invent J. 2021"),)),
}


def marked(document: Document) -> Document:
    return replace(document, metadata=METADATA.get(document.pmid, document.metadata))


class WithdrawingIndex:
    """The index given, in which three of the articles on metformin have notices."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    def search(self, question: str, size: int = 100, *rest: Any, **named: Any) -> list[Candidate]:
        return [
            replace(candidate, document=marked(candidate.document))
            for candidate in self._index.search(question, size, *rest, **named)
        ]

    def get(self, pmids: Sequence[str]) -> Mapping[str, Document]:
        return {pmid: marked(document) for pmid, document in self._index.get(pmids).items()}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)


def marked_answer(answer: Answer) -> Answer:
    return replace(
        answer,
        documents=tuple(replace(each, document=marked(each.document)) for each in answer.documents),
        sentences=tuple(replace(each, document=marked(each.document)) for each in answer.sentences),
    )
