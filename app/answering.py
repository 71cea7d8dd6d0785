"""The heart: retrieve the candidates, re-rank them jointly with their sentences, select the answer."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

from bioasq.domain import MAX_ITEMS, Candidate, Question, Response
from bioasq.errors import BioqaError
from indexer.search.base import SearchIndex
from models.ranking import RankedDocument, RankedSentence, Ranking, Selection
from models.selection import Calibration, select


class IndexUnavailable(BioqaError):
    """The search index cannot be reached or used at the moment."""


class Ranks(Protocol):
    """What ranks: ``models.reranker.Reranker``, or anything that keeps its promises."""

    @property
    def name(self) -> str: ...

    @property
    def hash(self) -> str: ...

    @property
    def config(self) -> Mapping[str, Any]: ...

    @property
    def calibration(self) -> Calibration: ...

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking: ...


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
    """Milliseconds that each stage took."""

    retrieve: float
    rerank: float
    select: float

    @property
    def total(self) -> float:
        return self.retrieve + self.rerank + self.select


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

    def response(self) -> Response:
        """The answer as a submission holds it."""
        return Selection(self.documents, self.sentences).response(self.question)


class Answerer:
    """Thread-safe if its index and ranker are. One copy of each serves every thread."""

    def __init__(self, index: SearchIndex, ranker: Ranks) -> None:
        self.index = index
        self.ranker = ranker

    def answer(self, question: Question, wanted: Wanted = USUAL) -> Answer:
        """White space around the question does not matter. Raises IndexUnavailable."""
        begun = time.perf_counter()
        with self._index_errors():
            candidates = self.index.search(question.body.strip(), wanted.candidates, wanted.published_before)
        return self._choose(question, candidates, wanted, _ms(begun, time.perf_counter()))

    def answers(self, questions: Sequence[Question], wanted: Wanted = USUAL) -> Iterator[Answer]:
        """``answer`` for each question, handed out one by one; the candidates of all are fetched at once.

        Each one's time of retrieval is its share. Raises IndexUnavailable.
        """
        if not questions:
            return
        begun = time.perf_counter()
        bodies = [question.body.strip() for question in questions]
        with self._index_errors():
            found = self.index.search_many(bodies, wanted.candidates, wanted.published_before)
        share = round(_ms(begun, time.perf_counter()) / len(questions), 3)
        for question, candidates in zip(questions, found, strict=True):
            yield self._choose(question, candidates, wanted, share)

    def answer_many(self, questions: Sequence[Question], wanted: Wanted = USUAL) -> list[Answer]:
        """``answers``, all at the end."""
        return list(self.answers(questions, wanted))

    def _choose(
        self, question: Question, candidates: Sequence[Candidate], wanted: Wanted, retrieve_ms: float
    ) -> Answer:
        begun = time.perf_counter()
        ranking = self.ranker.rank(question.body.strip(), candidates)
        ranked = time.perf_counter()
        chosen = select(ranking, self.ranker.calibration, wanted.max_documents, wanted.max_snippets)
        _check_finite(chosen, self.ranker.name)
        selected = time.perf_counter()
        return Answer(
            question,
            chosen.documents,
            chosen.sentences,
            self.index.name,
            self.ranker.name,
            self.ranker.hash,
            Timings(retrieve_ms, _ms(begun, ranked), _ms(ranked, selected)),
            ranking.truncated_sentences,
        )

    @contextmanager
    def _index_errors(self) -> Iterator[None]:
        try:
            yield
        except (BioqaError, OSError) as error:
            raise IndexUnavailable(f"the search index {self.index.name} cannot be used: {error}") from error


def _check_finite(chosen: Selection, ranker: str) -> None:
    scores = [d.score for d in chosen.documents] + [s.score for s in chosen.sentences]
    if not all(map(math.isfinite, scores)):
        raise ArithmeticError(f"the ranker {ranker} gave a score that is no number")


def _ms(begun: float, ended: float) -> float:
    return round(1000 * (ended - begun), 3)
