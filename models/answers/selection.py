"""From a ranking to an answer: the ten best documents and the best sentences in them, ten at most.

A sentence's selection score is sigmoid(c·s + o) × softmax(a·d) over the selected documents: Pappas and
Androutsopoulos 2021 multiply the sentence's score by the document's. The three scalars (c, o, a) make the two
comparable, and are tuned on development questions in the same way for every system, baselines included.
Rankers in use multiply by e^(g·(u - 1)), too, where u is the sentence's support by the other documents.
A sentence that is only the label of a part of the abstract ("METHODS:") is never selected.

Where a second reading counts (``bioqa.models.answers.aptness``), the product is multiplied by e^(h·r), too,
where r is what it found. That is the order. Which sentences are shown, but for the first ones, is decided by
what the second reading learned of BioASQ's gold: its experts marked definitions and aims, too, so what they
would show differs from what answers.

The scores that are shown are another matter: probabilities, if the ranker has a scale. They keep the order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bioqa.bioasq.domain import DEFAULT_DOCUMENTS, DEFAULT_SNIPPETS
from bioqa.bioasq.labels import is_label
from bioqa.models.answers.ranking import RankedDocument, RankedSentence, Ranking, Selection
from bioqa.models.answers.scale import Curve, Scale, sigmoid
from bioqa.models.arrays import Floats


@dataclass(frozen=True, slots=True)
class Calibration:
    """The scalars of the selection score: sentence scale c, sentence offset o, document scale a."""

    sentence_scale: float = 1.0
    sentence_offset: float = 0.0
    document_scale: float = 1.0
    agreement: float = 0.0
    """g: how much it counts that other documents say the same."""
    aptness: float = 0.0
    """h: how much a second reading counts (bioqa.models.answers.aptness), 1 as it was fitted."""


@dataclass(frozen=True, slots=True)
class SelectionLimits:
    """How much is selected."""

    documents: int = DEFAULT_DOCUMENTS
    snippets: int = DEFAULT_SNIPPETS
    margin: float | None = None
    """Sentences whose log-weight is further below the best one's are left out."""


TEN = SelectionLimits()


def select(
    ranking: Ranking, calibration: Calibration, limits: SelectionLimits = TEN, scale: Scale | None = None
) -> Selection:
    """The best documents and, among their sentences, the best. Equal scores keep reading order.

    With a ``scale``, scores are probabilities, and those that decided are kept as ``raw_score``.
    """
    documents = ranking.documents[: limits.documents]
    if not documents:
        return Selection((), ())
    chosen = _chosen(_weigh(documents, calibration), calibration, limits)
    sentences = tuple(weighed.sentence for weighed in chosen)
    if scale is None:
        return Selection(documents, sentences)
    # Documents may have another order, such as by date.
    order = sorted(range(len(documents)), key=lambda position: -documents[position].score)
    of_ordered = _probabilities(scale.documents, [documents[position].score for position in order])
    of_documents = [p for _, p in sorted(zip(order, of_ordered, strict=True))]
    of_sentences = _probabilities(scale.sentences, [weighed.weight for weighed in chosen])
    return Selection(
        tuple(replace(d, score=p, raw_score=d.score) for d, p in zip(documents, of_documents, strict=True)),
        tuple(replace(s, score=p, raw_score=s.score) for s, p in zip(sentences, of_sentences, strict=True)),
    )


ALWAYS_SHOWN = 1
"""So many of the sentences that are best after a second reading, whatever the first one was."""


@dataclass(frozen=True, slots=True)
class _Weighed:
    sentence: RankedSentence
    weight: float
    """``log_weights``, which order sentences."""
    shown: float
    """The one that decides what is shown."""


def _weigh(documents: Sequence[RankedDocument], calibration: Calibration) -> list[_Weighed]:
    """All sentences that can be selected, in reading order."""
    return [
        _Weighed(RankedSentence(ranked.document, sentence, score), weight, shown)
        for ranked, share in zip(documents, document_shares(documents, calibration).tolist(), strict=True)
        for sentence, score, weight, shown in zip(
            ranked.document.sentences,
            (share * factors(ranked, calibration)).tolist(),
            *(weights.tolist() for weights in _both_log_weights(ranked, calibration)),
            strict=True,
        )
        if not is_label(ranked.document, sentence)
    ]


