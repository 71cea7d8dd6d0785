import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bioqa.bioasq.domain import Response
from bioqa.bioasq.files import write_submission
from bioqa.models import checkpoint
from bioqa.models.encoders.cache import StateCache
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.rankers.registry import settings_of
from bioqa.models.rankers.settings import RankerSettingsError
from bioqa.models.reranker import Reranker
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.files import (
    TrainingPlan,
    bundled_vocabulary,
    parse_settings,
    prepare_file,
    train_ranker,
)
from bioqa.models.training.loop import Epoch
from bioqa.models.training.state import state_path
from bioqa.system.errors import BioqaError
from tests.models.encoders.tiny import write_tiny
from tests.models.toys import GOLDEN, ToyIndex, pieces_of

SMALL: dict[str, Any] = {"dimensions": 6, "epochs": 2, "patience": 1}


def _write(path: Path, golden: tuple[Response, ...]) -> Path:
    write_submission(path, golden)
    return path


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return _write(tmp_path / "train.json", GOLDEN)


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    return _write(tmp_path / "dev.json", GOLDEN[:2])


def test_from_files_to_a_ranker_that_answers(
    index: ToyIndex, vocabulary: Vocabulary, train: Path, dev: Path, tmp_path: Path
) -> None:
    preparing: list[tuple[str, int, int]] = []
    epochs: list[Epoch] = []
    settings = settings_of("jpdrmm", **SMALL)
    plan = TrainingPlan(settings, train, dev, tmp_path / "out" / "toy", seed=3, vocabulary=vocabulary)
    made = train_ranker(plan, index, preparing=lambda *step: preparing.append(step), progress=epochs.append)
    assert preparing[0] == ("train.json", 1, len(GOLDEN))
    assert preparing[-1] == ("dev.json", 2, 2)
    assert [epoch.number for epoch in epochs] == list(range(1, made.training["epochs"] + 1))
    content = train.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    assert made.training["train"] == {"file": "train.json", "bytes": len(content), "sha256": digest}
    assert made.training["dev"]["file"] == "dev.json"
    assert made.training["seed"] == 3
    loaded = checkpoint.load(tmp_path / "out" / "toy")
    assert loaded.config == made.config
    body = GOLDEN[0].question.body
    ranked = [Reranker(c, name="toy").rank(body, index.search(body)) for c in (made, loaded)]
    assert ranked[0] == ranked[1]


@pytest.mark.parametrize(("ranker", "features", "kept"), [("jpdrmm", "paper", 0), ("features", "soft", 2)])
def test_word_pieces_are_kept_only_where_features_need_them(
    ranker: str,
    features: str,
    kept: int,
    index: ToyIndex,
    vocabulary: Vocabulary,
    train: Path,
    dev: Path,
    tmp_path: Path,
) -> None:
    with_pieces = replace(vocabulary, pieces=pieces_of(("zel", "##osis", "drug")))
    settings = settings_of(ranker, **SMALL, features=features)
    train_ranker(TrainingPlan(settings, train, dev, tmp_path / "toy", vocabulary=with_pieces), index)
    assert len([*(tmp_path / "toy").glob("pieces.*")]) == kept
    checkpoint.load(tmp_path / "toy")


def test_all_of_a_files_questions_are_prepared(index: ToyIndex, vocabulary: Vocabulary, train: Path) -> None:
    assert [q.response for q in prepare_file(index, train, vocabulary)] == list(GOLDEN)


def test_an_index_without_any_gold(vocabulary: Vocabulary, train: Path) -> None:
    with pytest.raises(BioqaError, match=r"train\.json: the index holds none"):
        prepare_file(ToyIndex([]), train, vocabulary)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dimensions": 30}, "dimensions 30: the vocabulary's vectors have 6"),
        ({"dimensions": 6, "features": "soft"}, "features 'soft': the vocabulary has no word pieces"),
    ],
)
def test_settings_that_do_not_fit_the_vocabulary_are_refused_before_anything_is_read(
    index: ToyIndex, vocabulary: Vocabulary, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    absent = tmp_path / "absent.json"
    settings = settings_of("jpdrmm", **changes)
    with pytest.raises(RankerSettingsError, match=message):
        train_ranker(TrainingPlan(settings, absent, absent, tmp_path / "out", vocabulary=vocabulary), index)
    assert not (tmp_path / "out").exists()


def test_the_vocabulary_is_the_bundled_one_unless_given(index: ToyIndex, tmp_path: Path) -> None:
    absent = tmp_path / "absent.json"
    plan = TrainingPlan(settings_of("jpdrmm", dimensions=31), absent, absent, tmp_path / "out")
    with pytest.raises(RankerSettingsError, match="dimensions 31: the vocabulary's vectors have 30"):
        train_ranker(plan, index)
    assert bundled_vocabulary().pieces is not None


def test_the_state_of_a_ranker_over_an_encoder_is_kept_until_it_is_saved(
    index: ToyIndex, vocabulary: Vocabulary, train: Path, dev: Path, tmp_path: Path
) -> None:
    encoder = write_tiny(tmp_path / "encoder", positions=320)
    settings = settings_of("jbert-nf", **SMALL, encoder=str(encoder))
    plan = TrainingPlan(settings, train, dev, tmp_path / "toy", vocabulary=vocabulary, device="cpu")

    def stop(epoch: Epoch) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_ranker(plan, index, progress=stop)
    assert state_path(plan.output).is_file()
    again: list[int] = []
    train_ranker(plan, index, progress=lambda epoch: again.append(epoch.number))
    assert again == [2]
    assert not state_path(plan.output).exists()
    # Neither training has left the cached states locked.
    states = tmp_path / "toy.states"
    StateCache(states, Encoder.load(str(encoder), device="cpu").fingerprint, 16).close()


def test_settings_as_the_command_line_gives_them() -> None:
    assert parse_settings(
        [
            "features=extended",
            "epochs=3",
            "sentence_weight=.5",
            "learning_rate=0.5",
            "last_layer=false",
            "a=b=c",
        ]
    ) == {
        "features": "extended",
        "epochs": 3,
        "sentence_weight": ".5",
        "learning_rate": 0.5,
        "last_layer": False,
        "a": "b=c",
    }
    with pytest.raises(RankerSettingsError, match="'epochs' is not NAME=VALUE"):
        parse_settings(["epochs"])
