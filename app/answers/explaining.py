"""Why an article is, or is not, in an answer: where it stood at each stage, and what that depended on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import TypeAdapter

from bioqa.app.answers.fusion import FoundBy
from bioqa.app.answers.vectors import stand
from bioqa.app.settings import MAX_CANDIDATES
from bioqa.bioasq.domain import Candidate, Document
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.filtering.conditions import HasPmid
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.wording import Best, Every, Wording, Words, texts
from bioqa.indexer.vectors.file import VectorsError
from bioqa.models.answers.explanations import RankerExplanation, SelectionExplanation, SentenceStanding
from bioqa.models.answers.ranking import Ranking
from bioqa.models.answers.selection import Calibration, SelectionLimits
from bioqa.system.schema import DESCRIBED_BY_DOCSTRINGS

SHOWN_FEATURES = 10
"""Features that are shown: those with the largest effects."""


@dataclass(frozen=True, slots=True)
class Term:
    """What was searched for, and how much of the document's BM25 score comes from it."""

    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    text: str
    score: float
    """Its part of the document's BM25 score, exactly."""


@dataclass(frozen=True, slots=True)
class RetrievalExplanation:
    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    pmid: str
    title: str | None
    """null if the index does not have the article."""
    passes_filters: bool
    score: float
    """BM25; 0 if it has none of the words."""
    rank: int | None
    """By BM25 among all documents that pass the filters; null beyond 1,000."""
    candidates: int
    """Documents that were handed to the ranker."""
    is_candidate: bool
    last_score: float | None
    """The last candidate's."""
    terms: tuple[Term, ...]
    """The largest parts first."""
    found_by: FoundBy | None = None
    """If vectors were used: its ranks by words and by meaning, each null beyond 1,000, and its cosine,
    which is null if it has no vector."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where an article stood at each stage. What depends on a ranker is null if the index lacks it."""

    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    retrieval: RetrievalExplanation
    ranking: RankerExplanation | None
    selection: SelectionExplanation | None
    needed: tuple[str, ...]
    """What would have had to be different for it, or more of its sentences, to be selected."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON, in the form of ``POST /v1/explain``."""
        return dict(TypeAdapter(Explanation).dump_python(self, mode="json"))


class QuestionWithCandidates(Protocol):
    """A question with its candidates: ``bioqa.app.answers.answering.Retrieved``."""

    @property
    def item(self) -> tuple[str, Sequence[Candidate]]: ...

    def of_candidates(self, ranking: Ranking) -> Ranking: ...


@dataclass(frozen=True, slots=True)
class VectorStage:
    """What was encoded of a question, and which stage found its candidates, if vectors were used."""

    text: str = ""
    found_by: Mapping[str, FoundBy] = field(default_factory=dict)


def explain_retrieval(
    index: SearchIndex,
    sought: str | Wording,
    pmid: str,
    filters: Filters,
    candidates: Sequence[Candidate],
    vector_stage: VectorStage,
) -> tuple[RetrievalExplanation, Document | None]:
    """Find where words and vectors put a document; and the document, if the index has it. ``candidates``:
    those of the question, best first."""
    document = index.get([pmid]).get(pmid)
    last = candidates[-1].score if candidates else None
    if document is None:
        return RetrievalExplanation(pmid, None, False, 0.0, None, len(candidates), False, last, ()), None
    this_one = NO_FILTERS.restrict(HasPmid(int(pmid)))
    parts = [*_parts(Words(sought) if isinstance(sought, str) else sought)]
    whole, *of_parts = index.search_many([sought, *parts], 1, this_one)
    scored = [Term(_text(part), hits[0].score) for part, hits in zip(parts, of_parts, strict=True) if hits]
    places = [candidate.document.pmid for candidate in candidates]
    fused = bool(vector_stage.found_by)
    rank = places.index(pmid) + 1 if pmid in places and not fused else None
    passes = index.count(None, filters.restrict(HasPmid(int(pmid)))) > 0
    if rank is None and passes and whole:
        pmids = [hit.document.pmid for hit in index.search(sought, MAX_CANDIDATES, filters)]
        rank = pmids.index(pmid) + 1 if pmid in pmids else None
    explanation = RetrievalExplanation(
        pmid,
        document.title,
        passes,
        whole[0].score if whole else 0.0,
        rank,
        len(candidates),
        pmid in places,
        last,
        tuple(sorted(scored, key=lambda term: -term.score)),
        _find_ranks(index, vector_stage.text, pmid, filters, rank) if fused and passes else None,
    )
    return explanation, document


def _find_ranks(
    index: SearchIndex, text: str, pmid: str, filters: Filters, by_words: int | None
) -> FoundBy | None:
    try:
        return FoundBy(by_words, *stand(index, text, pmid, MAX_CANDIDATES, filters))
    except VectorsError:  # the file was exchanged since the candidates were found
        return None