def _chosen(weighed: Sequence[_Weighed], calibration: Calibration, limits: SelectionLimits) -> list[_Weighed]:
    """Those that are shown, best first."""
    best_first = sorted(weighed, key=lambda sentence: -sentence.sentence.score)
    always = min(ALWAYS_SHOWN if calibration.aptness else 0, limits.snippets)
    others = sorted(best_first[always:], key=lambda sentence: -sentence.shown) if always else best_first
    others = others[: limits.snippets - always]
    if limits.margin is not None and weighed and limits.snippets:
        least = max(sentence.shown for sentence in best_first[:always] + others) - limits.margin
        others = [other for other in others if other.shown >= least]
    chosen = best_first[:always] + others
    return sorted(chosen, key=lambda sentence: -sentence.sentence.score)


def _probabilities(curve: Curve, scores: list[float]) -> list[float]:
    """Probabilities of scores in descending order. Rounding may not turn two of them round."""
    probabilities: list[float] = np.minimum.accumulate(curve(np.array(scores, dtype=np.float64))).tolist()
    return probabilities


def document_shares(documents: Sequence[RankedDocument], calibration: Calibration) -> Floats:
    """[documents] softmax(a·d) over documents that are selected together, at least one."""
    shifted = calibration.document_scale * np.array([d.score for d in documents], dtype=np.float64)
    shares: Floats = np.exp(shifted - shifted.max())
    shares /= shares.sum()
    return shares


def probability(scores: tuple[float, ...], calibration: Calibration) -> Floats:
    """[sentences] in [0, 1]: sigmoid(c·s + o) of each sentence's score."""
    return sigmoid(sentence_logits(scores, calibration))


UNKNOWN_SUPPORT = 0.2
"""The support of a sentence where it is not known, as its document is not among the ten best ones or the only
one: about what selected sentences have in the mean."""


def agreement_factors(ranked: RankedDocument, calibration: Calibration) -> Floats:
    """[sentences] e^(g·(u - 1)), in (0, 1]; 1 if agreement does not count."""
    return np.exp(_agreement(ranked, calibration))


def aptness_factors(ranked: RankedDocument, calibration: Calibration) -> Floats:
    """[sentences] e^(h·r); 1 if a second reading does not count."""
    return np.exp(_read_again(ranked.aptness, ranked, calibration))


def factors(ranked: RankedDocument, calibration: Calibration) -> Floats:
    """[sentences] selection scores, but for the document's share."""
    factor = probability(ranked.sentence_scores, calibration) * agreement_factors(ranked, calibration)
    return factor * aptness_factors(ranked, calibration) if calibration.aptness else factor


def log_weights(ranked: RankedDocument, calibration: Calibration) -> Floats:
    """[sentences] the logarithm of the selection score, without the sum that all sentences share.

    So it is comparable between questions, and does not depend on how many documents are selected.
    """
    return _both_log_weights(ranked, calibration)[0]


def _both_log_weights(ranked: RankedDocument, calibration: Calibration) -> tuple[Floats, Floats]:
    """Those that order, and those that decide what is shown: the first reading's, each with its own
    correction by the second."""
    first = first_log_weights(ranked, calibration)
    if not calibration.aptness:
        return first, first
    corrections = (_read_again(added, ranked, calibration) for added in (ranked.aptness, ranked.relevance))
    order, shown = (first + correction for correction in corrections)
    return order, shown


def first_log_weights(ranked: RankedDocument, calibration: Calibration) -> Floats:
    """[sentences] ``log_weights`` without a second reading."""
    return own_log_weights(ranked, calibration) + _agreement(ranked, calibration)


def _agreement(ranked: RankedDocument, calibration: Calibration) -> Floats:
    support = ranked.support or (UNKNOWN_SUPPORT,) * len(ranked.sentence_scores)
    return calibration.agreement * (np.array(support, dtype=np.float64) - 1.0)


UNKNOWN_APTNESS = -2.0
"""The aptness of a sentence that was not read again, as its document is not among the ten best ones: about
what sentences that are shown have in the mean."""


def _read_again(added: tuple[float, ...], ranked: RankedDocument, calibration: Calibration) -> Floats:
    corrections = added or (UNKNOWN_APTNESS,) * len(ranked.sentence_scores)
    return calibration.aptness * np.array(corrections, dtype=np.float64)


def own_log_weights(ranked: RankedDocument, calibration: Calibration) -> Floats:
    """``log_weights`` without what other documents say."""
    return calibration.document_scale * ranked.own_score - np.logaddexp(
        0.0, -sentence_logits(ranked.sentence_scores, calibration)
    )


def sentence_logits(scores: tuple[float, ...], calibration: Calibration) -> Floats:
    """[sentences] c·s + o of each sentence's score."""
    return calibration.sentence_scale * np.array(scores, dtype=np.float64) + calibration.sentence_offset
