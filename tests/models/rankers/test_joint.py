import numpy as np
import pytest
import torch

from bioqa.models.rankers.batch import collate
from bioqa.models.rankers.joint import Joint
from bioqa.models.rankers.registry import build, settings_of
from bioqa.models.text.vocabulary import Vocabulary
from tests.models import reference
from tests.models.rankers.test_pdrmm import weights_of
from tests.models.toys import random_example


@pytest.mark.parametrize("features", ["paper", "extended"])
@pytest.mark.parametrize("last_layer", [True, False])
@pytest.mark.parametrize("terms", [0, 1, 4])
def test_scores_are_those_of_the_paper(
    features: str, last_layer: bool, terms: int, vocabulary: Vocabulary
) -> None:
    settings = settings_of("jpdrmm", dimensions=6, features=features, last_layer=last_layer)
    model = build(settings, torch.from_numpy(vocabulary.vectors))
    example = random_example(
        np.random.default_rng(terms), settings, len(vocabulary.words), terms=terms, sentence_counts=[0, 2, 3]
    )
    scores = model(collate([example], vocabulary))
    documents, sentences = reference.ranker(settings, weights_of(model), example, vocabulary)
    assert scores.documents.tolist() == pytest.approx(documents, abs=1e-5)
    assert scores.sentences.tolist() == pytest.approx(sentences, abs=1e-5)


def test_the_last_layer_alone_revises_sentences(vocabulary: Vocabulary) -> None:
    settings = settings_of("jpdrmm", dimensions=6)
    model = build(settings, torch.from_numpy(vocabulary.vectors))
    assert isinstance(model, Joint)
    example = random_example(np.random.default_rng(0), settings, 9, terms=2, sentence_counts=[2, 1])
    batch = collate([example], vocabulary)
    revised = model(batch)
    layer, model.last_layer = model.last_layer, None
    plain = model(batch)
    assert layer is not None
    assert revised.documents.tolist() == plain.documents.tolist()
    pairs = torch.stack([plain.sentences, plain.documents[[0, 0, 1]]], dim=1)
    torch.testing.assert_close(revised.sentences, layer(pairs).squeeze(1))


def test_jpdrmm_has_the_papers_number_of_parameters() -> None:
    model = build(settings_of("jpdrmm"), torch.zeros(3, 30))
    assert sum(p.numel() for p in model.parameters() if p.requires_grad) == 5793
    without = build(settings_of("jpdrmm", last_layer=False), torch.zeros(3, 30))
    assert sum(p.numel() for p in without.parameters()) == 5790
