from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bioqa.models.arrays import Floats
from bioqa.models.experiments.components import Untrained
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.document_table import document_rows, paired_test
from bioqa.models.experiments.experiment import Experiment, chosen
from bioqa.models.experiments.results import Row
from bioqa.models.experiments.running import SeedRuns
from bioqa.models.experiments.shares import Share
from bioqa.models.experiments.systems import System, train_component
from tests.models.experiments.perl import needs_perl

pytest.importorskip("ir_measures", reason="needs the extra train")

LINEAR = System("BM25+extra", "documents", train_component("linear", Share(watched=2), epochs=1))
QL = System("QL", "baseline", train_component("ql", Share(), dimensions=6), seeds=1)
TOY = Experiment(
    name="toy",
    title="Toy",
    systems=(
        System("BM25", "baseline", Untrained("first stage"), seeds=1),
        LINEAR,
        QL,
        System("Reverse document id", "bound", Untrained("reverse id"), seeds=1),
        System("Oracle", "bound", Untrained("oracle"), seeds=1),
    ),
    measures=("document_map_8", "AP", "ERR@20"),
    references=("BM25", "QL"),
    tails=2,
    seeds=(1, 2),
    reranked="QL",
)


def rows_of(
    experiment: Experiment, data: ExperimentData, folder: Path, systems: Sequence[System] | None = None
) -> dict[str, Row]:
    SeedRuns(data, folder, experiment.seeds, workers=1, code="1.0").make(systems or experiment.systems)
    return {row.system: row for row in document_rows(experiment, data, folder)[0]}


@needs_perl
def test_rows_are_means_over_seeds_with_the_best_of_them_tested(data: ExperimentData, tmp_path: Path) -> None:
    rows = rows_of(TOY, data, tmp_path)
    assert list(rows) == [system.name for system in TOY.systems]
    assert [row.seeds for row in rows.values()] == [1, 2, 1, 1, 1]
    oracle, linear = rows["Oracle"].collections["test"], rows["BM25+extra"].collections["test"]
    assert all(
        oracle.mean[m] >= row.collections["test"].mean[m] for row in rows.values() for m in TOY.measures
    )
    assert set(linear.p) == {"BM25", "QL"}
    assert set(rows["QL"].collections["other"].p) == {"BM25"}
    assert all(0 < p <= 1 for of_reference in linear.p.values() for p in of_reference.values())
    first, second = rows["BM25+extra"].parts
    assert (first["seed"], second["seed"]) == (1, 2)
    assert first["weights"] != second["weights"]
    assert first["code"] == "1.0"
    assert "epochs" not in first
    assert rows["BM25"].parts[0]["parameters"] == 0


@needs_perl
def test_what_is_done_is_not_trained_again(
    data: ExperimentData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = rows_of(TOY, data, tmp_path)
    monkeypatch.setattr("bioqa.models.experiments.running.train_component", None)
    assert rows_of(TOY, data, tmp_path) == first


@needs_perl
def test_a_system_without_scores_has_no_row(data: ExperimentData, tmp_path: Path) -> None:
    rows = rows_of(TOY, data, tmp_path, [LINEAR])
    assert "QL" not in rows
    assert set(rows["BM25+extra"].collections["test"].p) == {"BM25"}
    assert document_rows(TOY, data, tmp_path)[1] == {}


@needs_perl
def test_runs_are_reranked_where_the_first_one_is_there(data: ExperimentData, tmp_path: Path) -> None:
    rows_of(TOY, data, tmp_path)
    reranked = document_rows(TOY, data, tmp_path)[1]
    assert set(reranked) == {"test", "other"}
    assert set(reranked["test"]) == {system.name for system in TOY.systems} - {"QL"}


@needs_perl
def test_a_share_is_that_of_every_row(data: ExperimentData, tmp_path: Path) -> None:
    few = TOY.of_share(["test_questions=1", "train_questions=3"])
    shares = {system.name: system.sentences.share for system in few.systems}
    assert shares["BM25+extra"] == Share(train_questions=3, watched=2, test_questions=1)
    assert shares["QL"] == shares["Oracle"] == Share(test_questions=1)
    rows = rows_of(few, data, tmp_path)
    assert {row.parts[0]["share"]["test_questions"] for row in rows.values()} == {1}
    assert set(document_rows(few, data, tmp_path)[1]) == {"test", "other"}
    assert [system.name for system in chosen(few.systems, ["BM25*"])] == ["BM25", "BM25+extra"]


@pytest.fixture
def differences() -> Floats:
    values = np.random.default_rng(5).normal(0.3, 1.0, size=(40, 2))
    values[:, 1] = 0.0
    return values


def test_students_t_is_that_of_pairs(differences: Floats) -> None:
    from scipy.stats import ttest_rel

    first = np.arange(40.0)
    expected = ttest_rel(first + differences[:, 0], first).pvalue
    found = paired_test(differences, "t", 2)
    assert found.tolist() == pytest.approx([expected, 1.0])
    assert paired_test(differences, "t", 1)[0] == pytest.approx(expected / 2)


def test_randomisation_is_two_tailed(differences: Floats) -> None:
    both = paired_test(np.concatenate([differences, -differences], axis=1), "randomisation", 2)
    assert both[0] == pytest.approx(both[2], abs=0.02)
    assert both[1] == 1.0
    with pytest.raises(ValueError, match="two-tailed"):
        paired_test(differences, "randomisation", 1)
