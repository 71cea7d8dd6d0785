"""Tuning the baseline on development questions: BM25's constants, the selection, the scale."""

import platform
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from bioqa.models.answers.baseline import Bm25Ranker, Constants, TunedBm25
from bioqa.models.answers.calibration import calibrate
from bioqa.models.answers.evaluation import measure
from bioqa.models.answers.first_stage import document_bm25
from bioqa.models.answers.reliability import fit_scale
from bioqa.models.arrays import Floats
from bioqa.models.features.extractor import stemmed_bm25
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.data import Prepared
from bioqa.models.training.development import PoolScores, document_map, gold_auc, rankings_of

K1_GRID = (0.3, 0.4, 0.6, 0.9, 1.2, 1.6)
B_GRID = (0.3, 0.5, 0.67, 0.75, 0.9)


def tuned_bm25(questions: Sequence[Prepared], vocabulary: Vocabulary, k1: float, b: float) -> list[Floats]:
    """BM25 of the retrieved documents with other constants: it re-ranks them, and retrieves no others."""
    return [document_bm25(q.question, q.retrieved.tokens, vocabulary, k1, b) for q in questions]


def tune_bm25(questions: Sequence[Prepared], vocabulary: Vocabulary) -> dict[tuple[float, float], float]:
    """Document MAP on these questions for every (k1, b) of the grid."""
    return {
        (k1, b): document_map(questions, tuned_bm25(questions, vocabulary, k1, b))
        for k1, b in product(K1_GRID, B_GRID)
    }


def make_baseline(dev: Sequence[Prepared], vocabulary: Vocabulary, record: Mapping[str, Any]) -> Bm25Ranker:
    """The best baseline on these questions. ``record``: what to store about them."""
    tried = tune_bm25(dev, vocabulary)
    k1, b = max(tried, key=lambda constants: tried[constants])
    scores = [
        PoolScores(documents, stemmed_bm25(q.retrieved.features), stemmed_bm25(q.gold.features))
        for q, documents in zip(dev, tuned_bm25(dev, vocabulary, k1, b), strict=True)
    ]
    rankings, golden = rankings_of(dev, scores), [q.response for q in dev]
    calibration, _ = calibrate(rankings, golden)
    official = measure(rankings, golden, calibration)
    measured = {
        "document_map": tried[k1, b],
        "snippet_f1": float(np.mean([question.snippets.f1 for question in official])),
        "sentence_auc": gold_auc(dev, [score.gold_sentences for score in scores]),
    }
    result = {"training": {**record, "python": platform.python_version()}, "scores": measured}
    scale = fit_scale(rankings, golden, calibration)
    return Bm25Ranker(vocabulary, TunedBm25(Constants(k1, b), calibration, scale, result))
