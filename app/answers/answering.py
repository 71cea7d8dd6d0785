"""The heart: retrieve the candidates, re-rank them jointly with their sentences, select the answer."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from bioqa.app.answers.answer import Answer, Timings
from bioqa.app.answers.emptied import LeftOut, without_each
from bioqa.app.answers.explaining import (
    Explanation,
    RetrievalExplanation,
    VectorStage,
    explain,
    explain_retrieval,
)
from bioqa.app.answers.facets import Facets, facets_of
from bioqa.app.answers.fusion import FoundBy
from bioqa.app.answers.newest import by_date, newest_page
from bioqa.app.answers.question import DEFAULT_OPTIONS, ExplainOptions, Options
from bioqa.app.answers.vectors import FoundCandidates, asks_words_alone, find
from bioqa.app.settings import MAX_CANDIDATES
from bioqa.bioasq.domain import Candidate, Document, Question
from bioqa.indexer.medline.packed import DamagedMetadata
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.filtering.conditions import AnyOf, HasPmid, Without
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.notation.interpretation import Interpretation
from bioqa.indexer.search.questions.condensing import is_long
from bioqa.indexer.search.questions.reading import Reading
from bioqa.indexer.search.questions.rewriting import rewritten
from bioqa.indexer.search.records import Described
from bioqa.indexer.search.wording import Wording
from bioqa.models.answers.confidence import Confidence
from bioqa.models.answers.document_roles import with_roles
from bioqa.models.answers.ranking import RankedDocument, Ranking, Selection
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

    @property
    def scale(self) -> Scale | None:
        """What its scores mean; None if that was not fitted."""
        ...


class Ranker(LoadedRanker, Protocol):
    """A loaded checkpoint, as ``bioqa.models.reranker.Reranker`` and the cascade are."""

    @property
    def reads_pieces(self) -> bool:
        """Whether it has an encoder, which may take all cores for seconds, within limits of its own."""
        ...

    def read_stored_tokens(self, folder: Path) -> None:
        """Read what `bioqa tokens` stored in an index's folder."""
        ...

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking: ...

    def rank_many(self, items: Sequence[tuple[str, Sequence[Candidate]]]) -> Sequence[Ranking]: ...

    def candidates(self, question: str, documents: Sequence[Document]) -> list[Candidate]: ...


@dataclass(frozen=True, slots=True)
class Explaining:
    """What retrieval says of an article that is to be explained."""

    retrieval: RetrievalExplanation
    question: "Retrieved"
    """The question with its candidates; the article is among them, if the index has it."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A question with its candidates, ready to be ranked."""

    question: Question
    options: Options
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
    notation: Interpretation | None = None
    reading: Reading | None = None
    skip: int = 0
    """Documents of the ranking that come before the answer."""
    next_offset: int | None = None
    facets: Facets | None = None
    fitting: int | None = None
    """How many of the candidates fit, if they are shown by date; see ``newest``."""
    emptied: tuple[LeftOut, ...] = ()
    explaining: Explaining | None = None
    found_by: Mapping[str, FoundBy] = field(default_factory=dict)
    """By PMID: each candidate's ranks by words and by vectors; empty if vectors were not used."""
    vectors_ms: float = 0.0
    by_words: str | None = None
    """Why words alone found the candidates, though vectors were to be used."""

    @property
    def is_by_date(self) -> bool:
        """Whether the newest of the documents that fit come first."""
        return self.options.order == "date" and not self.listed

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
            documents=tuple(
                replace(ranked, document=own[ranked.document.pmid]) for ranked in ranking.documents
            ),
        )


def retrieve(index: SearchIndex, question: Question, options: Options = DEFAULT_OPTIONS) -> Retrieved:
    """Fetch the candidates; white space around the question is ignored.

    Raises IndexUnavailable, and FilterError and SyntaxFault for options that ``Options.check`` refuses.
    """
    begun = time.perf_counter()
    filters, notation = options.as_filters(), options.interpretation(question.body)
    with _index_errors(index):
        retrieved = _search(index, question, options, filters, notation)
        if not retrieved.candidates and notation and notation.perhaps_words:
            retrieved = _search(index, question, options, filters, None)
        return replace(retrieved, retrieve_ms=_ms(begun, time.perf_counter()))


