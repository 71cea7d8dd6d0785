"""From a ranking to an answer: the ten best documents and the ten best sentences in them.

A sentence's selection score is sigmoid(c·s + o) × softmax(a·d) over the selected documents: Pappas and
Androutsopoulos 2021 multiply the sentence's score by the document's. The three scalars (c, o, a) make the two
comparable, and are tuned on development questions in the same way for every system, baselines included.
A sentence that is only the label of a part of the abstract ("METHODS:") is never selected.
"""

from dataclasses import dataclass

import numpy as np

from bioqa.bioasq.domain import MAX_ITEMS
from bioqa.bioasq.labels import is_label
from bioqa.models.answers.ranking import RankedSentence, Ranking, Selection
from bioqa.models.arrays import Floats


@dataclass(frozen=True, slots=True)
class Calibration:
    """The scalars of the selection score: sentence scale c, sentence offset o, document scale a."""

    sentence_scale: float = 1.0
    sentence_offset: float = 0.0
    document_scale: float = 1.0


def select(
    ranking: Ranking, calibration: Calibration, max_documents: int = MAX_ITEMS, max_snippets: int = MAX_ITEMS
) -> Selection:
    """The best documents and, among their sentences, the best. Equal scores keep reading order."""
    documents = ranking.documents[:max_documents]
    if not documents:
        return Selection((), ())
    shifted = calibration.document_scale * np.array([d.score for d in documents], dtype=np.float64)
    shares = np.exp(shifted - shifted.max())
    shares /= shares.sum()
    scored = [
        RankedSentence(ranked.document, sentence, score)
        for ranked, share in zip(documents, shares.tolist(), strict=True)
        for sentence, score in zip(
            ranked.document.sentences,
            (share * probability(ranked.sentence_scores, calibration)).tolist(),
            strict=True,
        )
        if not is_label(ranked.document, sentence)
    ]
    scored.sort(key=lambda s: -s.score)
    return Selection(documents, tuple(scored[:max_snippets]))


def probability(scores: tuple[float, ...], calibration: Calibration) -> Floats:
    """[sentences] in [0, 1]: sigmoid(c·s + o) of each sentence's score."""
    x = calibration.sentence_scale * np.array(scores, dtype=np.float64) + calibration.sentence_offset
    # The sigmoid by way of tanh, which does not overflow.
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))
