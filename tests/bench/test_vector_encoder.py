"""The encoder of vectors as it is bundled: small, and close to what it was."""

from pathlib import Path

import numpy as np
import pytest

from bench.vector_encoder import frequent_pieces, make, principal
from bioqa.bioasq.domain import Document
from bioqa.models.encoders.loading import open_encoder
from bioqa.models.encoders.vectors import VectorEncoder, VectorSettings
from tests.models.encoders.tiny import write_tiny

WORDS = ["aspirin", "heart", "statin", "rare"]


def test_what_is_made_is_close_to_what_it_was(tmp_path: Path) -> None:
    source = write_tiny(tmp_path / "source", WORDS)
    texts = ["aspirin heart", "statin heart aspirin", "heart heart statin", "aspirin statin", "rare"]
    documents = [Document(str(n), 1, text, text) for n, text in enumerate(texts)]
    settings = VectorSettings(pieces=32)
    make(str(source), tmp_path / "made", documents, settings, width=12, least=3)
    made = VectorEncoder.load(str(tmp_path / "made"), device="cpu")
    assert made.width == 12
    assert made.settings == settings
    before = VectorEncoder.load(str(source), settings, device="cpu").passages(documents[:4])
    after = made.passages(documents[:4])
    np.testing.assert_allclose(after @ after.T, before @ before.T, atol=0.1)


def test_rare_pieces_are_left_out(tmp_path: Path) -> None:
    _, tokeniser, _ = open_encoder(str(write_tiny(tmp_path / "source", WORDS)))
    vocabulary = tokeniser.get_vocab()
    kept = frequent_pieces(tokeniser, ["aspirin heart", "heart rare", "aspirin"], 2)
    assert kept == {vocabulary["aspirin"], vocabulary["heart"]}


def test_the_first_directions_say_the_most() -> None:
    vectors = np.random.default_rng(0).standard_normal((200, 4)).astype(np.float32) * np.array(
        [1, 5, 0.1, 2], dtype=np.float32
    )
    directions = principal(vectors, 2)
    assert directions.shape == (2, 4)
    assert np.abs(directions[0]).argmax() == 1
    assert np.abs(directions[1]).argmax() == 3
    assert directions @ directions.T == pytest.approx(np.eye(2), abs=1e-5)