def _search(
    index: SearchIndex,
    question: Question,
    options: Options,
    filters: Filters,
    notation: Interpretation | None,
) -> Retrieved:
    if notation is None:
        return _find(index, question, options, filters, question.body)
    # Who names an article wants that one, whatever the filters were before.
    narrowed = (NO_FILTERS if notation.identifiers else filters).restrict(notation.restriction)
    if notation.words:
        restricted = notation.from_tags
        retrieved = _find(index, question, options, narrowed, notation.words, restricted=restricted)
    else:
        # One more, to know whether there are further ones.
        most = min(options.offset + options.max_documents + 1, MAX_CANDIDATES)
        listed = [Candidate(document, 0.0) for document in index.newest(narrowed, most)]
        retrieved = _take_results(index, question, options, narrowed, FoundCandidates(listed), None)
    emptied = () if notation.identifiers else retrieved.emptied
    return replace(retrieved, notation=notation, emptied=emptied)


def _find(
    index: SearchIndex,
    question: Question,
    options: Options,
    filters: Filters,
    text: str,
    *,
    restricted: bool = False,
) -> Retrieved:
    """The candidates for a text. ``restricted``: all documents that pass the filters are wanted, and the text
    only orders them."""
    query = _read(index, text, options)
    results = _candidates(index, query, options, filters)
    if restricted:
        results = _add_others(index, results, options, filters)
    retrieved = _take_results(index, question, options, filters, results, query)
    return _add_article(index, retrieved, filters, query)


def _candidates(index: SearchIndex, query: "_Query", options: Options, filters: Filters) -> FoundCandidates:
    return find(index, query.wording, query.encoded, _most(options), filters, options.found_by)


def _add_others(
    index: SearchIndex, results: FoundCandidates, options: Options, filters: Filters
) -> FoundCandidates:
    """What was found, and behind it documents that have none of the words, such as only a heading, the newest
    first. In the order of dates, the newest documents alone."""
    by_words = [] if options.order == "date" else [*results.candidates]
    if len(by_words) >= (most := _most(options)):
        return results
    shown = {candidate.document.pmid for candidate in by_words}
    newest = index.newest(filters, most)
    others = [Candidate(document, 0.0) for document in newest if document.pmid not in shown]
    return replace(results, candidates=[*by_words, *others][:most])


@dataclass(frozen=True, slots=True)
class _Query:
    """What is searched for and ranked by."""

    text: str
    condensed: str | None
    """The words that carry the text, if it is long."""
    reading: Reading | None
    """How the words are read; None if the text is long, or to be taken literally."""

    @property
    def words(self) -> str:
        return self.condensed or self.text

    @property
    def wording(self) -> str | Wording:
        return self.words if self.reading is None else self.reading.wording

    @property
    def encoded(self) -> str:
        """What an encoder makes the question's vector of."""
        return self.text if self.reading is None else self.reading.explained


def _read(index: SearchIndex, text: str, options: Options) -> _Query:
    text = text.strip()
    condensed = index.condense(text) if is_long(text) else None
    literal = options.literal or is_long(text)
    return _Query(text, condensed, None if literal else index.read(text))


def _take_results(
    index: SearchIndex,
    question: Question,
    options: Options,
    filters: Filters,
    results: FoundCandidates,
    query: _Query | None,
) -> Retrieved:
    """Keep those of the found documents that the answer is taken from. ``query``: None if documents
    are only listed."""
    run, skip, next_offset = _page(results.candidates, options, listed=query is None)
    wording = None if query is None else query.wording
    retrieved = Retrieved(
        question,
        options,
        run,
        index.name,
        retrieve_ms=0.0,
        listed=query is None,
        skip=skip,
        next_offset=next_offset,
        facets=_count_facets(index, results, wording, filters) if options.facets else None,
        emptied=without_each(index, wording, filters) if filters and not results.candidates else (),
        found_by=results.places,
        vectors_ms=results.vectors_ms,
        by_words=results.problem,
    )
    if query is None:
        return retrieved
    words, as_ranked = _as_ranked(query, run)
    return replace(
        retrieved, words=words, as_ranked=as_ranked, condensed=query.condensed, reading=query.reading
    )


def _count_facets(
    index: SearchIndex, results: FoundCandidates, wording: str | Wording | None, filters: Filters
) -> Facets:
    """Counts over the best 1,000 by words; with vectors over the candidates of both lists, and behind them
    the best others by words."""
    if not results.places:
        return facets_of(index.describe(wording, MAX_CANDIDATES, filters))
    documents = [candidate.document for candidate in results.candidates]
    candidates = AnyOf(tuple(HasPmid(int(document.pmid)) for document in documents))
    others = filters.restrict(Without(candidates))
    return facets_of(
        [
            *(Described(document.published, document.metadata) for document in documents),
            *index.describe(wording, MAX_CANDIDATES - len(documents), others),
        ]
    )


