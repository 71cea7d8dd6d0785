"""The heart: retrieve the candidates, re-rank them jointly with their sentences, select the answer."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Protocol

from bioqa.bioasq.domain import MAX_ITEMS, Candidate, Document, Question, Response
from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.condensing import is_long
from bioqa.models.answers.confidence import Confidence
from bioqa.models.answers.ranking import RankedDocument, RankedSentence, Ranking, Selection
from bioqa.models.answers.selection import Calibration, select


class IndexUnavailable(BioqaError):
    """The search index cannot be reached or used at the moment."""


class LoadedRanker(Protocol):
    """What is known of a ranker that is loaded, in this process or in another."""

    @property
    def name(self) -> str: ...

    @property
    def hash(self) -> str: ...

    @property
    def config(self) -> Mapping[str, Any]: ...

    @property
    def calibration(self) -> Calibration: ...


class Ranker(LoadedRanker, Protocol):
    """A loaded checkpoint, as ``bioqa.models.reranker.Reranker`` and the cascade are."""

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking: ...

    def rank_many(self, items: Sequence[tuple[str, Sequence[Candidate]]]) -> Sequence[Ranking]: ...

    def candidates(self, question: str, documents: Sequence[Document]) -> list[Candidate]: ...


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How many documents and snippets an answer has, and which documents are candidates for it."""

    max_documents: int = MAX_ITEMS
    max_snippets: int = MAX_ITEMS
    candidates: int = 100
    published_before: date | None = None
    """Only documents published before that day, and those without a date."""


DEFAULT_OPTIONS = SearchOptions()


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds of each stage. For questions ranked together, ``rerank`` is the whole batch's time."""

    retrieve: float
    rerank: float
    select: float
    wait: float = 0.0
    """In the queues before retrieval and before ranking."""

    @property
    def total(self) -> float:
        return self.wait + self.retrieve + self.rerank + self.select


@dataclass(frozen=True, slots=True)
class Answer:
    """Documents and sentences, best first, and where they come from."""

    question: Question
    documents: tuple[RankedDocument, ...]
    sentences: tuple[RankedSentence, ...]
    index: str
    ranker: str
    ranker_hash: str
    timings_ms: Timings
    truncated_sentences: int
    candidates: int
    """Number of documents that the search index found and the ranker ranked."""
    degraded: str | None = None
    """Reason why BM25 replaced the ranker; None normally."""
    condensed: str | None = None
    """The words by which a long question was answered; None if it was answered as it was asked."""
    confidence: Confidence | None = None
    """Whether the documents answer the question; None for texts that came with it."""

    def response(self) -> Response:
        """The answer as a submission holds it."""
        return Selection(self.documents, self.sentences).response(self.question)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A question with its candidates, ready to be ranked."""

    question: Question
    options: SearchOptions
    candidates: Sequence[Candidate]
    index: str
    """Name of the index; empty if the candidates came with the question."""
    retrieve_ms: float
    asked_at: float | None = None
    """By time.perf_counter; None if the question did not wait in a queue."""
    condensed: str | None = None
    """The words that a long question is ranked by."""

    @property
    def item(self) -> tuple[str, Sequence[Candidate]]:
        """The question and its candidates, as rankers take them."""
        return self.condensed or self.question.body.strip(), self.candidates


def retrieve(index: SearchIndex, question: Question, options: SearchOptions = DEFAULT_OPTIONS) -> Retrieved:
    """Fetch the candidates; white space around the question is ignored. Raises IndexUnavailable."""
    begun = time.perf_counter()
    with _index_errors(index):
        condensed = _condensed(index, question)
        words = condensed or question.body.strip()
        candidates = index.search(words, options.candidates, options.published_before)
        spent = _ms(begun, time.perf_counter())
        return Retrieved(question, options, candidates, index.name, spent, condensed=condensed)


def _condensed(index: SearchIndex, question: Question) -> str | None:
    """The words that carry a question if it is long, else None."""
    asked = question.body.strip()
    return index.condense(asked) if is_long(asked) else None


def rank_and_select(ranker: Ranker, retrieved: Sequence[Retrieved]) -> list[Answer]:
    """Answer questions, ranking them together. Raises what the ranker raises."""
    begun = time.perf_counter()
    items = [each.item for each in retrieved]
    rankings = ranker.rank_many(items) if len(items) > 1 else [ranker.rank(*item) for item in items]
    spent = _ms(begun, time.perf_counter())
    return [
        _answer(each, ranking, ranker.calibration, ranker, begun, spent)
        for each, ranking in zip(retrieved, rankings, strict=True)
    ]


def answer_by_bm25(ranker: Ranker, retrieved: Retrieved, reason: str) -> Answer:
    """Answer in place of a ranker that failed: documents in the index's order, sentences by BM25."""
    # Imported here because nltk takes half a second, which no command should wait for.
    from bioqa.models.answers.lexical import CALIBRATION, rank_lexically

    begun = time.perf_counter()
    ranking = rank_lexically(*retrieved.item)
    spent = _ms(begun, time.perf_counter())
    return replace(_answer(retrieved, ranking, CALIBRATION, ranker, begun, spent), degraded=reason)


