import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from bench.bundling import save_compact
from bioqa.models import bundled
from bioqa.models.answers.selection import Calibration
from bioqa.models.cascade import files as cascade_files
from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.ranker import Cascade, CascadeError, Combination, Speed, TunedCascade
from bioqa.models.cascade.speed import keep
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.features.extractor import feature_counts
from bioqa.models.reranker import Reranker
from bioqa.system.errors import BioqaError
from tests.models.encoders.tiny import tiny_encoder
from tests.models.toys import DOCUMENTS, ToyIndex

BODY = "Which drug cures zelosis?"


@pytest.fixture
def cascade(trained: Checkpoint, tmp_path: Path) -> Cascade:
    torch.manual_seed(5)
    reader = CrossEncoder(tiny_encoder(tmp_path / "tiny", ["drug", "cures"]), 10)
    return Cascade(
        Reranker(trained, name="toy"),
        reader,
        TunedCascade(
            Combination(0.5, 0.25, 0.75, -1.0, 0.5, 0.1, 0.2, 2),
            Speed(5.0, 0.5, 1),
            Calibration(2.0, -1.0, 0.5),
        ),
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


def test_this_machines_speed_is_used_where_it_was_measured(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = cascade_files.load(folder, device="cpu")
    measured = Speed(1.0, 2.0, torch.get_num_threads())
    keep(before.fingerprint, measured)
    loaded = cascade_files.load(folder, device="cpu")
    assert loaded.speed == measured
    assert loaded.fingerprint == before.fingerprint
    assert loaded.hash != before.hash
    assert cascade_files.load(folder, device="cpu", as_stored=True).hash == before.hash


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


def _as_format_2(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["format"] = 2
    for name in ("relevance_weight", "unread_relevance_scale", "unread_relevance_offset"):
        del config["combination"][name]
    (folder / "config.json").write_text(json.dumps(config))
    weights = load_file(folder / "head.safetensors")
    of_sentences = {k.removeprefix("sentence."): v for k, v in weights.items() if k.startswith("sentence.")}
    save_file(of_sentences, folder / "head.safetensors")


def test_one_without_a_document_head_is_read_as_before(
    cascade: Cascade, folder: Path, index: ToyIndex
) -> None:
    _as_format_2(folder)
    candidates = index.search(BODY)
    cascade.combination = replace(
        cascade.combination, relevance_weight=0.0, unread_relevance_scale=0.0, unread_relevance_offset=0.0
    )
    assert cascade_files.load(folder, device="cpu").rank(BODY, candidates) == cascade.rank(BODY, candidates)


@pytest.fixture
def of_soft(tmp_path: Path) -> Cascade:
    torch.manual_seed(5)
    encoder = tiny_encoder(tmp_path / "tiny", ["drug", "cures", "zelosis"])
    first = Reranker.load("soft")
    return Cascade(
        first,
        CrossEncoder(encoder, feature_counts(first.checkpoint.settings.reading.features)[1]),
        TunedCascade(Combination(0.5, 0.25, relevance_weight=0.5), Speed(5.0, 0.5, 1), Calibration()),
        name="small",
    )


def test_a_compact_one_ranks_nearly_as_before(of_soft: Cascade, tmp_path: Path, index: ToyIndex) -> None:
    small = tmp_path / "small"
    tokeniser = AutoTokenizer.from_pretrained(tmp_path / "tiny")
    save_compact(of_soft, tokeniser, [BODY, *DOCUMENTS[0].abstract.split()], small)
    assert sorted(path.name for path in small.iterdir()) == ["config.json", "encoder", "head.safetensors"]
    loaded = cascade_files.load(small, device="cpu")
    candidates = index.search(BODY)
    for made, expected in zip(
        loaded.rank(BODY, candidates).documents, of_soft.rank(BODY, candidates).documents, strict=True
    ):
        assert made.document == expected.document
        assert made.score == pytest.approx(expected.score, abs=0.02)
        assert made.sentence_scores == pytest.approx(expected.sentence_scores, abs=0.02)
    config = json.loads((small / "config.json").read_text())
    config["first"]["hash"] = "0" * 64
    (small / "config.json").write_text(json.dumps(config))
    with pytest.raises(CascadeError, match=r"config.json: made for another ranker soft"):
        cascade_files.load(small, device="cpu")


def test_only_a_cascade_over_a_bundled_ranker_can_be_compact(cascade: Cascade, tmp_path: Path) -> None:
    tokeniser = AutoTokenizer.from_pretrained(tmp_path / "tiny")
    with pytest.raises(CascadeError, match="its first ranker toy is not bundled"):
        save_compact(cascade, tokeniser, [BODY], tmp_path / "small")
    assert not (tmp_path / "small").exists()


def _config(change: Callable[[dict[str, dict[str, object]]], object]) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        change(config)
        (folder / "config.json").write_text(json.dumps(config))

    return damage


def _head(folder: Path) -> None:
    path = folder / "head.safetensors"
    weights = load_file(path)
    del weights["document.0.bias"]
    save_file(weights, path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_config(lambda c: c.pop("speed")), r"config.json: KeyError\('speed'\)"),
        (_config(lambda c: c["combination"].update(most_documents=-1)), "config.json: most_documents -1"),
        (_config(lambda c: c.update(format={"new": 2})), "config.json: format"),
        (_config(lambda c: c["speed"].update(pieces_per_ms="many")), "config.json: "),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json: Expecting"),
        (_head, r"(?s)head.safetensors: .*0\.bias"),
        (_config(lambda c: c.update(first={"bundled": "soft"})), r"config.json: KeyError\('hash'\)"),
        (lambda folder: (folder / "head.safetensors").unlink(), r"head.safetensors: "),
        (lambda folder: (folder / "first" / "model.safetensors").unlink(), "first: .*model.safetensors"),
        (lambda folder: (folder / "encoder" / "config.json").unlink(), "encoder.* cannot be loaded"),
    ],
)
def test_damage_is_named(folder: Path, damage: Callable[[Path], object], message: str) -> None:
    damage(folder)
    with pytest.raises(BioqaError, match=message):
        cascade_files.load(folder, device="cpu")
