"""The ranking that needs no model: documents in the first stage's order, sentences by stemmed BM25.

Used for answers while a model fails. It depends on the candidates alone, so that what is wrong with a
checkpoint cannot make it fail too.
"""

from collections.abc import Sequence

import numpy as np

from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.scale import Curve, Scale
from bioqa.models.answers.selection import Calibration
from bioqa.models.arrays import Floats, Ints
from bioqa.models.features.matching import bm25_scores, match
from bioqa.models.text.frequencies import inverse_document_frequencies
from bioqa.models.text.words import stem, terms

CALIBRATION = Calibration(sentence_scale=0.753, sentence_offset=-7.58, document_scale=0.194)
"""Tuned by bioqa.models.answers.calibration on BioASQ 5's questions (snippet F1 .345; on BioASQ 6's .307)."""
SCALE = Scale(
    Curve((-2.3, 18.1, 23.5, 29.8, 37.5, 82.4), (-4.55, -1.06, -0.61, -0.20, 0.87, 1.06)),
    Curve((-8.04, 0.76, 2.84, 4.59, 17.5), (-3.79, -1.06, -0.82, -0.50, 0.42)),
    margin=3.51,
)
"""Fitted by bioqa.models.answers.reliability and .weak on the same questions."""


def rank_lexically(question: str, candidates: Sequence[Candidate]) -> Ranking:
    """All candidates in their order. IDF is computed over their sentences, for want of a corpus."""
    counts = [candidate.document.sentence_count for candidate in candidates]
    texts = [text for candidate in candidates for text in candidate.document.sentence_texts()]
    scores = _sentence_bm25(question, texts)
    ends = np.cumsum([0, *counts])
    return Ranking(
        tuple(
            RankedDocument(candidate.document, candidate.score, tuple(scores[begin:end].tolist()))
            for candidate, begin, end in zip(candidates, ends[:-1], ends[1:], strict=True)
        )
    )


def _sentence_bm25(question: str, texts: Sequence[str]) -> Floats:
    """[texts]"""
    numbers = {term: number for number, term in enumerate(dict.fromkeys(_stems(question)))}
    stems = [_stems(text) for text in texts]
    lengths: Ints = np.array([len(unit) for unit in stems], dtype=np.int64)
    ids: Ints = np.array([numbers.get(term, -1) for unit in stems for term in unit], dtype=np.int64)
    question_ids: Ints = np.array(list(numbers.values()), dtype=np.int64)
    if not len(question_ids) or not len(ids):
        return np.zeros(len(texts), dtype=np.float32)
    matches = match(question_ids, ids, lengths).counts
    having = (matches > 0).sum(axis=1)
    idf = inverse_document_frequencies(having, len(texts)).astype(np.float32)
    return bm25_scores(matches, lengths, idf, float(lengths.mean()), 1.2, 0.75)


def _stems(text: str) -> list[str]:
    return [stemmed for term in terms(text) if (stemmed := stem(term))]