def _as_ranked(query: _Query, candidates: Sequence[Candidate]) -> tuple[str, Sequence[Candidate] | None]:
    """The question as a ranker reads it; and the candidates, if any of them is rewritten for it."""
    if query.reading is None:
        return query.words, None
    rewriting = rewritten(query.reading, [candidate.document for candidate in candidates])
    pairs = [*zip(candidates, rewriting.documents, strict=True)]
    if all(document is candidate.document for candidate, document in pairs):
        return rewriting.question, None
    return rewriting.question, [replace(candidate, document=document) for candidate, document in pairs]


def _add_article(index: SearchIndex, retrieved: Retrieved, filters: Filters, query: _Query) -> Retrieved:
    """With what retrieval says of the article that is to be explained, if there is one."""
    options, candidates = retrieved.options, retrieved.candidates
    if not isinstance(options, ExplainOptions):
        return retrieved
    pmid = str(options.pmid)
    retrieval, document = explain_retrieval(
        index, query.wording, pmid, filters, candidates, VectorStage(query.encoded, retrieved.found_by)
    )
    with_article = retrieved
    if document is not None and all(candidate.document.pmid != pmid for candidate in candidates):
        ranked_by_meaning = any(candidate.cosine is not None for candidate in candidates)
        cosine = retrieval.found_by.cosine if retrieval.found_by and ranked_by_meaning else None
        candidates = [*candidates, Candidate(document, retrieval.score, cosine)]
        words, as_ranked = _as_ranked(query, candidates)
        with_article = replace(retrieved, candidates=candidates, words=words, as_ranked=as_ranked)
    return replace(retrieved, explaining=Explaining(retrieval, with_article))


