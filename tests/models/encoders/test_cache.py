from pathlib import Path
from typing import Any

import pytest
import torch

from bioqa.models.encoders.cache import StateCache, key_of
from bioqa.models.encoders.encoder import Encoder, Layers
from bioqa.models.encoders.inputs import EncoderInput
from bioqa.system.errors import BioqaError
from tests.models.encoders.tiny import toy_encoder


def _inputs(encoder: Encoder, *texts: str) -> list[EncoderInput]:
    words = encoder.word_pieces([text.split() for text in texts])
    question = encoder.pieces(["Which drug?"])[0].ids
    return [encoder.single(w) for w in words] + [encoder.pair(question, w.ids) for w in words]


def _cached(folder: Path) -> Encoder:
    encoder = toy_encoder()
    encoder.cache = StateCache(folder, encoder.fingerprint, encoder.width)
    return encoder


def _count(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    computed: list[int] = []
    forward = Encoder._forward

    def watch(self: Encoder, inputs: Any, layers: Any) -> torch.Tensor:
        computed.append(len(inputs))
        return forward(self, inputs, layers)

    monkeypatch.setattr(Encoder, "_forward", watch)
    return computed


def test_each_sequence_is_encoded_once_also_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, encoder = toy_encoder(), _cached(tmp_path)
    inputs = _inputs(plain, "a b c", "d", "a b c", "e f")
    every: tuple[Layers, ...] = ("last", "all")
    expected = {layers: plain.states(inputs, layers) for layers in every}
    computed = _count(monkeypatch)
    encoder.states(inputs[:3])
    for _ in range(2):
        for layers, states in expected.items():
            torch.testing.assert_close(encoder.states(inputs, layers), states, atol=2e-2, rtol=2e-3)
    assert sum(computed) == 2 * 6
    assert encoder.cache is not None
    encoder.cache.close()
    again = _cached(tmp_path)
    assert again.cache is not None
    assert len(again.cache) == 12
    torch.testing.assert_close(again.states(inputs), expected["last"], atol=2e-2, rtol=2e-3)
    assert sum(computed) == 12


@pytest.mark.parametrize(("kind", "cut"), [("states", 3), ("index", 3), ("states", 100), ("index", 50)])
def test_what_was_half_written_is_cut_off(tmp_path: Path, kind: str, cut: int) -> None:
    plain, encoder = toy_encoder(), _cached(tmp_path)
    inputs = _inputs(plain, "a b c", "d", "e f")
    expected = plain.states(inputs)
    encoder.states(inputs)
    assert encoder.cache is not None
    encoder.cache.close()
    (path,) = tmp_path.glob(f"*.{kind}")
    path.write_bytes(path.read_bytes()[:-cut])
    again = _cached(tmp_path)
    assert again.cache is not None
    assert 0 < len(again.cache) < len(inputs)
    torch.testing.assert_close(again.states(inputs), expected, atol=2e-2, rtol=2e-3)
    assert len(again.cache) == len(inputs)


def test_an_encoder_that_learns_takes_nothing_from_it(tmp_path: Path) -> None:
    encoder = _cached(tmp_path)
    encoder.freeze(0)
    assert encoder.states(_inputs(encoder, "a b")).requires_grad
    assert encoder.cache is not None
    assert len(encoder.cache) == 0


def test_places_types_and_layers_tell_sequences_apart() -> None:
    encoder = toy_encoder()
    single, pair = _inputs(encoder, "a b")
    bare = EncoderInput(single.ids, single.types, single.places[:1], False)
    other = EncoderInput(single.ids, single.types + 1, single.places, False)
    keys = {key_of(x, layers) for x in (single, pair, bare, other) for layers in ("last", "all")}
    assert len(keys) == 8


def test_by_one_process_at_a_time(tmp_path: Path) -> None:
    kept = _cached(tmp_path)
    with pytest.raises(BioqaError, match="another process"):
        _cached(tmp_path)
    assert kept.cache is not None


def test_where_nothing_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BioqaError, match="cannot keep states there"):
        _cached(tmp_path / "file")
