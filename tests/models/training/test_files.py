import hashlib
from pathlib import Path
from typing import Any

import pytest

from bioqa.bioasq.domain import Response
from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.files import write_submission
from bioqa.models import checkpoint
from bioqa.models.rankers.registry import SettingsError
from bioqa.models.reranker import Reranker
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.files import parse_settings, prepare_file, train_files
from bioqa.models.training.loop import Epoch
from tests.models.toys import GOLDEN, ToyIndex

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
    made = train_files(
        "jpdrmm",
        index,
        train,
        dev,
        tmp_path / "out" / "toy",
        seed=3,
        settings=SMALL,
        vocabulary=vocabulary,
        preparing=lambda *told: preparing.append(told),
        progress=epochs.append,
    )
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


def test_files_are_prepared_up_to_a_limit(index: ToyIndex, vocabulary: Vocabulary, train: Path) -> None:
    assert [q.response for q in prepare_file(index, train, vocabulary)] == list(GOLDEN)
    assert len(prepare_file(index, train, vocabulary, limit=2)) == 2


def test_an_index_without_any_gold(vocabulary: Vocabulary, train: Path) -> None:
    with pytest.raises(BioqaError, match=r"train\.json: the index holds none"):
        prepare_file(ToyIndex([]), train, vocabulary)


@pytest.mark.parametrize(
    ("ranker", "settings", "message"),
    [
        ("nosuch", {}, "ranker 'nosuch' is not one of"),
        ("jpdrmm", {"epochs": 0}, "epochs 0 is not above 0"),
        ("jpdrmm", {"colour": 1}, "unknown settings: colour"),
        ("jpdrmm", {"dimensions": 30}, "dimensions 30: the vocabulary's vectors have 6"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_read(
    index: ToyIndex,
    vocabulary: Vocabulary,
    tmp_path: Path,
    ranker: str,
    settings: dict[str, Any],
    message: str,
) -> None:
    absent = tmp_path / "absent.json"
    with pytest.raises(SettingsError, match=message):
        train_files(ranker, index, absent, absent, tmp_path / "out", settings=settings, vocabulary=vocabulary)
    assert not (tmp_path / "out").exists()


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
    with pytest.raises(SettingsError, match="'epochs' is not NAME=VALUE"):
        parse_settings(["epochs"])
