import numpy as np
import pytest

from bioqa.models.experiments.reranking import rerank, rerank_runs
from bioqa.models.training.data import Prepared
from tests.models.experiments.perl import needs_perl

pytest.importorskip("ir_measures", reason="needs the extra train")


def test_only_the_best_of_a_run_change_their_order() -> None:
    own, run = np.array([0.0, 5.0, 1.0, 9.0]), np.array([4.0, 3.0, 2.0, 1.0])
    (found,) = rerank([own], [run], depth=3)
    assert np.argsort(-found).tolist() == [1, 2, 0, 3]
    # Equal scores leave the run's order.
    (same,) = rerank([np.zeros(4)], [run[::-1].copy()], depth=2)
    assert np.argsort(-same).tolist() == [3, 2, 1, 0]


@needs_perl
def test_runs_are_improved_by_the_one_that_knows(prepared: list[Prepared]) -> None:
    questions = [q for q in prepared if q.retrieved.relevant.any() and not q.retrieved.relevant.all()]
    right = [q.retrieved.relevant.astype(np.float64) for q in questions]
    wrong = [-each for each in right]
    order = [-np.arange(len(each), dtype=np.float64) for each in right]
    found = rerank_runs(questions, {"right": right, "wrong": wrong, "QL": order}, "QL")
    assert set(found) == {"right", "wrong"}
    assert found["right"]["rank"] == 1
    assert found["wrong"]["rank"] == 3
    assert found["right"]["simple"] > found["wrong"]["simple"]
    assert found["right"]["improved"] >= 0.5
    assert found["right"]["gain"] >= 0 > found["wrong"]["gain"]
    assert found["wrong"]["improved"] == 0
    assert found["right"]["average_gain"] > 0 > found["wrong"]["average_gain"]
