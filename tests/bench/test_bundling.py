import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models

from bench.bundling import quantise, used_pieces, write_compact
from bioqa.models.encoders.compact import FILE, read_weights
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.encoders.loading import open_encoder
from bioqa.system.errors import BioqaError
from tests.models.encoders.tiny import write_tiny

WORDS = ["drug", "cures", "zelosis", "mouse"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny(tmp_path / "tiny", WORDS)


def _states(encoder: Encoder, question: str, text: str) -> np.ndarray:
    asked, read = encoder.pieces([question, text])
    with torch.inference_mode():
        return encoder.states([encoder.passage(asked.ids, read.ids)]).numpy()


def test_compact_it_reads_nearly_the_same(folder: Path, tmp_path: Path) -> None:
    transformer, tokeniser, fingerprint = open_encoder(str(folder))
    used = used_pieces(tokeniser, ["drug cures", "zelosis"])
    write_compact(transformer, tokeniser, used, tmp_path / "small")
    whole, small = (Encoder.load(str(place), device="cpu") for place in (folder, tmp_path / "small"))
    assert small.fingerprint != fingerprint
    for text in ("drug cures zelosis", "a cure"):
        np.testing.assert_allclose(
            _states(small, "which drug?", text), _states(whole, "which drug?", text), atol=0.2
        )
    assert small.positions == whole.positions


def test_a_word_that_is_left_out_is_spelt(folder: Path, tmp_path: Path) -> None:
    transformer, tokeniser, _ = open_encoder(str(folder))
    write_compact(transformer, tokeniser, used_pieces(tokeniser, ["drug"]), tmp_path / "small")
    _, small, _ = open_encoder(str(tmp_path / "small"))
    tokens = small.backend_tokenizer.encode("drug mouse").tokens
    assert tokens == ["[CLS]", "drug", "m", "##o", "##u", "##s", "##e", "[SEP]"]
    config = json.loads((tmp_path / "small" / "config.json").read_text())
    assert config["vocab_size"] == len(small.get_vocab()) < len(tokeniser.get_vocab())
    assert not any(
        str(tmp_path) in path.read_text(errors="replace") for path in (tmp_path / "small").iterdir()
    )


def test_used_pieces_are_counted_in_parts(folder: Path) -> None:
    _, tokeniser, _ = open_encoder(str(folder))
    texts = ["drug", "cures", "drug zelosis"]
    expected = {tokeniser.convert_tokens_to_ids(word) for word in WORDS[:3]}
    assert used_pieces(tokeniser, texts, at_once=2) == used_pieces(tokeniser, texts) == expected
    assert used_pieces(tokeniser, []) == set()


def test_rounding_is_within_half_a_step_of_each_row(tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(1)
    weights = {
        "matrix": torch.randn(5, 7, generator=generator)
        * torch.tensor([[1e-3], [1.0], [50.0], [0.0], [2.0]]),
        "vector": torch.randn(7, generator=generator),
        "number": torch.tensor([3]),
    }
    stored = quantise(weights)
    assert stored["matrix"].dtype == torch.int8
    save_file(stored, tmp_path / FILE)
    read = read_weights(tmp_path)
    assert set(read) == {"matrix", "vector"}
    torch.testing.assert_close(read["vector"], weights["vector"])
    step = weights["matrix"].abs().amax(dim=1, keepdim=True) / 127
    assert ((read["matrix"] - weights["matrix"]).abs() <= step / 2 + 1e-7).all()


def test_other_tokenisers_are_refused(tmp_path: Path) -> None:
    class Bytes:
        backend_tokenizer = Tokenizer(models.BPE())

    tokeniser: Any = Bytes()
    with pytest.raises(BioqaError, match="word pieces of a BPE tokeniser cannot be left out"):
        write_compact(None, tokeniser, set(), tmp_path / "small")
    assert not (tmp_path / "small").exists()
