"""The heart: retrieve the candidates, re-rank them jointly with their sentences, select the answer."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal, Protocol

from bioqa.app.answers.emptied import LeftOut, without_each
from bioqa.app.answers.explaining import (
    Explanation,
    RetrievalExplanation,
    explain,
    explain_retrieval,
)
from bioqa.app.answers.facets import Facets, facets_of
from bioqa.app.answers.understood import Understood, understood
from bioqa.app.settings import MAX_CANDIDATES
from bioqa.bioasq.domain import MAX_ITEMS, Candidate, Document, Question, Response
from bioqa.indexer.medline.packed import DamagedMetadata
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.notation.interpretation import Interpretation
from bioqa.indexer.search.questions.condensing import is_long
from bioqa.indexer.search.questions.reading import Reading
from bioqa.indexer.search.questions.rewriting import rewritten
from bioqa.indexer.search.wording import Wording
from bioqa.models.answers.confidence import Confidence
from bioqa.models.answers.ranking import RankedDocument, RankedSentence, Ranking, Selection
from bioqa.models.answers.scale import Scale
from bioqa.models.answers.selection import Calibration, SelectionLimits, select
from bioqa.system.errors import BioqaError


class IndexUnavailable(BioqaError):
    """The search index cannot be reached or used at the moment."""


class IndexDamaged(IndexUnavailable):
    """What the index stores of a citation cannot be read."""


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


def scale_of(ranker: LoadedRanker) -> Scale | None:
    """What its scores mean; None if that is not known, as of rankers that were trained without a scale."""
    # Not in the protocol: rankers of others keep its promises, and never had this.
    scale: Scale | None = getattr(ranker, "scale", None)
    return scale


def read_stored_tokens(ranker: LoadedRanker, folder: Path | None) -> None:
    """Let the ranker read what `bioqa tokens` stored in an index's folder, if it can."""
    # Not in the protocol, as the scale is not.
    read = getattr(ranker, "read_stored_tokens", None)
    if read is not None and folder is not None:
        read(folder)


class Ranker(LoadedRanker, Protocol):
    """A loaded checkpoint, as ``bioqa.models.reranker.Reranker`` and the cascade are."""

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking: ...

    def rank_many(self, items: Sequence[tuple[str, Sequence[Candidate]]]) -> Sequence[Ranking]: ...

    def candidates(self, question: str, documents: Sequence[Document]) -> list[Candidate]: ...


Order = Literal["relevance", "date"]


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How many documents and snippets an answer has, and which documents are candidates for it.

    Further results have an ``offset``. Of the documents that BM25 finds, up to ``MAX_CANDIDATES``, each run
    of ``candidates`` is ranked by itself: the first run's documents come first, then the second run's. So the
    first results are the same whether or not more are asked for, results neither repeat nor go missing from
    one offset to the next, and any costs as much as the first. An answer ends where its run ends.

    In the order of dates, the first run's documents are sorted, the newest first and those without a date
    last, and the ranker reads those that are in the answer.
    """

    max_documents: int = MAX_ITEMS
    max_snippets: int = MAX_ITEMS
    candidates: int = 100
    filters: Filters = NO_FILTERS
    order: Order = "relevance"
    offset: int = 0
    facets: bool = False
    """Count the documents by year, type and the like: the ``MAX_CANDIDATES`` best."""
    interpretation: Interpretation | None = None
    """What the question means, if it is not to be taken as it is."""
    literal: bool = False
    """Search for the words of the question alone: no other spellings, abbreviations or synonyms, and no
    corrections."""
    weak_snippets: bool = False
    """Also snippets that are much weaker than the best, where the ranker's scale says which are."""
    explained: str | None = None
    """PMID of an article whose place, or absence, is to be explained; of the first results by relevance."""


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
    calibrated: bool = False
    """Whether scores are calibrated probabilities, which are comparable between answers."""
    degraded: str | None = None
    """Reason why BM25 replaced the ranker; None normally."""
    condensed: str | None = None
    """The words by which a long question was answered; None if it was answered as it was asked."""
    confidence: Confidence | None = None
    """Whether the documents answer the question; None for texts that came with it."""
    options: SearchOptions = DEFAULT_OPTIONS
    interpretation: Interpretation | None = None
    """What was searched for instead of the question; None if it was taken as it is."""
    reading: Reading | None = None
    """How the words of the question were read; None if they were taken literally."""
    next_offset: int | None = None
    """Where further results begin; None if there are none."""
    facets: Facets | None = None
    emptied: tuple[LeftOut, ...] = ()
    """If there are no documents because of filters, each filter with what it leaves out."""
    explanation: Explanation | None = None
    """Of the article that was to be explained; None if documents are only listed."""

    @property
    def understood(self) -> Understood | None:
        """What was searched for, in words; None if the question was taken as it is."""
        return understood(self.interpretation, self.reading)

    def response(self) -> Response:
        """The answer as a submission holds it."""
        return Selection(self.documents, self.sentences).response(self.question)


