from collections.abc import Sequence
from pathlib import Path

import pytest

from bioqa.models.experiments import running
from bioqa.models.experiments.components import TrainedComponent
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.results import MEASURES, Row
from bioqa.models.experiments.running import SeedRuns
from bioqa.models.experiments.shares import Share
from bioqa.models.experiments.stored_scores import file_of
from bioqa.models.experiments.systems import System
from bioqa.models.experiments.table import table_rows
from bioqa.models.rankers.registry import settings_of
from bioqa.models.training.state import state_path
from tests.models.experiments.systems import ALONE, JOINT, ONE, PIPELINE


def table(
    data: ExperimentData, folder: Path, systems: Sequence[System], seeds: Sequence[int] = (1, 2)
) -> list[Row]:
    SeedRuns(data, folder, seeds).make(systems)
    return table_rows(data, folder, seeds, systems)[0]


@pytest.mark.usefixtures("in_process")
def test_trained_systems_stand_between_bm25_and_the_oracle(data: ExperimentData, tmp_path: Path) -> None:
    made = table(data, tmp_path, [PIPELINE, ALONE, JOINT])
    names = [row.system for row in made]
    assert names[2:] == ["PDRMM+PDRMM", "Sentence PDRMM", "JPDRMM", "Oracle"]
    assert [row.seeds for row in made] == [1, 1, 2, 2, 2, 1]
    for row in made:
        assert list(row.collections) == ["test", "other"]
        assert all(set(of_row.mean) == set(MEASURES) for of_row in row.collections.values())
    oracle, pipeline, alone = (made[place].collections["test"] for place in (5, 2, 3))
    assert oracle.mean["document_map_8"] == pytest.approx(2 / 3, abs=1e-5)
    assert oracle.mean["sentence_auc"] == 1.0
    # Sentences by the same component, documents by another.
    assert pipeline.mean["sentence_auc"] == alone.mean["sentence_auc"]
    # Trained once for both rows: two parts and the joint one, two seeds each.
    assert len(list(tmp_path.iterdir())) == 6
    assert [p["parameters"] > 0 for p in made[2].parts] == [True, True]
    assert all(p["thread_milliseconds"] > 0 and p["threads"] == 1 for p in made[2].parts)


def test_in_a_process_of_its_own(data: ExperimentData, tmp_path: Path) -> None:
    features = System("Features", "baseline", TrainedComponent(settings_of("features", **ONE)))
    assert [row.system for row in table(data, tmp_path, [features], [1])][-2:] == ["Features", "Oracle"]


@pytest.mark.usefixtures("in_process")
def test_an_interrupted_experiment_goes_on_where_it_was(
    data: ExperimentData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = table(data, tmp_path, [JOINT])
    lost = file_of(tmp_path, JOINT.sentences, 2)
    lost.unlink()
    lines: list[str] = []
    again = SeedRuns(data, tmp_path, [1, 2], log=lines.append)
    again.make([JOINT])
    assert [line.partition(":")[0] for line in lines] == [lost.stem]
    after = table_rows(data, tmp_path, [1, 2], [JOINT])[0]
    assert [row.collections for row in after] == [row.collections for row in first]
    monkeypatch.setattr(running, "_train", None)
    again.make([JOINT])


@pytest.mark.usefixtures("in_process")
def test_what_fails_is_not_kept(
    data: ExperimentData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*key: object) -> None:
        raise MemoryError("too small")

    monkeypatch.setattr(running, "_train", fail)
    with pytest.raises(MemoryError, match="too small"):
        SeedRuns(data, tmp_path, [1]).make([JOINT])
    assert list(tmp_path.iterdir()) == []


def test_the_state_of_a_training_goes_once_its_scores_are_stored(
    data: ExperimentData, encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of("jbert-nf", encoder=encoder, **ONE)
    component = TrainedComponent(settings, Share(train_questions=3, irrelevant=1, candidates=2))
    system = System("JBERT-NF", "joint", component)
    path = file_of(tmp_path, component, 1)

    def fail(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr("bioqa.models.experiments.stored_scores.save", fail)
        with pytest.raises(OSError, match="no space left"):
            SeedRuns(data, tmp_path, [1], device="cpu").make([system])
    assert state_path(path).is_file()
    SeedRuns(data, tmp_path, [1], device="cpu").make([system])
    assert path.is_file()
    assert not state_path(path).exists()
