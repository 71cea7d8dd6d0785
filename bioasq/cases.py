"""One question of a comparison: what each system answered, beside the gold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bioqa.bioasq.comparison import ComparedSystem, Comparison
from bioqa.bioasq.domain import Question, Response, Snippet
from bioqa.bioasq.measures import QuestionMeasures
from bioqa.bioasq.overlap import Span, merged_spans, overlap, pmid_of


@dataclass(frozen=True, slots=True)
class CaseSnippet:
    snippet: Snippet
    in_gold: bool
    """Whether it shares a position with a golden snippet; for a golden one, always."""


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """``documents``: each with whether it is in the gold. ``measures``: None if it was not answered."""

    system: str
    measures: QuestionMeasures | None
    documents: tuple[tuple[str, bool], ...]
    snippets: tuple[CaseSnippet, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "ap_documents": None if self.measures is None else self.measures.documents.average_precision,
            "f1_snippets": None if self.measures is None else self.measures.snippets.f1,
            "documents": [{"document": document, "in_gold": names} for document, names in self.documents],
            "snippets": [
                {
                    "document": snippet.snippet.document,
                    "section": snippet.snippet.begin_section,
                    "text": snippet.snippet.text,
                    "in_gold": snippet.in_gold,
                }
                for snippet in self.snippets
            ],
        }


@dataclass(frozen=True, slots=True)
class Case:
    question: Question
    gold: CaseAnswer
    answers: tuple[CaseAnswer, ...]
    missed: tuple[str, ...]
    """Golden documents that no system returned."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "question": self.question.id,
            "type": self.question.type,
            "body": self.question.body,
            "gold": {
                key: value for key, value in self.gold.as_dict().items() if key in ("documents", "snippets")
            },
            "systems": [answer.as_dict() for answer in self.answers],
            "missed_by_all": list(self.missed),
        }


def case(comparison: Comparison, position: int) -> Case:
    """The question at a place of ``comparison.golden``."""
    gold = comparison.golden[position]
    spans = merged_spans(gold.snippets)
    answers = tuple(_answer(system, gold, spans, position) for system in comparison.systems)
    returned = {document for answer in answers for document, _ in answer.documents}
    unique = tuple(dict.fromkeys(gold.documents))
    shown = CaseAnswer(
        "gold",
        None,
        tuple((document, True) for document in unique),
        tuple(CaseSnippet(snippet, True) for snippet in gold.snippets),
    )
    return Case(
        gold.question, shown, answers, tuple(snippet for snippet in unique if snippet not in returned)
    )


def _answer(system: ComparedSystem, gold: Response, spans: Sequence[Span], position: int) -> CaseAnswer:
    response = system.responses.get(gold.question.id)
    if response is None:
        return CaseAnswer(system.name, None, (), ())
    names = set(gold.documents)
    return CaseAnswer(
        system.name,
        system.per_question[position],
        tuple((document, document in names) for document in dict.fromkeys(response.documents)),
        tuple(CaseSnippet(snippet, _is_found(snippet, spans)) for snippet in response.snippets),
    )


def _is_found(snippet: Snippet, golden: Sequence[Span]) -> bool:
    (span,) = merged_spans([snippet])
    return any(
        pmid_of(span.document) == pmid_of(gold.document) and overlap(span, gold) > 0 for gold in golden
    )