@dataclass(frozen=True, slots=True)
class Explaining:
    """What retrieval says of an article that is to be explained."""

    retrieval: RetrievalExplanation
    asked: "Retrieved"
    """The question with its candidates; the article is among them, if the index has it."""


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
    words: str | None = None
    """What to rank by, if it is not the whole question."""
    as_ranked: Sequence[Candidate] | None = None
    """The candidates as a ranker reads them, if that is otherwise (see ``questions.rewriting``)."""
    listed: bool = False
    """Whether there is nothing to rank by: the candidates are the answer's documents, in order."""
    interpretation: Interpretation | None = None
    reading: Reading | None = None
    skip: int = 0
    """Documents of the ranking that come before the answer."""
    next_offset: int | None = None
    facets: Facets | None = None
    emptied: tuple[LeftOut, ...] = ()
    explaining: Explaining | None = None

    @property
    def item(self) -> tuple[str, Sequence[Candidate]]:
        """The question and its candidates, as rankers take them."""
        words = self.question.body.strip() if self.words is None else self.words
        return words, self.candidates if self.as_ranked is None else self.as_ranked

    def of_candidates(self, ranking: Ranking) -> Ranking:
        """A ranking of ``item`` as one of the candidates, whose sentences are the same ones."""
        if self.as_ranked is None:
            return ranking
        own = {candidate.document.pmid: candidate.document for candidate in self.candidates}
        return replace(
            ranking,
            documents=tuple(replace(each, document=own[each.document.pmid]) for each in ranking.documents),
        )


def retrieve(index: SearchIndex, question: Question, options: SearchOptions = DEFAULT_OPTIONS) -> Retrieved:
    """Fetch the candidates; white space around the question is ignored. Raises IndexUnavailable."""
    begun = time.perf_counter()
    with _index_errors(index):
        interpretation = options.interpretation
        found = _search(index, question, options, interpretation)
        if not found.candidates and interpretation and interpretation.perhaps_words:
            found = _search(index, question, options, None)
        return replace(found, retrieve_ms=_ms(begun, time.perf_counter()))


