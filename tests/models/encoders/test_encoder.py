from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from transformers import AutoModel, AutoTokenizer

from bioqa.models.encoders.encoder import Encoder, processor_has_bfloat16
from bioqa.models.encoders.inputs import EncoderInput
from bioqa.models.encoders.loading import EncoderError
from tests.models.encoders.tiny import tiny_encoder, write_tiny

WORDS = ("which", "drug", "cures", "zelosis", "zel", "##osis")
QUESTION = "Which drug cures zelosis?"
TEXTS = ["Velorin cures zelosis.", "Mice", "zel, mice", "The origin of zelosis is not known.", "Drug."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny(tmp_path_factory.mktemp("encoder") / "tiny", WORDS)


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return Encoder.load(str(folder), device="cpu").eval()


def _pairs(encoder: Encoder, texts: list[str] = TEXTS) -> list[EncoderInput]:
    question = encoder.pieces([QUESTION])[0].ids
    return [encoder.pair(question, text.ids) for text in encoder.pieces(texts)]


def test_pairs_are_those_of_transformers(folder: Path, encoder: Encoder) -> None:
    tokeniser = AutoTokenizer.from_pretrained(folder)
    for made, text in zip(_pairs(encoder), TEXTS, strict=True):
        expected = tokeniser(QUESTION, text)
        assert made.ids.tolist() == expected["input_ids"]
        assert made.types.tolist() == expected["token_type_ids"]
        assert not made.truncated


def test_states_are_those_of_transformers_one_by_one(folder: Path, encoder: Encoder) -> None:
    tokeniser: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModel.from_pretrained(folder).eval()
    pairs = _pairs(encoder)
    last, every = encoder.states(pairs), encoder.states(pairs, "all")
    assert last.shape == (5, 1, 16)
    assert every.shape == (5, 2, 16)
    for row, text in enumerate(TEXTS):
        with torch.inference_mode():
            output = model(**tokeniser(QUESTION, text, return_tensors="pt"), output_hidden_states=True)
        torch.testing.assert_close(last[row, 0], output.last_hidden_state[0, 0], atol=1e-5, rtol=1e-4)
        expected = torch.stack([layer[0, 0] for layer in output.hidden_states[1:]])
        torch.testing.assert_close(every[row], expected, atol=1e-5, rtol=1e-4)


def test_words_have_the_states_of_their_first_pieces(folder: Path, encoder: Encoder) -> None:
    words = [["which", "zelosisx", "drug"], ["mice"]]
    pieced = encoder.word_pieces(words)
    assert [p.firsts.tolist() for p in pieced] == [[0, 1, 3], [0]]
    states = encoder.states([encoder.single(p) for p in pieced])
    model: Any = AutoModel.from_pretrained(folder).eval()
    tokeniser: Any = AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        first, second = (
            model(**tokeniser(w, is_split_into_words=True, return_tensors="pt")).last_hidden_state[0]
            for w in words
        )
    expected = torch.stack([first[1], first[2], first[4], second[1]])
    torch.testing.assert_close(states[:, 0], expected, atol=1e-5, rtol=1e-4)


def test_a_word_without_pieces_has_no_first(encoder: Encoder) -> None:
    (pieced,) = encoder.word_pieces([["drug", "\u200b", "cures"]])
    assert pieced.firsts.tolist() == [0, -1, 1]


@settings(max_examples=20)
@given(st.permutations(range(len(TEXTS))), st.integers(1, 80))
def test_neither_company_nor_budget_changes_states(encoder: Encoder, order: list[int], budget: int) -> None:
    pairs = _pairs(encoder)
    expected = encoder.states(pairs)[order]
    kept, encoder.budget = encoder.budget, budget
    try:
        found = encoder.states([pairs[i] for i in order])
    finally:
        encoder.budget = kept
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def test_the_budget_counts_padded_pieces(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[tuple[int, int]] = []
    forward = Encoder._forward

    def watch(self: Encoder, inputs: Any, layers: Any) -> torch.Tensor:
        sizes.append((len(inputs), max(len(x.ids) for x in inputs)))
        return forward(self, inputs, layers)

    monkeypatch.setattr(Encoder, "_forward", watch)
    monkeypatch.setattr(encoder, "budget", 100)
    encoder.states(_pairs(encoder, [w * n for n in range(1, 12) for w in ("mice ", "drug ")]))
    assert sum(count for count, _ in sizes) == 22
    assert all(count * longest <= 100 for count, longest in sizes)
    assert any(count > 1 for count, _ in sizes)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_halved_when_memory_does_not_suffice(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    pairs = _pairs(encoder)
    expected = encoder.states(pairs)
    forward = Encoder._forward

    def scarce(self: Encoder, inputs: Any, layers: Any) -> torch.Tensor:
        if len(inputs) > most:
            raise torch.OutOfMemoryError("no memory")
        return forward(self, inputs, layers)

    monkeypatch.setattr(Encoder, "_forward", scarce)
    torch.testing.assert_close(encoder.states(pairs), expected, atol=1e-5, rtol=1e-4)


def test_one_sequence_that_is_too_long_for_memory(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> torch.Tensor:
        raise torch.OutOfMemoryError("no memory")

    monkeypatch.setattr(Encoder, "_forward", none)
    with pytest.raises(EncoderError, match="no memory for a sequence of"):
        encoder.states(_pairs(encoder))


def test_longer_texts_are_cut_and_said_to_be(encoder: Encoder) -> None:
    question = encoder.pieces(["drug " * 5])[0].ids
    for length, truncated in ((56, False), (57, True), (400, True)):
        (text,) = encoder.pieces(["cures " * length])
        made = encoder.pair(question, text.ids)
        assert len(made.ids) == min(64, length + 8)
        assert made.truncated == truncated
    long = encoder.pair(encoder.pieces(["drug " * 300])[0].ids, question)
    assert (long.types == 0).sum() == 30 + 2
    assert not long.truncated
    assert encoder.states([long]).isfinite().all()


def test_nothing_to_encode(encoder: Encoder) -> None:
    assert encoder.states([]).shape == (0, 1, 16)
    assert encoder.states([], "all").shape == (0, 2, 16)
    assert encoder.pieces([]) == []
    assert encoder.states(_pairs(encoder, ["", "drug"])).isfinite().all()


def test_lone_surrogates_are_no_obstacle(encoder: Encoder) -> None:
    assert len(encoder.pieces(["drug \ud800 cures"])[0].ids) == 3


@pytest.mark.parametrize(
    ("layers", "frozen"), [(None, ("",)), (-1, ()), (0, ("emb",)), (1, ("emb", "encoder.layer.0"))]
)
def test_freezing(tmp_path: Path, layers: int | None, frozen: tuple[str, ...]) -> None:
    encoder = tiny_encoder(tmp_path)
    encoder.freeze(layers)
    encoder.train()
    for name, parameter in encoder.transformer.named_parameters():
        assert parameter.requires_grad != name.startswith(frozen), name
    assert encoder.learns == encoder.transformer.training == (layers is not None)
    for name, module in encoder.transformer.named_modules():
        if isinstance(module, nn.Dropout):
            assert module.training == (encoder.learns and not name.startswith(frozen)), name
    states = encoder.states(_pairs(encoder))
    assert states.requires_grad == (layers is not None)
    if layers is not None:
        states.sum().backward()  # type: ignore[no-untyped-call]
        for name, parameter in encoder.transformer.named_parameters():
            assert (parameter.grad is not None) == (not name.startswith(frozen)), name


def test_more_layers_than_there_are_cannot_be_frozen(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="has 2 layers: 3 cannot be frozen"):
        tiny_encoder(tmp_path).freeze(3)


def test_rows_of_several_places(encoder: Encoder) -> None:
    single = encoder.single(encoder.word_pieces([["drug", "cures"]])[0])
    none = EncoderInput(single.ids, single.types, np.zeros(0, dtype=np.int64), False)
    assert encoder.states([none, single, none, *_pairs(encoder)]).shape == (7, 1, 16)


@pytest.mark.parametrize(
    ("machine", "avx512", "onednn", "pays"),
    [
        ("x86_64", True, True, True),
        # oneDNN emulates it where AVX-512 lacks it.
        ("AMD64", False, True, False),
        ("aarch64", False, True, True),
        ("arm64", False, False, False),
    ],
)
def test_bfloat16_is_not_emulated(
    monkeypatch: pytest.MonkeyPatch, machine: str, avx512: bool, onednn: bool, pays: bool
) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: onednn)
    assert processor_has_bfloat16() == pays
