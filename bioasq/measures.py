"""The official measures of BioASQ task B phase A, reproduced exactly.

They follow EvaluatorTask1b of BioASQ's Evaluation-Measures, including its bugs, so that results can be
compared with those that the organisers publish. Editions differ in the divisor of average precision, and in
whether questions without gold count.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from bioqa.bioasq.domain import Response, Snippet
from bioqa.bioasq.overlap import Span, merged_spans, overlap, pmid_of
from bioqa.system.errors import BioqaError

EDITIONS = (2, 3, 5, 8, 9)
"""Edition 2 is used for BioASQ 1 and 2; 3 for 3 and 4; 5 for 5 to 7; 8 for 8; 9 for 9 and later."""

LATEST = max(EDITIONS)
"""The edition that BioASQ has used since 2021, and the default wherever an edition can be left out."""

GMAP_EPSILON = 0.00001


@dataclass(frozen=True, slots=True)
class ItemMeasures:
    """Measures of one question's documents or snippets.

    ``gold`` is the number of golden items, with duplicates and overlapping snippets merged. Average
    precision of snippets can exceed 1: the evaluator takes any snippet from the document of a golden
    snippet for relevant.
    """

    precision: float
    recall: float
    f1: float
    average_precision: float
    gold: int


@dataclass(frozen=True, slots=True)
class QuestionMeasures:
    id: str
    documents: ItemMeasures
    snippets: ItemMeasures

    def row(self) -> dict[str, str | float]:
        """The measures by name, for a table: ``precision_documents``, …, ``gold_snippets``."""
        values = {
            f"{name}_{kind}": value
            for kind, items in (("documents", self.documents), ("snippets", self.snippets))
            for name, value in (
                ("precision", items.precision),
                ("recall", items.recall),
                ("f1", items.f1),
                ("ap", items.average_precision),
                ("gold", items.gold),
            )
        }
        return {"question": self.id, **values}


@dataclass(frozen=True, slots=True)
class MeanMeasures:
    """Means over ``questions`` questions; all zero if there are none.

    In ``gmap``, too, a question without gold has average precision 0. This is the one known deviation from
    the official code: in editions 2 and 8 it divides 0 by 0 for a question without golden snippets, and its
    snippet GMAP then counts the question as perfect.
    """

    precision: float
    recall: float
    f1: float
    map: float
    gmap: float
    questions: int


@dataclass(frozen=True, slots=True)
class Measures:
    """The official tool's results for a submission.

    ``missing_ids``: golden questions that the system did not answer. The official tool skips them, so they
    are not part of any mean.
    """

    edition: int
    documents: MeanMeasures
    snippets: MeanMeasures
    questions: int
    missing_ids: tuple[str, ...]

    @property
    def missing(self) -> int:
        return len(self.missing_ids)

    def official(self) -> dict[str, float]:
        """The measures by the names in the official tool's output."""
        return {
            f"{name}_{kind}": value
            for kind, means in (("documents", self.documents), ("snippets", self.snippets))
            for name, value in (
                ("mprec", means.precision),
                ("mrec", means.recall),
                ("mf1", means.f1),
                ("map", means.map),
                ("gmap", means.gmap),
            )
        }


def evaluate(golden: Sequence[Response], system: Sequence[Response], edition: int) -> Measures:
    """Compute the official measures of ``system`` against ``golden``.

    If the system has several responses to one question, the first counts; responses to unknown questions
    are ignored. Raises BioqaError for an unknown edition.
    """
    answered = {response.question.id for response in system}
    missing = tuple(r.question.id for r in golden if r.question.id not in answered)
    return means(per_question(golden, system, edition), missing, edition)


def means(questions: Sequence[QuestionMeasures], missing_ids: Sequence[str], edition: int) -> Measures:
    """The official means of what ``per_question`` measured."""
    documents = [question.documents for question in questions]
    snippets = [question.snippets for question in questions]
    if edition == 9:
        documents = [item for item in documents if item.gold]
        snippets = [item for item in snippets if item.gold]
    return Measures(
        edition=edition,
        documents=_mean(documents),
        snippets=_mean(snippets),
        questions=len(questions),
        missing_ids=tuple(missing_ids),
    )


def per_question(
    golden: Sequence[Response], system: Sequence[Response], edition: int
) -> list[QuestionMeasures]:
    """Measure each golden question that the system answered, in the golden file's order.

    Questions without gold are included in every edition; edition 9 leaves those with ``gold == 0`` out of
    its means. Raises BioqaError for an unknown edition.
    """
    _check_edition(edition)
    responses: dict[str, Response] = {}
    for answer in system:
        responses.setdefault(answer.question.id, answer)
    return [
        QuestionMeasures(
            id=gold.question.id,
            documents=document_measures(gold.documents, response.documents, edition),
            snippets=GoldSnippets(gold.snippets).measures(response.snippets, edition),
        )
        for gold in golden
        if (response := responses.get(gold.question.id)) is not None
    ]


