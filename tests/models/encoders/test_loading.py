import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from bioqa.models.encoders.encoder import Encoder
from bioqa.models.encoders.loading import EncoderError
from tests.models.encoders.tiny import write_tiny

SHARED = Path(__file__).resolve().parents[3].parent / "shared" / "encoders" / "bge-small-en-v1.5"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny(tmp_path / "tiny")


def _refused(name: Path | str, message: str, device: str = "cpu") -> None:
    with pytest.raises(EncoderError, match=message):
        Encoder.load(str(name), device=device)


def test_the_fingerprint_is_that_of_weights_and_pieces(folder: Path, tmp_path: Path) -> None:
    fingerprint = Encoder.load(str(folder)).fingerprint
    assert Encoder.load(str(write_tiny(tmp_path / "same"))).fingerprint == fingerprint
    assert Encoder.load(str(write_tiny(tmp_path / "seed", seed=1))).fingerprint != fingerprint
    assert Encoder.load(str(write_tiny(tmp_path / "words", ["a1", "b1"]))).fingerprint != fingerprint


def test_a_name_that_is_nowhere() -> None:
    _refused("no-such-encoder", "encoder 'no-such-encoder': neither a folder nor an installed package")


def test_a_folder_without_an_encoder(tmp_path: Path) -> None:
    _refused(tmp_path, "cannot be loaded")


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_pointer_in_place_of_the_file(folder: Path, name: str) -> None:
    (folder / name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    _refused(folder, f"{name} is a Git LFS pointer.*git lfs pull")


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_damaged_file(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"{ not this")
    _refused(folder, "cannot be loaded")


def test_weights_that_are_missing_are_named(folder: Path) -> None:
    path = folder / "model.safetensors"
    weights = load_file(path)
    del weights["encoder.layer.1.output.dense.bias"]
    save_file(weights, path, {"format": "pt"})
    _refused(folder, r"weights are missing or misshapen: encoder\.layer\.1\.output\.dense\.bias")


def test_an_unknown_kind_of_model(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "nosuch"}))
    _refused(folder, "cannot be loaded")


def test_devices(folder: Path) -> None:
    _refused(folder, "device 'tpu9x' is not auto, cpu or cuda", "tpu9x")
    _refused(folder, "device 'meta' is not auto, cpu or cuda", "meta")
    _refused(folder, "device 'cuda:99' was asked for, but torch finds no such GPU", "cuda:99")
    if not torch.cuda.is_available():
        _refused(folder, "device 'cuda' was asked for", "cuda")
        assert Encoder.load(str(folder), device="auto").device == torch.device("cpu")


def test_a_real_one() -> None:
    if not SHARED.is_dir():
        pytest.skip("no encoder beside the repository")
    encoder = Encoder.load(str(SHARED), device="cpu")
    assert (encoder.layers, encoder.width, encoder.positions) == (12, 384, 512)
    question, near, far = (p.ids for p in encoder.pieces(["a drug", "some drug", "gulls on cliffs"]))
    with torch.inference_mode():
        states = encoder.states([encoder.pair(question, near), encoder.pair(question, far)])
    assert states.isfinite().all()