def _most(options: Options) -> int:
    """How many of the best documents the answer is taken from."""
    if options.order == "date":
        return options.run
    return min((options.offset // options.run + 1) * options.run, MAX_CANDIDATES)


def _page(
    candidates: Sequence[Candidate], options: Options, *, listed: bool
) -> tuple[Sequence[Candidate], int, int | None]:
    """The candidates to rank, how many of the ranked ones to skip, and where further results begin."""
    begin, end = options.offset, options.offset + options.max_documents
    if listed:
        return candidates[begin:end], 0, end if end < len(candidates) else None
    if options.order == "date":
        # Which of them fit is known when they are ranked.
        return candidates[: options.run], 0, None
    first = begin // options.run * options.run
    run = candidates[first : first + options.run]
    end = min(end, first + len(run))
    # A full run may be followed by another one.
    more = end < first + len(run) or (len(run) == options.run and end < MAX_CANDIDATES)
    return run, begin - first, end if more and end > begin else None


def rank_and_select(ranker: Ranker, retrieved: Sequence[Retrieved]) -> list[Answer]:
    """Answer questions, ranking them together. Raises what the ranker raises."""
    begun = time.perf_counter()
    items = [question.item for question in retrieved if not question.listed]
    rankings = iter(ranker.rank_many(items) if len(items) > 1 else [ranker.rank(*item) for item in items])
    spent = _ms(begun, time.perf_counter())
    answers = []
    for question in retrieved:
        if question.listed:
            page, ranking, scale = question, _list_unscored(question), None
        else:
            scale = ranker.scale
            page, ranking = _choose_page(question, next(rankings), scale, ranker)
        answers.append(_answer(page, ranking, (ranker.calibration, scale), ranker, begun, spent))
    return answers


def _list_unscored(retrieved: Retrieved) -> Ranking:
    """Documents as they are found, without scores of their sentences: there is no question to mark any by."""
    return Ranking(tuple(RankedDocument(candidate.document, 0.0, ()) for candidate in retrieved.candidates))


def _choose_page(
    retrieved: Retrieved, ranking: Ranking, scale: Scale | None, ranker: Ranker | None = None
) -> tuple[Retrieved, Ranking]:
    """The ranking of ``Retrieved.item`` as one of the candidates; by date, of those on the page that fit.

    ``ranker``: the one that ranked them, to compare the sentences of these documents as it does those of the
    best ones.
    """
    if not retrieved.is_by_date:
        return retrieved, retrieved.of_candidates(ranking)
    page = newest_page(ranking, retrieved.options, scale)
    # Not in the protocol: other rankers need not compare documents.
    read_again = getattr(ranker, "read_again", None)
    chosen = page.ranking if read_again is None else read_again(retrieved.item[0], page.ranking)
    paged = replace(retrieved, fitting=page.fitting, next_offset=page.next_offset)
    own = retrieved.of_candidates(chosen)
    return paged, replace(own, documents=by_date(own.documents))


def _take_page(ranking: Ranking, retrieved: Retrieved) -> Ranking:
    """The part of a ranking that the answer is taken from."""
    return replace(ranking, documents=ranking.documents[retrieved.skip :])


def answer_by_bm25(ranker: Ranker, retrieved: Retrieved, reason: str) -> Answer:
    """Answer in place of a ranker that failed: documents in the index's order, sentences by BM25."""
    # Imported here because nltk takes half a second, which no command should wait for.
    from bioqa.models.answers.lexical import CALIBRATION, SCALE, rank_lexically

    begun = time.perf_counter()
    # The ranker that failed would be asked again.
    retrieved = replace(retrieved, explaining=None)
    retrieved, ranking = _choose_page(retrieved, rank_lexically(*retrieved.item), SCALE)
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
    shown = _take_page(ranking, retrieved)
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
        question=retrieved.question,
        options=options,
        selection=replace(selection, sentences=with_roles(selection.sentences)),
        index=retrieved.index,
        ranker=ranker.name,
        ranker_hash=ranker.hash,
        timings_ms=Timings(
            wait=waited,
            retrieve=retrieved.retrieve_ms,
            vectors=retrieved.vectors_ms,
            rerank=rerank_ms,
            select=_ms(ranked, time.perf_counter()),
        ),
        candidates=len(retrieved.candidates),
        truncated_sentences=ranking.truncated_sentences,
        calibrated=scale is not None,
        condensed=retrieved.condensed,
        confidence=estimate,
        notation=retrieved.notation,
        reading=retrieved.reading,
        next_offset=retrieved.next_offset,
        fitting=retrieved.fitting,
        facets=retrieved.facets,
        emptied=retrieved.emptied,
        found_by=retrieved.found_by,
        by_words=retrieved.by_words,
        explanation=_explanation(ranker, retrieved, calibration),
    )


def _limits(scale: Scale | None, options: Options) -> SelectionLimits:
    margin = None if scale is None or options.weak_snippets else scale.margin
    return SelectionLimits(options.max_documents, options.max_snippets, margin)


def _explanation(ranker: Ranker, retrieved: Retrieved, calibration: Calibration) -> Explanation | None:
    explaining = retrieved.explaining
    if explaining is None:
        return None
    limits = _limits(ranker.scale, retrieved.options)
    return explain(ranker, explaining.retrieval, explaining.question, calibration, limits)


def _is_whole(retrieved: Retrieved) -> bool:
    """Whether the ranking is of an index's best candidates: a later run says little about the question."""
    options = retrieved.options
    best = options.order == "relevance" and options.offset < options.run
    return bool(retrieved.index) and best and not retrieved.listed


def _confidence(retrieved: Retrieved, ranking: Ranking, calibration: Calibration) -> Confidence:
    # Imported here because nltk takes half a second, which no command should wait for.
    from bioqa.models.answers.evidence import confidence

    notation = retrieved.notation
    text = retrieved.question.body if notation is None else notation.words
    return confidence(text, ranking, calibration, answered_by=retrieved.item[0])


class Answerer:
    """Answers questions one after another, without a queue. Thread-safe if its index and ranker are."""

    def __init__(self, index: SearchIndex, ranker: Ranker) -> None:
        self.index = index
        self.ranker = ranker
        if index.beside is not None:
            ranker.read_stored_tokens(index.beside)

    def answer(self, question: Question, options: Options = DEFAULT_OPTIONS) -> Answer:
        """Answer one question; white space around it is ignored. Raises IndexUnavailable."""
        return rank_and_select(self.ranker, [retrieve(self.index, question, options)])[0]

    def answers(self, questions: Sequence[Question], options: Options = DEFAULT_OPTIONS) -> Iterator[Answer]:
        """Yield each question's ``answer``; tags, operators and identifiers are not looked for.

        The candidates of all are fetched in one request. A question's retrieval time is its share of the time
        for all. Raises IndexUnavailable.
        """
        if not questions:
            return
        begun, filters = time.perf_counter(), options.as_filters()
        with _index_errors(self.index):
            queries = [_read(self.index, question.body, options) for question in questions]
            results = self._find_all(questions, queries, options, filters)
            retrieved = [
                _take_results(self.index, question, options, filters, result, query)
                for question, result, query in zip(questions, results, queries, strict=True)
            ]
        share = round(_ms(begun, time.perf_counter()) / len(questions), 3)
        for question_retrieved in retrieved:
            yield rank_and_select(self.ranker, [replace(question_retrieved, retrieve_ms=share)])[0]

    def _find_all(
        self, questions: Sequence[Question], queries: Sequence[_Query], options: Options, filters: Filters
    ) -> list[FoundCandidates]:
        if asks_words_alone(self.index, options.found_by):
            # In as few requests as a server allows.
            wordings = [query.wording for query in queries]
            return [*map(FoundCandidates, self.index.search_many(wordings, _most(options), filters))]
        return [_candidates(self.index, query, options, filters) for query in queries]


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
