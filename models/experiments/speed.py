"""Time of rankers, in milliseconds a question."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import torch

from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.ranking import Ranking
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.shares import Share
from bioqa.models.rankers.registry import encoder_of
from bioqa.models.reranker import Reranker
from bioqa.models.training.data import Prepared

TIMED = 5
"""Number of questions for measuring speed."""


class TimedRanker(Protocol):
    """What measuring needs of a ranker that is ready to serve."""

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking: ...


def speed(ranker: TimedRanker, data: ExperimentData, candidates: int) -> dict[str, Any]:
    """Time of ``rank``, with documents already tokenised, and without cached states of an encoder."""
    encoder = encoder_of(ranker.checkpoint.model) if isinstance(ranker, Reranker) else None
    cache = None
    if encoder is not None:
        cache, encoder.cache = encoder.cache, None
    took = timing(lambda q: ranker.rank(q.response.question.body, q.retrieved.candidates), data, candidates)
    if encoder is not None:
        encoder.cache = cache
    return took


def timing(answer: Callable[[Prepared], object], data: ExperimentData, candidates: int) -> dict[str, Any]:
    """Median time of a question, each the better of two: wall-clock, and CPU time of all threads.

    CPU time hardly depends on other work on the machine.
    """
    questions = Share(candidates=candidates).keep_measured(next(iter(data.tests.values()))[:TIMED])
    times = np.array([[_time(answer, question) for _ in range(2)] for question in questions]).min(axis=1)
    milliseconds, of_threads = np.median(1000 * times, axis=0).round(1).tolist()
    return {
        "milliseconds": milliseconds,
        "thread_milliseconds": of_threads,
        "threads": torch.get_num_threads(),
    }


def _time(answer: Callable[[Prepared], object], question: Prepared) -> tuple[float, float]:
    begun = time.perf_counter(), time.process_time()
    answer(question)
    return time.perf_counter() - begun[0], time.process_time() - begun[1]