def _search(
    index: SearchIndex, question: Question, options: SearchOptions, interpretation: Interpretation | None
) -> Retrieved:
    if interpretation is None:
        asked = _asked(index, question.body, options)
        found = index.search(asked.sought, _most(options), options.filters)
        return _explained(index, _retrieved(index, question, options, found, asked), asked)
    # Who names an article wants that one, whatever the filters were before.
    filters = NO_FILTERS if interpretation.identifiers else options.filters
    restricted = replace(options, filters=filters.restricted(interpretation.restriction))
    if interpretation.words:
        asked = _asked(index, interpretation.words, options)
        found = index.search(asked.sought, _most(options), restricted.filters)
        retrieved = _explained(index, _retrieved(index, question, restricted, found, asked), asked)
    else:
        # One more, to know whether there are further ones.
        most = min(options.offset + options.max_documents + 1, MAX_CANDIDATES)
        documents = index.newest(restricted.filters, most)
        found = [Candidate(document, 0.0) for document in documents]
        retrieved = _retrieved(index, question, restricted, found, None)
    return replace(
        retrieved,
        interpretation=interpretation,
        emptied=() if interpretation.identifiers else retrieved.emptied,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is searched for and ranked by."""

    words: str
    condensed: str | None
    """The words that carry the text, if it is long."""
    reading: Reading | None
    """How the words are read; None if the text is long, or to be taken literally."""

    @property
    def sought(self) -> str | Wording:
        return self.words if self.reading is None else self.reading.wording


def _asked(index: SearchIndex, text: str, options: SearchOptions) -> _Asked:
    text = text.strip()
    condensed = index.condense(text) if is_long(text) else None
    literal = options.literal or is_long(text)
    return _Asked(condensed or text, condensed, None if literal else index.read(text))


def _retrieved(
    index: SearchIndex,
    question: Question,
    options: SearchOptions,
    found: Sequence[Candidate],
    asked: _Asked | None,
) -> Retrieved:
    """Of the documents that were found, those that the answer is taken from. ``asked``: None if documents
    are only listed."""
    taken, skip, next_offset = _page(found, options, listed=asked is None)
    sought = None if asked is None else asked.sought
    retrieved = Retrieved(
        question,
        options,
        taken,
        index.name,
        retrieve_ms=0.0,
        listed=asked is None,
        skip=skip,
        next_offset=next_offset,
        facets=_facets(index, sought, options) if options.facets else None,
        emptied=without_each(index, sought, options.filters) if options.filters and not found else (),
    )
    if asked is None:
        return retrieved
    words, as_ranked = _as_ranked(asked, taken)
    return replace(
        retrieved, words=words, as_ranked=as_ranked, condensed=asked.condensed, reading=asked.reading
    )


def _facets(index: SearchIndex, sought: str | Wording | None, options: SearchOptions) -> Facets:
    return facets_of(index.described(sought, MAX_CANDIDATES, options.filters))


def _as_ranked(asked: _Asked, candidates: Sequence[Candidate]) -> tuple[str, Sequence[Candidate] | None]:
    """The question as a ranker reads it; and the candidates, if any of them is rewritten for it."""
    if asked.reading is None:
        return asked.words, None
    made = rewritten(asked.reading, [candidate.document for candidate in candidates])
    pairs = [*zip(candidates, made.documents, strict=True)]
    if all(document is candidate.document for candidate, document in pairs):
        return made.question, None
    return made.question, [replace(candidate, document=document) for candidate, document in pairs]


def _explained(index: SearchIndex, retrieved: Retrieved, asked: _Asked) -> Retrieved:
    """With what retrieval says of the article that is to be explained, if there is one."""
    options, pmid = retrieved.options, retrieved.options.explained
    if pmid is None:
        return retrieved
    taken = retrieved.candidates
    retrieval = explain_retrieval(index, asked.sought, pmid, options.filters, taken)
    with_it = retrieved
    if retrieval.document is not None and all(each.document.pmid != pmid for each in taken):
        known = [*taken, Candidate(retrieval.document, retrieval.score)]
        words, as_ranked = _as_ranked(asked, known)
        with_it = replace(retrieved, candidates=known, words=words, as_ranked=as_ranked)
    return replace(retrieved, explaining=Explaining(retrieval, with_it))


def _most(options: SearchOptions) -> int:
    """How many of the best documents the answer is taken from."""
    if options.order == "date":
        return options.candidates
    return min((options.offset // options.candidates + 1) * options.candidates, MAX_CANDIDATES)


def _page(
    found: Sequence[Candidate], options: SearchOptions, *, listed: bool
) -> tuple[Sequence[Candidate], int, int | None]:
    """The candidates to rank, how many of the ranked ones to skip, and where further results begin."""
    begin, size = options.offset, options.max_documents
    end = begin + size
    if listed or options.order == "date":
        ordered = found if listed else by_date(found[: options.candidates])
        return ordered[begin:end], 0, end if end < len(ordered) else None
    first = begin // options.candidates * options.candidates
    run = found[first : first + options.candidates]
    end = min(end, first + len(run))
    # A full run may be followed by another one.
    more = end < first + len(run) or (len(run) == options.candidates and end < MAX_CANDIDATES)
    return run, begin - first, end if more and end > begin else None


def by_date(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The newest first, those without a date last; those of one day stay in their order."""
    return sorted(candidates, key=lambda each: each.document.published or date.min, reverse=True)


def rank_and_select(ranker: Ranker, retrieved: Sequence[Retrieved]) -> list[Answer]:
    """Answer questions, ranking them together. Raises what the ranker raises."""
    begun = time.perf_counter()
    items = [each.item for each in retrieved if not each.listed]
    rankings = iter(ranker.rank_many(items) if len(items) > 1 else [ranker.rank(*item) for item in items])
    spent = _ms(begun, time.perf_counter())
    return [
        _answer(
            each,
            _listed(each) if each.listed else each.of_candidates(next(rankings)),
            (ranker.calibration, None if each.listed else scale_of(ranker)),
            ranker,
            begun,
            spent,
        )
        for each in retrieved
    ]


def _listed(retrieved: Retrieved) -> Ranking:
    """Documents as they are found, without scores of their sentences: there is no question to mark any by."""
    return Ranking(tuple(RankedDocument(each.document, 0.0, ()) for each in retrieved.candidates))


def _shown(ranking: Ranking, retrieved: Retrieved) -> Ranking:
    """The part of a ranking that the answer is taken from."""
    documents = ranking.documents[retrieved.skip :]
    if retrieved.options.order == "date" and not retrieved.listed:
        place = {each.document.pmid: place for place, each in enumerate(retrieved.candidates)}
        documents = tuple(sorted(documents, key=lambda ranked: place[ranked.document.pmid]))
    return replace(ranking, documents=documents)


def answer_by_bm25(ranker: Ranker, retrieved: Retrieved, reason: str) -> Answer:
    """Answer in place of a ranker that failed: documents in the index's order, sentences by BM25."""
    # Imported here because nltk takes half a second, which no command should wait for.
    from bioqa.models.answers.lexical import CALIBRATION, SCALE, rank_lexically

    begun = time.perf_counter()
    # The ranker that failed would be asked again.
    retrieved = replace(retrieved, explaining=None)
    ranking = retrieved.of_candidates(rank_lexically(*retrieved.item))
    spent = _ms(begun, time.perf_counter())
    return replace(_answer(retrieved, ranking, (CALIBRATION, SCALE), ranker, begun, spent), degraded=reason)


def _answer(
    retrieved: Retrieved,
    ranking: Ranking,
    selecting: tuple[Calibration, Scale | None],
    ranker: Ranker,
    begun: float,
    rerank_ms: float,
) -> Answer:
    ranked = time.perf_counter()
    options = retrieved.options
    calibration, scale = selecting
    shown = _shown(ranking, retrieved)
    if retrieved.listed:
        selection = Selection(shown.documents[: options.max_documents], ())
    else:
        selection = select(shown, calibration, _limits(scale, options), scale)
    _check_finite(selection, ranker.name)
    estimate = _confidence(retrieved, ranking, calibration) if _is_whole(retrieved) else None
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
        calibrated=scale is not None,
        condensed=retrieved.condensed,
        confidence=estimate,
        options=options,
        interpretation=retrieved.interpretation,
        reading=retrieved.reading,
        next_offset=retrieved.next_offset,
        facets=retrieved.facets,
        emptied=retrieved.emptied,
        explanation=_explanation(ranker, retrieved, calibration),
    )


