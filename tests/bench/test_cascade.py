from pathlib import Path

import pytest
import torch

from bench import cascade as bench
from bioqa.models.answers.selection import Calibration
from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.ranker import Cascade, Combination, Speed, TunedCascade
from bioqa.models.reranker import Reranker
from bioqa.models.training.data import Prepared, prepare
from tests.models.encoders.tiny import tiny_encoder
from tests.models.toys import GOLDEN, ToyIndex


@pytest.fixture
def cascade(tmp_path: Path) -> Cascade:
    first = Reranker.load("jpdrmm")
    torch.manual_seed(5)
    reader = CrossEncoder(tiny_encoder(tmp_path / "tiny"), 19)
    return Cascade(
        first,
        reader,
        TunedCascade(Combination(), Speed(0.0, 1.0, 1), first.calibration),
        name="both",
        budget_ms=1e6,
    )


@pytest.fixture
def prepared(cascade: Cascade) -> list[Prepared]:
    return prepare(ToyIndex(), GOLDEN, cascade.first.checkpoint.vocabulary)


def test_the_table_has_baseline_cheap_ranker_and_each_budget(
    cascade: Cascade, prepared: list[Prepared]
) -> None:
    made = bench.systems(cascade, prepared, prepared, [0.0, 1e6], documents=12)
    assert [s.name.split(",")[0] for s in made] == ["BM25+BM25 (k1 0.3", "jpdrmm", "both", "both"]
    served = [cascade.rank(q.response.question.body, q.retrieved.candidates) for q in prepared]
    expected = bench._system("x", prepared, served, Calibration(), [])
    assert made[3].documents == expected.documents
    lines = bench.table(made)
    assert len(lines) == 6
    assert lines[2].startswith("| BM25+BM25")
    assert lines[2].count("|") == lines[5].count("|") == 7
