import numpy as np
import pytest
import torch

from bioqa.models.rankers.batch import collate
from bioqa.models.rankers.heads import FeatureHead, best_of_documents
from bioqa.models.rankers.registry import build, settings_of
from bioqa.models.rankers.settings import RankerSettings
from bioqa.models.text.vocabulary import Vocabulary
from tests.models import reference
from tests.models.rankers.test_pdrmm import weights_of
from tests.models.toys import random_example


@pytest.mark.parametrize("bias", [True, False])
def test_feature_head(bias: bool) -> None:
    head = FeatureHead(3, bias=bias)
    features, score = torch.randn(4, 3), torch.randn(4)
    expected = [
        reference.with_features(weights_of(head), f, s)
        for f, s in zip(features.tolist(), score.tolist(), strict=True)
    ]
    torch.testing.assert_close(head(features, score), torch.tensor(expected), atol=1e-5, rtol=1e-5)
    assert any("bias" in name for name in head.state_dict()) == bias


def test_a_document_takes_its_best_sentences_score(vocabulary: Vocabulary) -> None:
    example = random_example(np.random.default_rng(0), settings_of("jpdrmm"), 5, sentence_counts=[2, 0, 3])
    scores = torch.tensor([-3.0, -1.0, 0.5, 2.0, -4.0], requires_grad=True)
    best = best_of_documents(scores, collate([example], vocabulary))
    assert best.tolist() == [-1.0, 0.0, 2.0]
    best.sum().backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert scores.grad.tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]


def _scores(
    settings: RankerSettings, vocabulary: Vocabulary
) -> tuple[list[float], list[float], list[float], list[float]]:
    """Documents and sentences: the ranker's and the reference's."""
    model = build(settings, torch.from_numpy(vocabulary.vectors))
    generator = np.random.default_rng(4)
    example = random_example(generator, settings, len(vocabulary.words), terms=4, sentence_counts=[2, 0, 3])
    scores = model(collate([example], vocabulary))
    documents, sentences = reference.ranker(settings, weights_of(model), example, vocabulary)
    return scores.documents.tolist(), documents, scores.sentences.tolist(), sentences


@pytest.mark.parametrize("features", ["paper", "extended"])
def test_sentence_pdrmm(features: str, vocabulary: Vocabulary) -> None:
    settings = settings_of("sentence-pdrmm", dimensions=6, features=features)
    documents, expected, sentences, of_sentences = _scores(settings, vocabulary)
    assert documents == pytest.approx(expected, abs=1e-5)
    assert sentences == pytest.approx(of_sentences, abs=1e-5)
    assert len(sentences) == 5
    assert documents[1] == 0.0


@pytest.mark.parametrize("features", ["paper", "extended"])
def test_document_pdrmm(features: str, vocabulary: Vocabulary) -> None:
    settings = settings_of("pdrmm", dimensions=6, features=features)
    documents, expected, sentences, _ = _scores(settings, vocabulary)
    assert documents == pytest.approx(expected, abs=1e-5)
    assert len(documents) == 3
    assert sentences == []