def _answer(
    retrieved: Retrieved,
    ranking: Ranking,
    calibration: Calibration,
    ranker: Ranker,
    begun: float,
    rerank_ms: float,
) -> Answer:
    ranked = time.perf_counter()
    options = retrieved.options
    selection = select(ranking, calibration, options.max_documents, options.max_snippets)
    _check_finite(selection, ranker.name)
    estimate = _confidence(retrieved, ranking, calibration) if retrieved.index else None
    waited = 0.0
    if retrieved.asked_at is not None:
        waited = round(max(0.0, _ms(retrieved.asked_at, begun) - retrieved.retrieve_ms), 3)
    return Answer(
        retrieved.question,
        selection.documents,
        selection.sentences,
        retrieved.index,
        ranker.name,
        ranker.hash,
        Timings(retrieved.retrieve_ms, rerank_ms, _ms(ranked, time.perf_counter()), waited),
        ranking.truncated_sentences,
        len(retrieved.candidates),
        condensed=retrieved.condensed,
        confidence=estimate,
    )


def _confidence(retrieved: Retrieved, ranking: Ranking, calibration: Calibration) -> Confidence:
    # Imported here because nltk takes half a second, which no command should wait for.
    from bioqa.models.answers.evidence import confidence

    return confidence(retrieved.question.body, ranking, calibration, answered_by=retrieved.item[0])


class Answerer:
    """Answers questions one after another, without a queue. Thread-safe if its index and ranker are."""

    def __init__(self, index: SearchIndex, ranker: Ranker) -> None:
        self.index = index
        self.ranker = ranker

    def answer(self, question: Question, options: SearchOptions = DEFAULT_OPTIONS) -> Answer:
        """Answer one question; white space around it is ignored. Raises IndexUnavailable."""
        return rank_and_select(self.ranker, [retrieve(self.index, question, options)])[0]

    def answers(
        self, questions: Sequence[Question], options: SearchOptions = DEFAULT_OPTIONS
    ) -> Iterator[Answer]:
        """Yield each question's ``answer``; the candidates of all are fetched in one request.

        A question's retrieval time is its share of that request. Raises IndexUnavailable.
        """
        if not questions:
            return
        begun = time.perf_counter()
        with _index_errors(self.index):
            condensed = [_condensed(self.index, question) for question in questions]
            bodies = [
                short or question.body.strip() for short, question in zip(condensed, questions, strict=True)
            ]
            found = self.index.search_many(bodies, options.candidates, options.published_before)
            name = self.index.name
        share = round(_ms(begun, time.perf_counter()) / len(questions), 3)
        for question, candidates, short in zip(questions, found, condensed, strict=True):
            retrieved = Retrieved(question, options, candidates, name, share, condensed=short)
            yield rank_and_select(self.ranker, [retrieved])[0]


@contextmanager
def _index_errors(index: SearchIndex) -> Iterator[None]:
    try:
        yield
    except (BioqaError, OSError) as error:
        raise IndexUnavailable(f"the search index {index.name} cannot be used: {error}") from error


def _check_finite(selection: Selection, ranker: str) -> None:
    # A NaN would pass through sorting and JSON unnoticed, or break clients that parse strictly.
    scores = [d.score for d in selection.documents] + [s.score for s in selection.sentences]
    if not all(map(math.isfinite, scores)):
        raise ArithmeticError(f"the ranker {ranker} returned a score that is not finite")


def _ms(begun: float, ended: float) -> float:
    return round(1000 * (ended - begun), 3)
