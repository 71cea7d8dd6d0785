from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bioqa.models.experiments.components import Component, Ready, TrainedComponent, ZeroShot
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.shares import Share
from bioqa.models.experiments.stored_scores import ComponentScores, file_of, load, save
from bioqa.models.rankers.registry import settings_of
from bioqa.models.training.development import PoolScores
from bioqa.system.errors import BioqaError

COMPONENT = TrainedComponent(settings_of("features", dimensions=6, epochs=1))


def _scores(count: int) -> list[PoolScores]:
    return [PoolScores(*(np.arange(n, dtype=np.float32) + 0.25 for n in (i, 2 * i, 0))) for i in range(count)]


def test_scores_come_back_as_they_were_kept(data: ExperimentData, tmp_path: Path) -> None:
    kept = ComponentScores(_scores(3), {"test": _scores(2), "dev": _scores(4)}, {"parameters": 7})
    path = file_of(tmp_path / "new", COMPONENT, 1)
    save(path, COMPONENT, 1, data, kept)
    back = load(path, data)
    assert back.record == kept.record
    assert list(back.tests) == ["test", "dev"]
    for before, after in [(kept.dev, back.dev), *((kept.tests[n], back.tests[n]) for n in kept.tests)]:
        assert len(before) == len(after)
        for one, other in zip(before, after, strict=True):
            for kind in ("documents", "sentences", "gold_sentences"):
                assert getattr(one, kind).tolist() == getattr(other, kind).tolist()
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_scores_of_other_data_and_damaged_files_are_refused(data: ExperimentData, tmp_path: Path) -> None:
    path = file_of(tmp_path, COMPONENT, 1)
    save(path, COMPONENT, 1, data, ComponentScores(_scores(3), {"test": _scores(2)}, {}))
    other = ExperimentData(data.vocabulary, data.train[1:], data.dev, data.tests)
    assert other.fingerprint != data.fingerprint
    with pytest.raises(BioqaError, match="other data"):
        load(path, other)
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(BioqaError, match="not the scores of a run"):
        load(path, data)


def test_every_setting_and_seed_has_a_file_of_its_own() -> None:
    components: list[Component] = [
        COMPONENT,
        replace(COMPONENT, settings=settings_of("features", dimensions=6, epochs=2)),
        replace(COMPONENT, share=Share(candidates=3)),
        replace(COMPONENT, without="document features"),
        ZeroShot("a"),
        ZeroShot("b"),
        ZeroShot("a", "prompt"),
        Ready("x", "1"),
        Ready("x", "2"),
    ]
    files = {file_of(Path(), component, seed) for component in components for seed in (1, 2)}
    assert len(files) == 2 * len(components)
    # Where an encoder lies is not part of what it is.
    assert file_of(Path(), ZeroShot("/here/e"), 1) == file_of(Path(), ZeroShot("/there/e"), 1)


def test_a_pickle_is_refused_unread(data: ExperimentData, tmp_path: Path) -> None:
    path = tmp_path / "scores.npz"
    np.savez(path, kept=np.array([{"a": 1}], dtype=object))
    with pytest.raises(BioqaError, match="not the scores of a run"):
        load(path, data)
