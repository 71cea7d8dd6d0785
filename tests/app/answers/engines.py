"""What ranking processes of tests start with. Light to import, as they do."""

import os
import signal
from collections.abc import Callable, Sequence
from functools import partial

from bioqa.app.answers.answering import Ranker
from bioqa.app.answers.engine import Engine
from bioqa.app.answers.opening import open_index
from bioqa.app.answers.reopening import ReopeningIndex
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.ranking import Ranking
from tests.app.rankers import LexicalRanker


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
        return super().rank(question, candidates)


class DeadlyIndex:
    """Ends its process, as a truncated segment does."""

    def read(self, *_: object) -> None:
        os.kill(os.getpid(), signal.SIGBUS)


def no_logs() -> None:
    pass


def start(settings: Settings, configure_logs: Callable[[], None]) -> Engine:
    rankers: list[Ranker] = [TellingRanker()]
    index = ReopeningIndex(partial(open_index, settings))
    return Engine(rankers, index, allow_degraded=settings.allow_degraded)


def start_over_damage(settings: Settings, configure_logs: Callable[[], None]) -> Engine:
    return Engine([TellingRanker()], ReopeningIndex(DeadlyIndex), allow_degraded=True)  # type: ignore[arg-type]
