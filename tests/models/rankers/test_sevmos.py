import numpy as np
import pytest
import torch

from bioqa.models.rankers.batch import collate
from bioqa.models.rankers.registry import settings_of
from bioqa.models.text.vocabulary import Vocabulary
from tests.models.rankers.building import example_for, text_ranker, units_of, vectors_of, weights_of
from tests.models.rankers.test_delta import scanned
from tests.models.reference import under
from tests.models.toys import toy_settings


@pytest.mark.parametrize("ranker", ["sevmos-c1", "sevmos-c3"])
@pytest.mark.parametrize("seed", range(2))
def test_question_and_document_are_vectors(vocabulary: Vocabulary, seed: int, ranker: str) -> None:
    settings = toy_settings(ranker)
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, seed)
    weights = weights_of(model)
    asked = scanned(under(weights, "question."), vectors_of(example.question.tolist(), vocabulary))
    expected = []
    for unit in units_of(example):
        read = scanned(under(weights, "document."), vectors_of(unit, vocabulary))
        expected.append(np.concatenate([asked, [asked @ weights["matrix.weight"] @ read], read]))
    with torch.inference_mode():
        found = model(collate([example], vocabulary))
    np.testing.assert_allclose(found.numpy(), np.array(expected), atol=1e-5)


def test_published_sizes() -> None:
    one, three = settings_of("sevmos-c1").as_dict(), settings_of("sevmos-c3").as_dict()
    assert (one["layers"], one["window"], one["filters"]) == (1, 5, 256)
    assert (three["layers"], three["window"], three["filters"]) == (3, 3, 256)
