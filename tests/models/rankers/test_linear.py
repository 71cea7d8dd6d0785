import numpy as np
import pytest
import torch

from bioqa.models.rankers.batch import collate
from bioqa.models.rankers.registry import build
from bioqa.models.text.vocabulary import Vocabulary
from tests.models.rankers.building import example_for, weights_of
from tests.models.toys import toy_settings


def test_scores_are_a_weighted_sum_of_the_features(vocabulary: Vocabulary) -> None:
    settings = toy_settings("linear")
    model, example = (
        build(settings, torch.from_numpy(vocabulary.vectors)),
        example_for(settings, vocabulary, 0),
    )
    weights = weights_of(model)
    assert weights["head.layer.weight"].shape == (1, 4)
    expected = example.features.documents @ weights["head.layer.weight"][0] + weights["head.layer.bias"]
    with torch.inference_mode():
        scores = model(collate([example], vocabulary))
    np.testing.assert_allclose(scores.documents.numpy(), expected, atol=1e-6)
    assert scores.sentences.tolist() == pytest.approx([])