def document_measures(golden: Sequence[str], response: Sequence[str], edition: int) -> ItemMeasures:
    """Measure one question's documents, compared as whole strings; duplicates count once."""
    relevant = set(golden)
    ranked = list(dict.fromkeys(response))
    hits, precisions = 0, 0.0
    for rank, document in enumerate(ranked, start=1):
        if document in relevant:
            hits += 1
            precisions += hits / rank
    return _item_measures(
        precision=hits / len(ranked) if ranked else 0.0,
        recall=hits / len(relevant) if relevant else 0.0,
        precisions=precisions,
        gold=len(relevant),
        edition=edition,
    )


class GoldSnippets:
    """One question's golden snippets, merged and indexed once, to measure many responses quickly."""

    def __init__(self, snippets: Sequence[Snippet]) -> None:
        spans = merged_spans(snippets)
        self.count = len(spans)
        self.size = sum(span.size for span in spans)
        self._documents = {span.document for span in spans}
        self._by_pmid: defaultdict[str, list[Span]] = defaultdict(list)
        for span in spans:
            self._by_pmid[pmid_of(span.document)].append(span)

    def f1(self, response: Sequence[Snippet]) -> float:
        """The official F1, which is the same in every edition."""
        return _f1(*self._precision_and_recall(merged_spans(response)))

    def measures(self, response: Sequence[Snippet], edition: int) -> ItemMeasures:
        spans = merged_spans(response)
        precision, recall = self._precision_and_recall(spans)
        return _item_measures(precision, recall, self._precisions(spans), self.count, edition)

    def _precision_and_recall(self, spans: Sequence[Span]) -> tuple[float, float]:
        """Documents are compared by PMID here, so URLs of other forms match too."""
        shared = sum(overlap(span, gold) for span in spans for gold in self._golden(span))
        return _ratio(shared, sum(span.size for span in spans)), _ratio(shared, self.size)

    def _precisions(self, spans: Sequence[Span]) -> float:
        """Precision at each rank, summed over the ranks whose document has a golden snippet.

        Documents are compared as whole strings here. The snippet itself need not overlap the gold: the
        official tool behaves so, contrary to its own guidelines.
        """
        shared = size = 0
        precisions = 0.0
        for span in spans:
            size += span.size
            if span.document in self._documents:
                golden = (gold for gold in self._golden(span) if gold.document == span.document)
                shared += sum(overlap(span, gold) for gold in golden)
                precisions += _ratio(shared, size)
        return precisions

    def _golden(self, span: Span) -> Sequence[Span]:
        return self._by_pmid.get(pmid_of(span.document), ())


def _item_measures(
    precision: float, recall: float, precisions: float, gold: int, edition: int
) -> ItemMeasures:
    divisor = _divisor(gold, edition)
    return ItemMeasures(
        precision=precision,
        recall=recall,
        f1=_f1(precision, recall),
        average_precision=precisions / divisor if divisor else 0.0,
        gold=gold,
    )


def _divisor(gold: int, edition: int) -> int:
    """The divisor of average precision, the same for documents and (merged) snippets."""
    if edition == 2:
        return gold
    return 10 if edition in (3, 5) else min(10, gold)


def _f1(precision: float, recall: float) -> float:
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def _ratio(shared: int, size: int) -> float:
    # The sum of sizes is 0 for empty lists, and for spans that end before they begin: there the official
    # tool prints NaN or 0, depending on the measure.
    return shared / size if size else 0.0


def _mean(items: Sequence[ItemMeasures]) -> MeanMeasures:
    count = len(items)
    if not count:
        return MeanMeasures(0.0, 0.0, 0.0, 0.0, 0.0, 0)
    return MeanMeasures(
        precision=sum(item.precision for item in items) / count,
        recall=sum(item.recall for item in items) / count,
        f1=sum(item.f1 for item in items) / count,
        map=sum(item.average_precision for item in items) / count,
        gmap=_geometric_mean([item.average_precision + GMAP_EPSILON for item in items]),
        questions=count,
    )


def _geometric_mean(values: Sequence[float]) -> float:
    if min(values) <= 0:  # only for spans that end before they begin; the official tool prints 0, too
        return 0.0
    return exp(sum(map(log, values)) / len(values))


def _check_edition(edition: int) -> None:
    if edition not in EDITIONS:
        raise BioqaError(f"edition {edition} is unknown; the editions are {', '.join(map(str, EDITIONS))}")
