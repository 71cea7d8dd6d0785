"""Why a ranker put one document where it is: parts, features and words of the question that carried it.

What a score is the sum of is exact. Otherwise one thing is changed at a time and the model asked again
(ablation): a feature takes its mean over the training data, or a word leaves the question. Such effects add
up where the model is linear in them, and ``additive`` says whether they did; where things depend on each
other, they need not.
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.explanations import (
    FeatureEffect,
    RankerExplanation,
    SelectionExplanation,
    SentenceStanding,
    Summand,
    Swap,
    Unit,
    WordEffect,
)
from bioqa.models.answers.meaning import counts, without_cosines
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.selection import (
    Calibration,
    SelectionLimits,
    agreement_factors,
    aptness_factors,
    document_shares,
    probability,
    select,
)
from bioqa.models.arrays import Floats
from bioqa.models.cascade.ranker import Cascade
from bioqa.models.features.extractor import DOCUMENT_FEATURES, SENTENCE_FEATURES, Features, Scaling
from bioqa.models.rankers.batch import Example, collate
from bioqa.models.rankers.registry import place_of
from bioqa.models.reranker import Reranker
from bioqa.models.text.words import STOP_WORDS

MOST_WORDS = 15
"""Words of a question that are left out one by one: the ranker reads the document once for each."""

MOST_READ = 1_500
"""Candidates that the ranker reads once more, for the document's rank without a word."""

SHOWN_SENTENCES = 3

_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
_ADDS_UP = 1e-3


def explain_ranking(
    ranker: Any, question: str, candidates: Sequence[Candidate], position: int, selected: int
) -> tuple[RankerExplanation, Ranking]:
    """Explain the score of the candidate at ``position``, of which ``selected`` are chosen; and the ranking.

    ``ranker``: any that ranks; the more of its kind is known, the more is explained.
    """
    ranking = ranker.rank(question, candidates)
    pmid = candidates[position].document.pmid
    rank, ranked = _find(ranking, pmid)
    last = ranking.documents[:selected][-1] if rank > selected > 0 else None
    parts: tuple[Summand, ...] = ()
    features: tuple[FeatureEffect, ...] = ()
    swaps: tuple[Swap, ...] = ()
    words: tuple[WordEffect, ...] = ()
    additive, first = False, None
    by_meaning = 0.0
    if isinstance(ranker, Cascade):
        first, of_first = explain_ranking(
            ranker.first, question, without_cosines(candidates), position, selected
        )
        parts = _cascade_parts(ranker, ranked, _find(of_first, pmid)[1])
    else:
        if isinstance(ranker, Reranker):
            by_meaning = _added_by_meaning(ranker, question, candidates, ranked)
            parts = _meaning_parts(ranked.score, by_meaning)
            features, additive, swaps = _features(ranker, question, candidates, position, ranking, last)
        # An encoder would read all candidates once for each word.
        if not (isinstance(ranker, Reranker) and ranker.reads_pieces):
            words = tuple(_words(ranker, question, candidates, position, ranked.score - by_meaning))
    explained = RankerExplanation(
        ranker.name,
        ranked.score,
        rank,
        len(candidates),
        parts,
        features,
        additive,
        words,
        _adds_up([effect.effect for effect in words], ranked.score - by_meaning),
        swaps,
        first,
    )
    return explained, ranking


def explain_selection(
    ranking: Ranking, pmid: str, calibration: Calibration, limits: SelectionLimits
) -> SelectionExplanation:
    """Where the document and its best sentences stood when the answer was selected.

    A document that was not selected gets the share that it would have had beside those that were.
    """
    chosen = ranking.documents[: limits.documents]
    rank, ranked = _find(ranking, pmid)
    selected = rank <= len(chosen)
    # Shares are a softmax over those that are selected: one more takes from all others.
    beside = chosen if selected else (*chosen, ranked)
    shares = document_shares(beside, calibration)
    ordered = select(Ranking(beside), calibration, SelectionLimits(len(beside), sys.maxsize)).sentences
    rivals = ordered if selected else [document for document in ordered if document.document.pmid != pmid]
    answered = select(ranking, calibration, limits)
    shown = {(sentence.document.pmid, sentence.sentence) for sentence in answered.sentences}
    last = rivals[: len(shown)]
    # A sentence's score is the product of these three and the document's share.
    factors = zip(
        probability(ranked.sentence_scores, calibration).tolist(),
        agreement_factors(ranked, calibration).tolist(),
        aptness_factors(ranked, calibration).tolist(),
        strict=True,
    )
    of_sentence = dict(zip(ranked.document.sentences, factors, strict=True))
    standing = [
        SentenceStanding(
            sentence.sentence.section,
            sentence.sentence.begin,
            sentence.sentence.end,
            sentence.text,
            *of_sentence[sentence.sentence],
            sentence.score,
            position if selected else None,
            (pmid, sentence.sentence) in shown,
        )
        for position, sentence in enumerate(ordered, start=1)
        if sentence.document.pmid == pmid
    ]
    return SelectionExplanation(
        selected,
        chosen[-1].score if chosen else None,
        float(shares[min(rank, len(beside)) - 1]),
        last[-1].score if last else None,
        tuple(standing[:SHOWN_SENTENCES]),
    )


