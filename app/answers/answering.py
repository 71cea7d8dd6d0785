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
from bioqa.models.answers.ranking import RankedDocument, RankedSentence, Ranking, Selection
from bioqa.models.answers.selection import Calibration, select


class IndexUnavailable(BioqaError):
    """The search index cannot be reached or used at the moment."""


class Ranks(Protocol):
    """What ranks: ``bioqa.models.reranker.Reranker``, or anything that keeps its promises."""

    @property
    def name(self) -> str: ...

    @property
    def hash(self) -> str: ...

    @property
    def config(self) -> Mapping[str, Any]: ...

    @property
    def calibration(self) -> Calibration: ...

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking: ...

    def rank_many(self, items: Sequence[tuple[str, Sequence[Candidate]]]) -> Sequence[Ranking]: ...

    def candidates(self, question: str, documents: Sequence[Document]) -> list[Candidate]: ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """How much is asked for, of what."""

    max_documents: int = MAX_ITEMS
    max_snippets: int = MAX_ITEMS
    candidates: int = 100
    published_before: date | None = None
    """Only documents published before that day, and those without a date."""


USUAL = Wanted()


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds that each stage took; ranked with others, a question took as long as they all."""

    retrieve: float
    rerank: float
    select: float
    wait: float = 0.0
    """In line, before either of the first two."""

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
    """How many documents the search index found for it, to be ranked."""
    degraded: str | None = None
    """Why no ranker is behind it, but BM25 alone; None for an answer as it should be."""

    def response(self) -> Response:
        """The answer as a submission holds it."""
        return Selection(self.documents, self.sentences).response(self.question)


@dataclass(frozen=True, slots=True)
class Found:
    """A question with its candidates, to be ranked."""

    question: Question
    wanted: Wanted
    candidates: Sequence[Candidate]
    index: str
    retrieve_ms: float
    asked_at: float | None = None
    """By time.perf_counter; None if it did not wait in line."""

    @property
    def item(self) -> tuple[str, Sequence[Candidate]]:
        return self.question.body.strip(), self.candidates


def find(index: SearchIndex, question: Question, wanted: Wanted = USUAL) -> Found:
    """White space around the question does not matter. Raises IndexUnavailable."""
    asked = time.perf_counter()
    with _index_errors(index):
        candidates = index.search(question.body.strip(), wanted.candidates, wanted.published_before)
        return Found(question, wanted, candidates, index.name, _ms(asked, time.perf_counter()))


def choose(ranker: Ranks, found: Sequence[Found]) -> list[Answer]:
    """The answer to each, ranked together. Raises what the ranker raises."""
    begun = time.perf_counter()
    items = [each.item for each in found]
    rankings = ranker.rank_many(items) if len(items) > 1 else [ranker.rank(*item) for item in items]
    spent = _ms(begun, time.perf_counter())
    return [
        _answer(each, ranking, ranker.calibration, ranker, begun, spent)
        for each, ranking in zip(found, rankings, strict=True)
    ]


def choose_without(ranker: Ranks, found: Found, reason: str) -> Answer:
    """The answer where the ranker failed: documents as BM25 found them, sentences by BM25."""
    # Here, as it imports nltk, which takes half a second that no command should wait for.
    from bioqa.models.answers.lexical import CALIBRATION, rank_lexically

    begun = time.perf_counter()
    ranking = rank_lexically(*found.item)
    spent = _ms(begun, time.perf_counter())
    return replace(_answer(found, ranking, CALIBRATION, ranker, begun, spent), degraded=reason)


def _answer(
    found: Found, ranking: Ranking, calibration: Calibration, ranker: Ranks, begun: float, rerank_ms: float
) -> Answer:
    ranked = time.perf_counter()
    chosen = select(ranking, calibration, found.wanted.max_documents, found.wanted.max_snippets)
    _check_finite(chosen, ranker.name)
    waited = 0.0
    if found.asked_at is not None:
        waited = round(max(0.0, _ms(found.asked_at, begun) - found.retrieve_ms), 3)
    return Answer(
        found.question,
        chosen.documents,
        chosen.sentences,
        found.index,
        ranker.name,
        ranker.hash,
        Timings(found.retrieve_ms, rerank_ms, _ms(ranked, time.perf_counter()), waited),
        ranking.truncated_sentences,
        len(found.candidates),
    )


class Answerer:
    """Thread-safe if its index and ranker are. One copy of each serves every thread."""

    def __init__(self, index: SearchIndex, ranker: Ranks) -> None:
        self.index = index
        self.ranker = ranker

    def answer(self, question: Question, wanted: Wanted = USUAL) -> Answer:
        """White space around the question does not matter. Raises IndexUnavailable."""
        return choose(self.ranker, [find(self.index, question, wanted)])[0]

    def answers(self, questions: Sequence[Question], wanted: Wanted = USUAL) -> Iterator[Answer]:
        """``answer`` for each question, handed out one by one; the candidates of all are fetched at once.

        Each one's time of retrieval is its share. Raises IndexUnavailable.
        """
        if not questions:
            return
        begun = time.perf_counter()
        bodies = [question.body.strip() for question in questions]
        with _index_errors(self.index):
            found = self.index.search_many(bodies, wanted.candidates, wanted.published_before)
            name = self.index.name
        share = round(_ms(begun, time.perf_counter()) / len(questions), 3)
        for question, candidates in zip(questions, found, strict=True):
            yield choose(self.ranker, [Found(question, wanted, candidates, name, share)])[0]


@contextmanager
def _index_errors(index: SearchIndex) -> Iterator[None]:
    try:
        yield
    except (BioqaError, OSError) as error:
        raise IndexUnavailable(f"the search index {index.name} cannot be used: {error}") from error


def _check_finite(chosen: Selection, ranker: str) -> None:
    scores = [d.score for d in chosen.documents] + [s.score for s in chosen.sentences]
    if not all(map(math.isfinite, scores)):
        raise ArithmeticError(f"the ranker {ranker} gave a score that is no number")


def _ms(begun: float, ended: float) -> float:
    return round(1000 * (ended - begun), 3)
