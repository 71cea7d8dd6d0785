from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bioqa.bioasq.errors import BioqaError
from bioqa.models.experiments.making import train_part
from bioqa.models.experiments.parts import (
    Data,
    Part,
    PartScores,
    Ready,
    ZeroShot,
    file_of,
    load,
    save,
    scaling_without,
)
from bioqa.models.experiments.shares import Share
from bioqa.models.rankers.registry import settings_of
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.data import Prepared
from bioqa.models.training.run import PoolScores

PART = Part(settings_of("features", dimensions=6, epochs=1))


@pytest.fixture(scope="module")
def data(vocabulary: Vocabulary, prepared: list[Prepared]) -> Data:
    return Data(vocabulary, prepared, prepared[:3], {"test": prepared[3:], "dev": prepared[2:]})


def _scores(count: int) -> list[PoolScores]:
    return [PoolScores(*(np.arange(n, dtype=np.float32) + 0.25 for n in (i, 2 * i, 0))) for i in range(count)]


def test_scores_come_back_as_they_were_kept(data: Data, tmp_path: Path) -> None:
    kept = PartScores(_scores(3), {"test": _scores(2), "dev": _scores(4)}, {"parameters": 7})
    path = file_of(tmp_path / "new", PART, 1)
    save(path, PART, 1, data, kept)
    back = load(path, data)
    assert back.record == kept.record
    assert list(back.tests) == ["test", "dev"]
    for before, after in [(kept.dev, back.dev), *((kept.tests[n], back.tests[n]) for n in kept.tests)]:
        assert len(before) == len(after)
        for one, other in zip(before, after, strict=True):
            for kind in ("documents", "sentences", "gold_sentences"):
                assert getattr(one, kind).tolist() == getattr(other, kind).tolist()
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_scores_of_other_data_and_damaged_files_are_refused(data: Data, tmp_path: Path) -> None:
    path = file_of(tmp_path, PART, 1)
    save(path, PART, 1, data, PartScores(_scores(3), {"test": _scores(2)}, {}))
    other = Data(data.vocabulary, data.train[1:], data.dev, data.tests)
    assert other.fingerprint != data.fingerprint
    with pytest.raises(BioqaError, match="other data"):
        load(path, other)
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(BioqaError, match="not the scores of a run"):
        load(path, data)


def test_every_setting_and_seed_has_a_file_of_its_own() -> None:
    parts = [
        PART,
        replace(PART, settings=settings_of("features", dimensions=6, epochs=2)),
        replace(PART, share=Share(candidates=3)),
        replace(PART, without="document features"),
        ZeroShot("a"),
        ZeroShot("b"),
        ZeroShot("a", "prompt"),
        Ready("x", "1"),
        Ready("x", "2"),
    ]
    files = {file_of(Path(), part, seed) for part in parts for seed in (1, 2)}
    assert len(files) == 2 * len(parts)
    # Where an encoder lies is not part of what it is.
    assert file_of(Path(), ZeroShot("/here/e"), 1) == file_of(Path(), ZeroShot("/there/e"), 1)


def test_features_taken_away_change_no_score(data: Data) -> None:
    features = data.dev[0].retrieved.features
    without = scaling_without(data.scaling, "document features").apply(features, "paper")
    assert not without.documents.any()
    np.testing.assert_array_equal(without.sentences, data.scaling.apply(features, "paper").sentences)
    assert not scaling_without(data.scaling, "sentence features").apply(features, "paper").sentences.any()
    assert scaling_without(data.scaling, None) is data.scaling
    settings = replace(PART.settings, last_layer=False)
    scores = train_part(Part(settings, without="sentence features"), data, 1)
    for of_question in scores.tests["test"]:
        assert len(set(of_question.gold_sentences.tolist())) == 1