def _find(ranking: Ranking, pmid: str) -> tuple[int, RankedDocument]:
    return next(
        (rank, ranked)
        for rank, ranked in enumerate(ranking.documents, start=1)
        if ranked.document.pmid == pmid
    )


def _cascade_parts(ranker: Cascade, ranked: RankedDocument, first: RankedDocument) -> tuple[Summand, ...]:
    """The summands of score = first + a·(best sentence) + b·(relevance): see ``Combination.apply``."""
    weights = ranker.combination
    best = max(ranked.sentence_scores, default=0.0) * weights.document_weight
    # What the encoder said of the document itself is not in a ranking: it is what remains.
    rest = ranked.score - first.score - best
    parts = (
        (1.0, Summand(f"score of {ranker.first.name}", first.score)),
        (weights.document_weight, Summand("its best sentence, weighted", best)),
        (weights.relevance_weight, Summand("the encoder's judgement of the document, weighted", rest)),
    )
    return tuple(part for weight, part in parts if weight)


def _added_by_meaning(
    ranker: Reranker, question: str, candidates: Sequence[Candidate], ranked: RankedDocument
) -> float:
    if not counts(candidates, ranker.calibration):
        return 0.0
    plain = ranker.score_many([(question, without_cosines(candidates))])[0]
    return ranked.score - _find(plain, ranked.document.pmid)[1].score


def _meaning_parts(score: float, by_meaning: float) -> tuple[Summand, ...]:
    """The summands of a score of which closeness in meaning is a part."""
    if not by_meaning:
        return ()
    return Summand("words and features", score - by_meaning), Summand("closeness in meaning", by_meaning)


