"""A test set, and a ranker that stops in its middle."""

from collections.abc import Sequence

from bioqa.bioasq.domain import Candidate, Question
from bioqa.models.answers.ranking import Ranking
from tests.app.conftest import DRUGS
from tests.app.rankers import LexicalRanker

QUESTIONS = tuple(Question(f"q{n}", f" Is {drug} good?\n", "yesno") for n, drug in enumerate(DRUGS))


class CountingRanker(LexicalRanker):
    """Counts its questions, and stops at one of them as a power cut would."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.asked: list[str] = []
        self.stop_at = stop_at

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        if len(self.asked) == self.stop_at:
            raise KeyboardInterrupt
        self.asked.append(question)
        return super().rank(question, candidates)
