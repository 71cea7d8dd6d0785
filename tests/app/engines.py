"""Engines of tests: the processes that ship, and this process. Light to import, as processes import it."""

import os
import signal
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bioqa.app.answers.answering import Answerer, Ranker
from bioqa.app.answers.engine import LocalEngine, RankingProcesses
from bioqa.app.answers.opening import open_index
from bioqa.app.answers.reopening import ReopeningIndex
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate
from bioqa.indexer.search.base import SearchIndex
from bioqa.models.answers.ranking import Ranking
from tests.app.rankers import LexicalRanker


class Kept(RankingProcesses):
    """Processes that many applications share, as they take a second to start. ``end`` ends them."""

    def close(self) -> None:
        """They go on."""

    def end(self) -> None:
        super().close()


def over(open_index: Callable[[], SearchIndex], *rankers: Ranker, **options: Any) -> LocalEngine:
    """This process, where a test holds the index or the ranker in its hand: a gate, a fault, a change."""
    return LocalEngine(rankers or [LexicalRanker()], ReopeningIndex(open_index), **options)


def local(answerer: Answerer, *further: Ranker, **options: Any) -> LocalEngine:
    """The same, with an index that is open."""
    return over(lambda: answerer.index, answerer.ranker, *further, **options)


class TellingRanker(LexicalRanker):
    """Does to its process what the question says."""

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        match question.split()[0]:
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "fail":
                raise RuntimeError("a shape does not fit")
            case "spin":
                while True:
                    pass
            case "hoard":
                bytearray(10**12)
        return super().rank(question, candidates)


class DeadlyIndex:
    """Ends its process, as a truncated segment does."""

    beside = None

    def read(self, *_: object) -> None:
        os.kill(os.getpid(), signal.SIGBUS)

    search = read


def no_logs() -> None:
    pass


def start(settings: Settings, configure_logs: Callable[[], None]) -> LocalEngine:
    return _start(settings, LexicalRanker())


def start_telling(settings: Settings, configure_logs: Callable[[], None]) -> LocalEngine:
    return _start(settings, TellingRanker())


def _start(settings: Settings, ranker: Ranker) -> LocalEngine:
    index = ReopeningIndex(partial(open_index, settings))
    return LocalEngine([ranker], index, allow_degraded=settings.allow_degraded)


def start_over_damage(settings: Settings, configure_logs: Callable[[], None]) -> LocalEngine:
    return LocalEngine([TellingRanker()], ReopeningIndex(DeadlyIndex))  # type: ignore[arg-type]
