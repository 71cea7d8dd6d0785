"""From a ranking to an answer: the ten best documents and the best sentences in them, ten at most.

A sentence's selection score is sigmoid(c·s + o) × softmax(a·d) over the selected documents: Pappas and
Androutsopoulos 2021 multiply the sentence's score by the document's. The three scalars (c, o, a) make the two
comparable, and are tuned on development questions in the same way for every system, baselines included.
Rankers in use multiply by e^(g·(u - 1)), too, where u is the sentence's support by the other documents.
A sentence that is only the label of a part of the abstract ("METHODS:") is never selected.

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
    scored = [
        (RankedSentence(ranked.document, sentence, score), weight)
        for ranked, share in zip(documents, document_shares(documents, calibration).tolist(), strict=True)
        for sentence, score, weight in zip(
            ranked.document.sentences,
            (share * factors(ranked, calibration)).tolist(),
            log_weights(ranked, calibration).tolist(),
            strict=True,
        )
        if not is_label(ranked.document, sentence)
    ]
    scored.sort(key=lambda pair: -pair[0].score)
    chosen = scored[: limits.snippets]
    if limits.margin is not None and chosen:
        least = max(weight for _, weight in chosen) - limits.margin
        chosen = [pair for pair in chosen if pair[1] >= least]
    sentences = tuple(sentence for sentence, _ in chosen)
    if scale is None:
        return Selection(documents, sentences)
    # Documents may have another order, such as by date.
    order = sorted(range(len(documents)), key=lambda place: -documents[place].score)
    of_ordered = _probabilities(scale.documents, [documents[place].score for place in order])
    of_documents = [p for _, p in sorted(zip(order, of_ordered, strict=True))]
    of_sentences = _probabilities(scale.sentences, [weight for _, weight in chosen])
    return Selection(
        tuple(replace(d, score=p, raw_score=d.score) for d, p in zip(documents, of_documents, strict=True)),
        tuple(replace(s, score=p, raw_score=s.score) for s, p in zip(sentences, of_sentences, strict=True)),
    )


def _probabilities(curve: Curve, scores: list[float]) -> list[float]:
    """Of scores in descending order. Rounding may not turn two of them round."""
    found: list[float] = np.minimum.accumulate(curve(np.array(scores, dtype=np.float64))).tolist()
    return found


def document_shares(documents: Sequence[RankedDocument], calibration: Calibration) -> Floats:
    """[documents] softmax(a·d) over documents that are selected together, at least one."""
    shifted = calibration.document_scale * np.array([d.score for d in documents], dtype=np.float64)
    shares: Floats = np.exp(shifted - shifted.max())
    shares /= shares.sum()
    return shares


def probability(scores: tuple[float, ...], calibration: Calibration) -> Floats:
    """[sentences] in [0, 1]: sigmoid(c·s + o) of each sentence's score."""
    return sigmoid(_logits(scores, calibration))


UNKNOWN_SUPPORT = 0.2
"""Of a sentence whose support is not known, as it is not among the ten best documents, or theirs is the only
one: about what selected sentences have in the mean."""


def agreement_factors(ranked: RankedDocument, calibration: Calibration) -> Floats:
    """[sentences] e^(g·(u - 1)), in (0, 1]; 1 if agreement does not count."""
    return np.exp(_agreement(ranked, calibration))


def factors(ranked: RankedDocument, calibration: Calibration) -> Floats:
    """[sentences] selection scores, but for the document's share."""
    return probability(ranked.sentence_scores, calibration) * agreement_factors(ranked, calibration)


def log_weights(ranked: RankedDocument, calibration: Calibration) -> Floats:
    """[sentences] the logarithm of the selection score, without the sum that all sentences share.

    So it is comparable between questions, and does not depend on how many documents are selected.
    """
    return own_log_weights(ranked, calibration) + _agreement(ranked, calibration)


def _agreement(ranked: RankedDocument, calibration: Calibration) -> Floats:
    known = ranked.support or (UNKNOWN_SUPPORT,) * len(ranked.sentence_scores)
    return calibration.agreement * (np.array(known, dtype=np.float64) - 1.0)


def own_log_weights(ranked: RankedDocument, calibration: Calibration) -> Floats:
    """``log_weights`` without what other documents say."""
    return calibration.document_scale * ranked.own_score - np.logaddexp(
        0.0, -_logits(ranked.sentence_scores, calibration)
    )


def _logits(scores: tuple[float, ...], calibration: Calibration) -> Floats:
    return calibration.sentence_scale * np.array(scores, dtype=np.float64) + calibration.sentence_offset
