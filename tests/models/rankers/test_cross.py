from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer

from bioasq.domain import Part
from models.encoders.encoder import Encoder
from models.rankers.cross import CrossEncoder, sentence_texts
from tests.models.encoders.tiny import write_tiny
from tests.models.toys import document

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
    first, second = (cast(nn.Linear, model.head[layer]) for layer in (0, 2))
    with torch.inference_mode():
        scores = model(model.inputs(QUESTION, TEXTS), features)
        for row, text in enumerate(TEXTS):
            cls = bert(**tokeniser(QUESTION, text, return_tensors="pt")).last_hidden_state[0, 0]
            hidden: Any = first.weight @ torch.cat([cls, features[row]]) + first.bias
            expected = second.weight @ torch.where(hidden > 0, hidden, 0.1 * hidden) + second.bias
            assert scores[row].item() == pytest.approx(expected.item(), abs=1e-4)


def test_company_in_a_batch_changes_nothing(model: CrossEncoder) -> None:
    features = torch.arange(6.0).reshape(3, 2)
    inputs = model.inputs(QUESTION, TEXTS)
    with torch.inference_mode():
        together = model(inputs, features)
        backwards = model(inputs[::-1], features.flip(0)).flip(0)
        alone = torch.cat([model([x], row[None]) for x, row in zip(inputs, features, strict=True)])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(together, backwards, atol=1e-5, rtol=1e-5)


def test_features_count(model: CrossEncoder) -> None:
    inputs = model.inputs(QUESTION, TEXTS[:1])
    with torch.inference_mode():
        scores = [model(inputs, torch.tensor([[x, 0.0]])).item() for x in (0.0, 5.0)]
    assert abs(scores[0] - scores[1]) > 1e-3


def test_long_sentences_are_cut_and_say_so(model: CrossEncoder) -> None:
    made = model.inputs(QUESTION, ["drug " * 200, "drug"])
    assert [x.truncated for x in made] == [True, False]
    assert len(made[0].ids) == 64


def test_no_sentences(model: CrossEncoder) -> None:
    assert model([], torch.zeros(0, 2)).shape == (0,)


def test_sentences_are_read_after_the_label_of_their_part() -> None:
    made = document(1, "Of gulls.", "AIM: To see.", "They fly.", "So it is.")
    end = len("AIM: To see. They fly.")
    parts = (Part("AIM", 0, end), Part("", end + 1, len(made.abstract)))
    assert sentence_texts(replace(made, parts=parts)) == [
        "TITLE: Of gulls.",
        "AIM: To see.",
        "AIM: They fly.",
        "So it is.",
    ]
    assert sentence_texts(made)[1:] == ["AIM: To see.", "They fly.", "So it is."]


def test_half_precision_is_close_and_the_same_again(model: CrossEncoder) -> None:
    inputs, features = model.inputs(QUESTION, TEXTS), np.arange(6, dtype=np.float32).reshape(3, 2)
    single = model.score(inputs, features)
    with torch.inference_mode():
        np.testing.assert_array_equal(single, model(inputs, torch.from_numpy(features)).numpy())
    half = model.score(inputs, features, half_precision=True)
    assert half.dtype == np.float32
    np.testing.assert_array_equal(half, model.score(inputs, features, half_precision=True))
    np.testing.assert_allclose(half, single, atol=0.1)
    assert (half != single).any()
