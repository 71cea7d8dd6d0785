from math import ceil
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from transformers import AutoModel, AutoTokenizer

from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.encoders.encoder import Encoder
from tests.models.encoders.tiny import write_tiny

QUESTION = "Which drug cures zelosis?"
TEXTS = ["Velorin cures zelosis.", "Mice.", "The origin of zelosis is not known to us."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny(tmp_path_factory.mktemp("cross") / "tiny", ["drug", "cures", "zelosis"])


@pytest.fixture(scope="module")
def model(folder: Path) -> CrossEncoder:
    torch.manual_seed(3)
    return CrossEncoder(Encoder.load(str(folder), device="cpu"), features=2).eval()


def test_scores_are_those_of_transformers_and_the_head_by_hand(folder: Path, model: CrossEncoder) -> None:
    tokeniser, bert = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    features = torch.tensor([[0.5, -1.0], [2.0, 0.0], [0.0, 1.0]])
    lengths = [len(tokeniser(text, add_special_tokens=False)["input_ids"]) for text in TEXTS]
    (passage,) = model.passages(QUESTION, TEXTS)
    assert (passage.lengths.tolist(), passage.truncated) == (lengths, 0)
    with torch.inference_mode():
        logits = model([passage], features)
        read = tokeniser(QUESTION, " ".join(TEXTS), return_tensors="pt")
        assert passage.input.ids.tolist() == read["input_ids"][0].tolist()
        states = bert(**read).last_hidden_state[0]
        means = [own.mean(dim=0) for own in states[-1 - sum(lengths) : -1].split(lengths)]
        for mean, given, score in zip(means, features, logits.sentences, strict=True):
            assert score.item() == pytest.approx(_by_hand(model.head, torch.cat([mean, given])), abs=1e-4)
        of_document = _by_hand(model.document_head, states[0])
        assert logits.passages.tolist() == pytest.approx([of_document], abs=1e-4)


def _by_hand(head: nn.Sequential, x: torch.Tensor) -> float:
    first, second = (cast(nn.Linear, head[layer]) for layer in (0, 2))
    hidden: Any = first.weight @ x + first.bias
    return float((second.weight @ torch.where(hidden > 0, hidden, 0.1 * hidden) + second.bias).item())


def test_company_in_a_batch_changes_nothing(model: CrossEncoder) -> None:
    documents = [TEXTS, TEXTS[:1], ["A drug.", *TEXTS[1:]]]
    passages = [passage for texts in documents for passage in model.passages(QUESTION, texts)]
    features = torch.arange(14.0).reshape(7, 2)
    rows = torch.split(features, [3, 1, 3])
    with torch.inference_mode():
        together = model(passages, features)
        alone = [model([x], own) for x, own in zip(passages, rows, strict=True)]
        backwards = model(passages[::-1], torch.cat(rows[::-1]))
    turned = torch.cat(backwards.sentences.split([3, 1, 3])[::-1])
    for other in (torch.cat([logits.sentences for logits in alone]), turned):
        torch.testing.assert_close(together.sentences, other, atol=1e-5, rtol=1e-5)
    for other in (torch.cat([logits.passages for logits in alone]), backwards.passages.flip(0)):
        torch.testing.assert_close(together.passages, other, atol=1e-5, rtol=1e-5)


def test_a_sentence_is_judged_beside_the_others(model: CrossEncoder) -> None:
    features = torch.zeros(2, 2)
    with torch.inference_mode():
        one, other = (
            model(model.passages(QUESTION, [TEXTS[0], x]), features).sentences[0] for x in TEXTS[1:]
        )
    assert abs(one - other) > 1e-4


def test_features_count(model: CrossEncoder) -> None:
    passages = model.passages(QUESTION, TEXTS[:1])
    with torch.inference_mode():
        scores = [model(passages, torch.tensor([[x, 0.0]])).sentences.item() for x in (0.0, 5.0)]
    assert abs(scores[0] - scores[1]) > 1e-3


def test_long_sentences_are_cut_and_say_so(model: CrossEncoder) -> None:
    made = model.passages(QUESTION, ["drug", "drug " * 200, "drug cures"])
    assert sum(passage.truncated for passage in made) == 1
    assert [len(passage.input.places) for passage in made] == [1 + p.lengths.sum() for p in made]
    assert max(passage.cost for passage in made) == 64


@given(st.lists(st.integers(1, 70), min_size=1, max_size=12))
def test_a_long_document_is_read_in_as_few_passages_of_like_length(
    model: CrossEncoder, counts: list[int]
) -> None:
    passages = model.passages(QUESTION, ["drug " * count for count in counts])
    (asked,) = model.encoder.pieces([QUESTION])
    room = model.encoder.room_beside(len(asked.ids))
    lengths = [int(length) for passage in passages for length in passage.lengths]
    assert lengths == [min(count, room) for count in counts]
    filled = [int(passage.lengths.sum()) for passage in passages]
    assert max(filled) <= room
    assert len(filled) <= 2 * ceil(sum(lengths) / room)
    for passage in passages:
        own = passage.input.ids[passage.input.places][1:]
        assert (own == own[0]).all()


def test_sentences_without_a_piece_have_their_features_alone(model: CrossEncoder) -> None:
    texts = ["\u200b", "drug"]
    passages = model.passages(QUESTION, texts)
    assert passages[0].lengths[0] == 0
    with torch.inference_mode():
        empty = model(passages, torch.ones(2, 2)).sentences[0]
        expected = model.head(torch.cat([torch.zeros(model.encoder.width), torch.ones(2)]))
    assert empty.item() == pytest.approx(expected.item(), abs=1e-5)


def test_no_sentences(model: CrossEncoder) -> None:
    assert model.passages(QUESTION, []) == []
    logits = model([], torch.zeros(0, 2))
    assert logits.sentences.shape == logits.passages.shape == (0,)


def test_half_precision_is_close_and_the_same_again(folder: Path, model: CrossEncoder) -> None:
    passages, features = model.passages(QUESTION, TEXTS), np.arange(6, dtype=np.float32).reshape(3, 2)
    single = model.score(passages, features)
    with torch.inference_mode():
        logits = model(passages, torch.from_numpy(features))
    for found, expected in zip(single, (logits.sentences, logits.passages), strict=True):
        np.testing.assert_array_equal(found, expected.numpy())
    halved = CrossEncoder(Encoder.load(str(folder), device="cpu"), features=2).eval()
    halved.load_state_dict(model.state_dict())
    halved.encoder.halve()
    half = halved.score(passages, features)
    for found, again, expected in zip(half, halved.score(passages, features), single, strict=True):
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, again)
        np.testing.assert_allclose(found, expected, atol=0.1)
    assert (half[0] != single[0]).any()