def _words(
    ranker: Any, question: str, candidates: Sequence[Candidate], position: int, score: float
) -> list[WordEffect]:
    """The largest effects first. Of many candidates only they have ranks: a score does not depend on other
    candidates, but a rank needs all of theirs. ``score``: without what meaning adds."""
    document = replace(candidates[position], cosine=None)
    pmid = document.document.pmid
    effects = []
    for word in _content_words(question):
        without = re.sub(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", " ", question, flags=re.IGNORECASE)
        effects.append((score - ranker.rank(without, [document]).documents[0].score, word, without))
    effects.sort(key=lambda effect: -abs(effect[0]))
    ranks = [
        _find(ranker.rank(without, candidates), pmid)[0]
        for *_, without in effects[: MOST_READ // len(candidates)]
    ]
    return [WordEffect(word, effect, rank) for (effect, word, _), rank in zip_longest(effects, ranks)]


def _content_words(question: str) -> list[str]:
    words = {word.lower(): word for word in _WORD.findall(question) if word.lower() not in STOP_WORDS}
    return [*words.values()][:MOST_WORDS]


class _Change(NamedTuple):
    """How an input of the model differs from the document as it is."""

    what: Literal["none", "mean", "all means", "lent"]
    """Whether a feature has its mean over the training data, or all have, or one has another document's."""
    unit: Unit = "document"
    column: int = 0


_AS_IT_IS, _ALL_MEANS = _Change("none"), _Change("all means")


def _features(
    ranker: Reranker,
    question: str,
    candidates: Sequence[Candidate],
    position: int,
    ranking: Ranking,
    last: RankedDocument | None,
) -> tuple[tuple[FeatureEffect, ...], bool, tuple[Swap, ...]]:
    """Effects, the largest first; whether they add up; swaps with the ``last`` selected document, if any."""
    example, raw = ranker.example(question, candidates)
    alone = example.take([position])
    other = None if last is None else _place_of(candidates, last)
    changed = _change_each(alone, None if other is None else example.take([other]))
    # In one pass: each input is scored as if it were alone.
    scores = dict(zip(changed, _scores(ranker, [*changed.values()]), strict=True))
    score = scores[_AS_IT_IS]
    values = _values(raw, example, position, ranking, candidates)
    effects = []
    for change in changed:
        if change.what == "mean":
            name, mean = _name_and_mean(ranker.checkpoint.scaling, change)
            value = values[change.unit][change.column]
            effects.append(FeatureEffect(name, change.unit, value, mean, score - scores[change]))
    # In a model that is linear in them, what all do together is the sum of what each does alone.
    additive = _adds_up([effect.effect for effect in effects], score - scores[_ALL_MEANS])
    swaps = []
    if last is not None:
        rivals = [
            document.score
            for document in ranking.documents
            if document.document.pmid != _pmid(candidates[position])
        ]
        by_meaning = _find(ranking, _pmid(candidates[position]))[1].score - score
        for change in changed:
            swapped = scores[change] + by_meaning
            if change.what == "lent" and swapped > last.score:
                rank = 1 + sum(rival > swapped for rival in rivals)
                name, lent = DOCUMENT_FEATURES[change.column], float(raw.documents[other][change.column])
                swaps.append(Swap(name, values["document"][change.column], lent, rank))
    return tuple(sorted(effects, key=lambda effect: -abs(effect.effect))), additive, tuple(swaps)


def _change_each(alone: Example, other: Example | None) -> dict[_Change, Example]:
    """The document as it is, and changed in one thing at a time; ``other``: a document that lends values."""
    documents = range(alone.features.documents.shape[1])
    # A document without sentences has no features of them that could change.
    sentences = range(alone.features.sentences.shape[1] if len(alone.features.sentences) else 0)
    changed = {_AS_IT_IS: alone}
    # Scaled features have mean 0 and deviation 1 over the training data, so that 0 is the mean.
    for column in documents:
        changed[_Change("mean", "document", column)] = _with_document(alone, [column], 0.0)
    # In all of the document's sentences at once: how the model pools them is part of the effect.
    for column in sentences:
        changed[_Change("mean", "sentence", column)] = _with_sentences(alone, [column])
    changed[_ALL_MEANS] = _with_sentences(_with_document(alone, documents, 0.0), sentences)
    if other is not None:
        for column in documents:
            lent = float(other.features.documents[0, column])
            changed[_Change("lent", "document", column)] = _with_document(alone, [column], lent)
    return changed


def _name_and_mean(scaling: Scaling, change: _Change) -> tuple[str, float]:
    """The feature's name, and its mean over the training data."""
    if change.unit == "document":
        return DOCUMENT_FEATURES[change.column], float(scaling.document_mean[change.column])
    return SENTENCE_FEATURES[change.column], float(scaling.sentence_mean[change.column])


def _place_of(candidates: Sequence[Candidate], ranked: RankedDocument) -> int:
    return next(
        position for position, candidate in enumerate(candidates) if _pmid(candidate) == ranked.document.pmid
    )


def _pmid(candidate: Candidate) -> str:
    return candidate.document.pmid


def _values(
    raw: Features, example: Example, position: int, ranking: Ranking, candidates: Sequence[Candidate]
) -> dict[Unit, list[float]]:
    """Features before scaling: the document's, and those of its best sentence."""
    values: dict[Unit, list[float]] = {"document": raw.documents[position].tolist(), "sentence": []}
    if example.unit_counts[position]:
        ranked = _find(ranking, _pmid(candidates[position]))[1]
        # Sentences of all candidates lie one behind the other.
        begin = int(example.unit_counts[:position].sum())
        best = int(np.argmax(ranked.sentence_scores)) if ranked.sentence_scores else 0
        values["sentence"] = raw.sentences[begin + best].tolist()
    return values


def _scores(ranker: Reranker, examples: Sequence[Example]) -> list[float]:
    batch = collate(examples, ranker.checkpoint.vocabulary).to(place_of(ranker.checkpoint.model))
    with torch.inference_mode():
        scores: list[float] = ranker.checkpoint.model(batch).documents.double().tolist()
    return scores


def _with_document(example: Example, columns: Sequence[int], value: float) -> Example:
    return replace(
        example,
        features=Features(_fill(example.features.documents, columns, value), example.features.sentences),
    )


def _with_sentences(example: Example, columns: Sequence[int]) -> Example:
    return replace(
        example,
        features=Features(example.features.documents, _fill(example.features.sentences, columns, 0.0)),
    )


def _fill(values: Floats, columns: Sequence[int], value: float) -> Floats:
    changed = values.copy()
    changed[:, list(columns)] = value
    return changed


def _adds_up(effects: Sequence[float], whole: float) -> bool:
    """Whether the effects' sum is the whole, but for the rounding of single precision."""
    # Relative to what is added, not to the sum: effects of opposite signs cancel, their rounding does not.
    scale = max(1.0, sum(map(abs, effects)))
    return bool(effects) and abs(sum(effects) - whole) <= _ADDS_UP * scale
