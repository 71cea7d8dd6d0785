from collections.abc import Sequence

import pytest

from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.ranking import Ranking
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.speed import speed, timing
from bioqa.models.reranker import Reranker


def test_the_time_of_a_question_is_the_better_of_two(data: ExperimentData) -> None:
    asked: list[str] = []
    took = timing(lambda question: asked.append(question.response.question.id), data, candidates=2)
    ids = [q.response.question.id for q in data.tests["test"]]
    assert asked == [id_ for id_ in ids for _ in range(2)]
    assert set(took) == {"milliseconds", "thread_milliseconds", "threads"}
    assert min(took.values()) >= 0


def test_a_ranker_is_timed_on_the_candidates_of_its_share(
    data: ExperimentData, trained: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    rank = Reranker.rank

    def watched(self: Reranker, question: str, candidates: Sequence[Candidate]) -> Ranking:
        seen.append(len(candidates))
        return rank(self, question, candidates)

    monkeypatch.setattr(Reranker, "rank", watched)
    speed(Reranker(trained, name="toy"), data, 3)
    assert set(seen) == {3}
