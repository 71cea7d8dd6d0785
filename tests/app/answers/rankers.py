"""Rankers that do what a test of the service needs."""

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.ranking import Ranking
from bioqa.models.answers.scale import Curve, Scale
from tests.app.rankers import LexicalRanker


class Backwards(LexicalRanker):
    """BM25's order turned round."""

    name = "backwards"

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        turned = [Candidate(c.document, -c.score) for c in reversed(candidates)]
        return super().rank(question, turned)


class Choosy(LexicalRanker):
    """Whatever is not as good as the best snippet is weak."""

    name = "choosy"
    scale = Scale(Curve((0.0, 1.0), (0.0, 1.0)), Curve((0.0, 1.0), (0.0, 1.0)), margin=1e-6)


class Strict(LexicalRanker):
    """Few documents fit: BM25 of 2 means .5, and of 1 .05."""

    name = "strict"
    scale = Scale(Curve((1.0, 2.0), (-3.0, 0.0)), Curve((0.0, 1.0), (0.0, 1.0)))


class Gate(LexicalRanker):
    """Ranks when it is told to, and keeps the order of what it ranked."""

    def __init__(self, name: str = "gate") -> None:
        self.name = name
        self.open = threading.Event()
        self.begun = threading.Semaphore(0)
        self.ranked: list[str] = []

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        self.ranked.append(question)
        self.begun.release()
        assert self.open.wait(30)
        return super().rank(question, candidates)

    def wait_until_ranking(self) -> None:
        assert self.begun.acquire(timeout=30)


class Broken(LexicalRanker):
    name = "broken"

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        raise RuntimeError(f"secret of {__file__}")


def until(condition: Any) -> None:
    """Waits for what another thread is about to do."""
    for _ in range(3000):
        if condition():
            return
        threading.Event().wait(0.005)
    pytest.fail("it did not come about")
