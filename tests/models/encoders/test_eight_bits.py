"""A BERT in whole numbers against the same in single precision."""

from typing import Any

import pytest
import torch
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel

from bioqa.models.encoders.eight_bits import EightBitBert, can_be_read
from bioqa.models.encoders.loading import open_encoder
from tests.models.encoders.tiny import write_tiny


@pytest.fixture(scope="module")
def transformer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    model, _, _ = open_encoder(str(write_tiny(tmp_path_factory.mktemp("bert") / "tiny")))
    return model


def test_states_are_close_to_those_of_single_precision(transformer: Any) -> None:
    ids = torch.tensor([2, 9, 30, 17, 9, 3])
    with torch.inference_mode():
        exact = transformer(input_ids=ids[None], output_hidden_states=True).hidden_states
        embedded, last = EightBitBert(transformer)(ids)
    torch.testing.assert_close(embedded, exact[0][0])
    assert torch.cosine_similarity(last, exact[-1][0]).min() > 0.995
    assert not torch.equal(last, exact[-1][0])


def test_places_and_order_count(transformer: Any) -> None:
    with torch.inference_mode():
        reader = EightBitBert(transformer)
        one, other = reader(torch.tensor([2, 9, 30, 3]))[1], reader(torch.tensor([2, 30, 9, 3]))[1]
    assert not torch.allclose(one.mean(dim=0), other.mean(dim=0), atol=1e-3)


def test_only_a_bert_as_published_is_read(transformer: Any) -> None:
    assert can_be_read(transformer)
    config = BertConfig(
        vocab_size=8, hidden_size=4, num_hidden_layers=1, num_attention_heads=1, hidden_act="relu"
    )
    assert not can_be_read(BertModel(config))
    other = RobertaConfig(vocab_size=8, hidden_size=4, num_hidden_layers=1, num_attention_heads=1)
    assert not can_be_read(RobertaModel(other))
