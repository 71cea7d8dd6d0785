"""An encoder of whole texts: its poolings against plain torch, its limits, and what its folder says."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoModel, AutoTokenizer

from bench.bundling import write_compact
from bioqa.bioasq.domain import Document
from bioqa.models.encoders import vectors
from bioqa.models.encoders.loading import EncoderError, open_encoder
from bioqa.models.encoders.vectors import VectorEncoder, VectorSettings, settings_of
from tests.models.encoders.tiny import write_tiny

TEXTS = ["aspirin", "does it help?", "a much longer text about aspirin and statins", ""]


@pytest.fixture(autouse=True)
def _single_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "processor_has_bfloat16", lambda: False)
    monkeypatch.setattr(vectors, "processor_multiplies_eight_bits", lambda: False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny(tmp_path_factory.mktemp("vectors") / "tiny", ["aspirin", "help"])


def expected(folder: Path, text: str, pooling: str) -> torch.Tensor:
    """By transformers alone, one text at a time."""
    tokeniser = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, add_pooling_layer=False, dtype=torch.float32).eval()
    with torch.inference_mode():
        output = model(**tokeniser(text, return_tensors="pt"), output_hidden_states=True)
    first, mean = output.last_hidden_state[0, 0], output.last_hidden_state[0].mean(dim=0)
    parts = {
        "cls": [first],
        "mean": [mean],
        "joined": [mean, first, output.hidden_states[0][0].mean(dim=0)],
    }[pooling]
    return torch.nn.functional.normalize(torch.cat(parts), dim=0)


@pytest.mark.parametrize("pooling", ["cls", "mean", "joined"])
def test_vectors_are_as_plain_torch_makes_them(folder: Path, pooling: vectors.Pooling) -> None:
    encoder = VectorEncoder.load(str(folder), VectorSettings(pooling=pooling), device="cpu")
    found = encoder.questions(TEXTS)
    assert found.shape == (4, encoder.width)
    for row, text in zip(found, TEXTS, strict=True):
        torch.testing.assert_close(
            torch.from_numpy(row), expected(folder, text, pooling), rtol=1e-4, atol=1e-5
        )


def test_bfloat16_is_close(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = VectorEncoder.load(str(folder), device="cpu").questions(TEXTS)
    monkeypatch.setattr(vectors, "processor_has_bfloat16", lambda: True)
    close = VectorEncoder.load(str(folder), device="cpu").questions(TEXTS)
    assert (exact * close).sum(axis=1).min() > 0.99


def test_a_passage_is_title_and_abstract_with_its_prefix(folder: Path) -> None:
    settings = VectorSettings(question_prefix="q ", passage_prefix="p ")
    encoder = VectorEncoder.load(str(folder), settings, device="cpu")
    document = Document("1", 1, "aspirin", "help")
    plain = VectorEncoder.load(str(folder), VectorSettings(), device="cpu")
    np.testing.assert_allclose(
        encoder.passages([document]), plain.questions(["p aspirin help"]), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(encoder.questions(["a"]), plain.questions(["q a"]), rtol=1e-4, atol=1e-5)


def test_what_was_read_is_counted(folder: Path) -> None:
    settings = VectorSettings(pieces=8, question_prefix="aspirin ")
    encoder = VectorEncoder.load(str(folder), settings, device="cpu")
    texts = ["aspirin " * 5, "aspirin " * 6, "help", "aspirin " * 100_000, ""]
    as_questions = encoder.encode(texts, as_questions=True)
    assert (as_questions.pieces, as_questions.cut) == (8 + 8 + 4 + 8 + 3, (1, 3))
    as_passages = encoder.encode(texts, as_questions=False)
    assert (as_passages.pieces, as_passages.cut) == (7 + 8 + 3 + 8 + 2, (3,))
    assert encoder.encode([], as_questions=True).vectors.shape == (0, 16)


def test_a_text_is_read_to_its_limit(folder: Path) -> None:
    encoder = VectorEncoder.load(str(folder), VectorSettings(pieces=8), device="cpu")
    # Six words of one piece and two special pieces.
    short, longer = encoder.questions(["aspirin " * 6, "aspirin " * 6 + "help"])
    np.testing.assert_allclose(short, longer, rtol=1e-4, atol=1e-5)
    huge = encoder.questions(["aspirin " * 100_000 + "\ud800"])
    np.testing.assert_allclose(huge[0], short, rtol=1e-4, atol=1e-5)


def with_head(folder: Path, place: Path, width: int = 5, pooled: int = 16) -> Path:
    write_tiny(place / "encoder", ["aspirin", "help"])
    (place / "vectors.json").write_text(json.dumps({"settings": {"pooling": "mean", "pieces": 32}}))
    generator = torch.Generator().manual_seed(0)
    head = {
        "matrix": torch.randn(width, pooled, generator=generator),
        "added": torch.randn(width, generator=generator),
    }
    save_file(head, place / "head.safetensors")
    return place


def test_a_folder_that_was_made_for_vectors_has_a_head(folder: Path, tmp_path: Path) -> None:
    place = with_head(folder, tmp_path)
    encoder = VectorEncoder.load(str(place), device="cpu")
    assert encoder.width == 5
    assert encoder.settings == VectorSettings(pieces=32)
    plain = torch.from_numpy(VectorEncoder.load(str(place / "encoder"), device="cpu").questions(["aspirin"]))
    assert encoder.questions(["aspirin"]).shape == (1, 5)
    assert np.linalg.norm(encoder.questions(["aspirin"])) == pytest.approx(1)
    assert plain.shape == (1, 16)


def compact_folder(folder: Path, place: Path) -> Path:
    """The one of ``with_head``, its weights stored in eight bits."""
    with_head(folder, place)
    transformer, tokeniser, _ = open_encoder(str(folder))
    shutil.rmtree(place / "encoder")
    write_compact(transformer, tokeniser, range(1000), place / "encoder")
    return place


@pytest.mark.parametrize("pooling", ["cls", "mean", "joined"])
def test_weights_of_eight_bits_are_read_in_eight_bits_where_the_processor_multiplies_them(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pooling: vectors.Pooling
) -> None:
    pooled = 48 if pooling == "joined" else 16
    with_head(folder, tmp_path, pooled=pooled)
    place, settings = compact_folder(folder, tmp_path / "own"), VectorSettings(pooling=pooling, pieces=32)
    shutil.copy(tmp_path / "head.safetensors", place)
    exact = VectorEncoder.load(str(place), settings, device="cpu")
    monkeypatch.setattr(vectors, "processor_multiplies_eight_bits", lambda: True)
    rounded = VectorEncoder.load(str(place), settings, device="cpu")
    close, vectors_of_texts = rounded.questions(TEXTS), exact.questions(TEXTS)
    assert (close * vectors_of_texts).sum(axis=1).min() > 0.99
    assert not np.array_equal(close, vectors_of_texts)
    assert rounded.hash == exact.hash
    alone = np.concatenate([rounded.questions([text]) for text in TEXTS])
    np.testing.assert_allclose(close, alone, atol=1e-6)


def test_weights_that_are_stored_otherwise_are_not_rounded(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = with_head(folder, tmp_path)
    exact = VectorEncoder.load(str(place), device="cpu").questions(TEXTS)
    monkeypatch.setattr(vectors, "processor_multiplies_eight_bits", lambda: True)
    assert np.array_equal(VectorEncoder.load(str(place), device="cpu").questions(TEXTS), exact)


def test_a_head_that_does_not_fit_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="head does not fit"):
        VectorEncoder.load(str(with_head(folder, tmp_path, pooled=7)), device="cpu")


def test_a_head_that_is_damaged_is_named(folder: Path, tmp_path: Path) -> None:
    place = with_head(folder, tmp_path)
    (place / "head.safetensors").write_bytes(b"rubbish")
    with pytest.raises(EncoderError, match=r"head\.safetensors: cannot be read"):
        VectorEncoder.load(str(place), device="cpu")


def test_all_that_vectors_depend_on_is_in_the_hash(folder: Path, tmp_path: Path) -> None:
    other = write_tiny(tmp_path / "other", ["aspirin", "help"], seed=1)
    loaded = [
        VectorEncoder.load(str(folder), device="cpu"),
        VectorEncoder.load(str(other), device="cpu"),
        VectorEncoder.load(str(folder), VectorSettings(pieces=32), device="cpu"),
        VectorEncoder.load(str(folder), VectorSettings(question_prefix="q"), device="cpu"),
        VectorEncoder.load(str(with_head(folder, tmp_path / "head")), device="cpu"),
    ]
    assert len({each.hash for each in loaded}) == len(loaded)
    assert VectorEncoder.load(str(folder), device="cpu", title="named").hash == loaded[0].hash


def test_what_sentence_transformers_note_is_read(tmp_path: Path) -> None:
    assert settings_of(tmp_path) == VectorSettings(pooling="mean")
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    assert settings_of(tmp_path) == VectorSettings(pooling="cls")


@pytest.mark.parametrize("content", ["{", "[]", '{"settings": {"size": 3}}', '{"settings": {"pieces": 4}}'])
def test_settings_that_cannot_be_read_are_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "vectors.json").write_text(content)
    with pytest.raises(EncoderError):
        settings_of(tmp_path)


def test_a_pooling_that_is_not_known_is_refused() -> None:
    with pytest.raises(EncoderError, match="'max' is not cls, mean, joined"):
        VectorSettings(pooling="max")  # type: ignore[arg-type]