def _limits(scale: Scale | None, options: SearchOptions) -> SelectionLimits:
    margin = None if scale is None or options.weak_snippets else scale.margin
    return SelectionLimits(options.max_documents, options.max_snippets, margin)


def _explanation(ranker: Ranker, retrieved: Retrieved, calibration: Calibration) -> Explanation | None:
    explaining, options = retrieved.explaining, retrieved.options
    if explaining is None:
        return None
    found, asked = explaining.retrieval, explaining.asked
    return explain(ranker, found, asked, calibration, _limits(scale_of(ranker), options))


def _is_whole(retrieved: Retrieved) -> bool:
    """Whether the ranking is of an index's best candidates: a later run says little about the question."""
    options = retrieved.options
    best = options.order == "relevance" and options.offset < options.candidates
    return bool(retrieved.index) and best and not retrieved.listed


def _confidence(retrieved: Retrieved, ranking: Ranking, calibration: Calibration) -> Confidence:
    # Imported here because nltk takes half a second, which no command should wait for.
    from bioqa.models.answers.evidence import confidence

    found = retrieved.interpretation
    asked = retrieved.question.body if found is None else found.words
    return confidence(asked, ranking, calibration, answered_by=retrieved.item[0])


class Answerer:
    """Answers questions one after another, without a queue. Thread-safe if its index and ranker are."""

    def __init__(self, index: SearchIndex, ranker: Ranker) -> None:
        self.index = index
        self.ranker = ranker
        # An index on a server has no folder.
        read_stored_tokens(ranker, getattr(index, "beside", None))

    def answer(self, question: Question, options: SearchOptions = DEFAULT_OPTIONS) -> Answer:
        """Answer one question; white space around it is ignored. Raises IndexUnavailable."""
        return rank_and_select(self.ranker, [retrieve(self.index, question, options)])[0]

    def answers(
        self, questions: Sequence[Question], options: SearchOptions = DEFAULT_OPTIONS
    ) -> Iterator[Answer]:
        """Yield each question's ``answer``; tags, operators and identifiers are not looked for.

        The candidates of all are fetched in one request. A question's retrieval time is its share of the time
        for all. Raises IndexUnavailable.
        """
        if not questions:
            return
        begun = time.perf_counter()
        with _index_errors(self.index):
            asked = [_asked(self.index, question.body, options) for question in questions]
            found = self.index.search_many([each.sought for each in asked], _most(options), options.filters)
            retrieved = [
                _retrieved(self.index, question, options, candidates, each)
                for question, candidates, each in zip(questions, found, asked, strict=True)
            ]
        share = round(_ms(begun, time.perf_counter()) / len(questions), 3)
        for each in retrieved:
            yield rank_and_select(self.ranker, [replace(each, retrieve_ms=share)])[0]


@contextmanager
def _index_errors(index: SearchIndex) -> Iterator[None]:
    try:
        yield
    except DamagedMetadata as error:
        raise IndexDamaged(f"the search index {index.name}: {error}") from error
    except (BioqaError, OSError) as error:
        raise IndexUnavailable(f"the search index {index.name} cannot be used: {error}") from error


def _check_finite(selection: Selection, ranker: str) -> None:
    # A NaN would pass through sorting and JSON unnoticed, or break clients that parse strictly.
    scores = [d.own_score for d in selection.documents] + [s.score for s in selection.sentences]
    if not all(map(math.isfinite, scores)):
        raise ArithmeticError(f"the ranker {ranker} returned a score that is not finite")


def _ms(begun: float, ended: float) -> float:
    return round(1000 * (ended - begun), 3)
