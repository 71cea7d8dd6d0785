import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from bioqa.bioasq.errors import BioqaError
from bioqa.models import bundled
from bioqa.models.answers.selection import Calibration
from bioqa.models.cascade import files as cascade_files
from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.ranker import Cascade, Combination, Speed, Tuned
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.reranker import Reranker
from tests.models.encoders.tiny import tiny_encoder
from tests.models.toys import ToyIndex

BODY = "Which drug cures zelosis?"


@pytest.fixture
def cascade(trained: Checkpoint, tmp_path: Path) -> Cascade:
    torch.manual_seed(5)
    reader = CrossEncoder(tiny_encoder(tmp_path / "tiny", ["drug", "cures"]), 10)
    return Cascade(
        Reranker(trained, name="toy"),
        reader,
        Tuned(Combination(0.5, 0.25, 0.75, -1.0, 2), Speed(5.0, 0.5, 1), Calibration(2.0, -1.0, 0.5)),
        name="both",
        record={"training": {"encoder": "tiny"}, "scores": {"document_map": 0.5}},
    )


@pytest.fixture
def folder(cascade: Cascade, tmp_path: Path) -> Path:
    made = tmp_path / "out" / "both"
    cascade_files.save(cascade, AutoTokenizer.from_pretrained(tmp_path / "tiny"), made)
    return made


def test_loaded_it_ranks_as_before(cascade: Cascade, folder: Path, index: ToyIndex) -> None:
    loaded = cascade_files.load(folder, device="cpu")
    candidates = index.search(BODY)
    assert loaded.rank(BODY, candidates) == cascade.rank(BODY, candidates)
    assert (loaded.name, loaded.calibration, loaded.record) == ("both", cascade.calibration, cascade.record)
    assert loaded.config["scores"] == {"document_map": 0.5}
    assert len(loaded.hash) == 64
    assert cascade_files.load(folder, device="cpu", budget_ms=3).hash != loaded.hash


def test_saving_again_replaces_and_leaves_nothing_behind(
    cascade: Cascade, folder: Path, tmp_path: Path
) -> None:
    (folder / "old").touch()
    cascade_files.save(cascade, AutoTokenizer.from_pretrained(tmp_path / "tiny"), folder)
    assert not (folder / "old").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["both"]
    assert (folder / "encoder" / "model.safetensors").stat().st_mode & 0o777 == 0o644


def test_one_left_aside_by_an_interrupted_write_is_found(folder: Path) -> None:
    for find in (cascade_files.folder_of, cascade_files.load):
        folder.rename(folder.with_name(".both.old"))
        assert find(folder)


def test_a_cascade_is_told_from_other_rankers(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cascade_files.folder_of(folder) == folder
    assert cascade_files.folder_of("jpdrmm") is None
    assert cascade_files.folder_of(folder / "first") is None
    assert cascade_files.folder_of(tmp_path / "nowhere") is None
    monkeypatch.setattr(bundled, "WEIGHTS", folder.parent)
    assert cascade_files.folder_of("both") == folder


def _config(change: Callable[[dict[str, dict[str, object]]], object]) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        change(config)
        (folder / "config.json").write_text(json.dumps(config))

    return damage


def _head(folder: Path) -> None:
    path = folder / "head.safetensors"
    weights = load_file(path)
    del weights["0.bias"]
    save_file(weights, path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_config(lambda c: c.pop("speed")), r"config.json: KeyError\('speed'\)"),
        (_config(lambda c: c["combination"].update(most_documents=-1)), "config.json: most_documents -1"),
        (_config(lambda c: c.update(format={"new": 2})), "config.json: format and kind"),
        (_config(lambda c: c["speed"].update(pieces_per_ms="many")), "config.json: "),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json: JSONDecodeError"),
        (_head, r"(?s)head.safetensors: .*0\.bias"),
        (lambda folder: (folder / "head.safetensors").unlink(), r"head.safetensors: "),
        (lambda folder: (folder / "first" / "model.safetensors").unlink(), "first: .*model.safetensors"),
        (lambda folder: (folder / "encoder" / "config.json").unlink(), "encoder.* cannot be loaded"),
    ],
)
def test_damage_is_named(folder: Path, damage: Callable[[Path], object], message: str) -> None:
    damage(folder)
    with pytest.raises(BioqaError, match=message):
        cascade_files.load(folder, device="cpu")