def explain(
    ranker: Any,
    retrieval: RetrievalExplanation,
    retrieved: QuestionWithCandidates,
    calibration: Calibration,
    limits: SelectionLimits,
) -> Explanation:
    """``retrieved``: the question and its candidates, the article among them if the index has it."""
    question, candidates = retrieved.item
    position = next(
        (i for i, candidate in enumerate(candidates) if candidate.document.pmid == retrieval.pmid), None
    )
    if position is None:
        return Explanation(retrieval, None, None, tuple(_list_needs(retrieval, None, None)))
    # Imported here: torch takes seconds to import, which no command should that does not rank.
    from bioqa.models.explaining import explain_ranking, explain_selection

    of_ranker, ranking = explain_ranking(ranker, question, candidates, position, limits.documents)
    # Of the articles as they are, not as the ranker read them: their sentences have other offsets.
    as_indexed = retrieved.of_candidates(ranking)
    selection = explain_selection(as_indexed, retrieval.pmid, calibration, limits)
    return Explanation(retrieval, of_ranker, selection, tuple(_list_needs(retrieval, of_ranker, selection)))


def _parts(wording: Wording, weight: float = 1.0) -> Iterator[Wording]:
    """The summands of a wording: its words, and what is written in several ways."""
    weight *= wording.weight
    match wording:
        case Words(text):
            yield from (Words(word, weight) for word in text.split())
        case Every(parts):
            for part in parts:
                yield from _parts(part, weight)
        case Best(ways):
            yield Best(ways, weight)


def _text(part: Wording) -> str:
    return " / ".join(dict.fromkeys(texts(part))).strip("?.,;:!")


def _list_needs(
    retrieval: RetrievalExplanation,
    ranker: RankerExplanation | None,
    selection: SelectionExplanation | None,
) -> Iterator[str]:
    if retrieval.title is None:
        yield "The index does not have the article: load a file of MEDLINE that does."
        return
    if not retrieval.passes_filters:
        yield "The filters exclude the article: ask without them."
    elif not retrieval.is_candidate:
        yield _needed_of_retrieval(retrieval)
    if ranker is None or selection is None:
        return
    if not selection.selected and selection.last_document_score is not None:
        gap = selection.last_document_score - ranker.score
        yield (
            f"To be among the documents, its score would have to be {gap:.3f} higher: above "
            f"{selection.last_document_score:.3f}, that of the last one."
        )
    for swap in ranker.swaps:
        yield (
            f"With that document's {swap.name} ({swap.other:.3f} in place of {swap.value:.3f}) it would be "
            f"number {swap.rank}."
        )
    yield from _needed_of_sentences(selection)


def _needed_of_retrieval(retrieval: RetrievalExplanation) -> str:
    if retrieval.found_by is not None:
        ranks = retrieval.found_by
        return (
            f"{_say_rank('Words', ranks.words)}, {_say_rank('meaning', ranks.vectors)}: "
            f"together that is not among the {retrieval.candidates} candidates; ask for more of them."
        )
    if not retrieval.score:
        return "It has none of the words that were searched for: BM25 cannot find it by this question."
    where = f"number {retrieval.rank}" if retrieval.rank else f"not among the first {MAX_CANDIDATES:,}"
    more = ""
    if retrieval.rank:
        more = f", or ask for {retrieval.rank} candidates or more"
    missing = (retrieval.last_score or 0.0) - retrieval.score
    return (
        f"BM25 put it {where}: to be among the {retrieval.candidates} candidates, its score would have to be "
        f"{missing:.3f} higher{more}."
    )


def _say_rank(stage: str, rank: int | None) -> str:
    return f"{stage} put it {f'number {rank}' if rank else f'not among the first {MAX_CANDIDATES:,}'}"


def _needed_of_sentences(selection: SelectionExplanation) -> Iterator[str]:
    """What the best sentence that was not selected lacks."""
    left = next((sentence for sentence in selection.sentences if not sentence.selected), None)
    if left is None or selection.last_sentence_score is None or not selection.share:
        return
    factor = selection.share * left.agreement * left.aptness
    if not factor:
        return
    wanted = selection.last_sentence_score / factor
    where = f"Its {'next' if selection.sentences[0].selected else 'best'} sentence"
    if wanted > 1:
        yield (
            f"{where} could not be selected even with a probability of 1: the document's share of "
            f"{selection.share:.4f}{_agreeing(left)} is too small. Its document would need a higher score."
        )
    else:
        yield (
            f"{where} has a probability of {left.probability:.3f}; beside the document's share of "
            f"{selection.share:.4f}{_agreeing(left)} it would have to be above {wanted:.3f}."
        )


def _agreeing(sentence: SentenceStanding) -> str:
    factors = {"an agreement": sentence.agreement, "an aptness": sentence.aptness}
    return "".join(f" and {name} of {factor:.3f}" for name, factor in factors.items() if factor != 1.0)
