import numpy as np
import pytest
import torch
from torch import nn

from bioqa.models.rankers.batch import collate
from bioqa.models.rankers.delta import Classifier
from bioqa.models.rankers.registry import build
from bioqa.models.text.vocabulary import Vocabulary
from tests.models.rankers.building import example_for, mlp, text_ranker, units_of, vectors_of, weights_of
from tests.models.reference import Vector, Weights, cosine, under
from tests.models.toys import toy_settings


def scanned(weights: Weights, rows: list[Vector]) -> np.ndarray:
    """Full convolutions, one place at a time, then the maximum over all places."""
    layers = sorted({int(name.split(".")[1]) for name in weights})
    current = np.array(rows)
    if not rows:
        return np.zeros(len(weights[f"convolutions.{layers[-1]}.bias"]))
    for layer in layers:
        taps, bias = weights[f"convolutions.{layer}.weight"], weights[f"convolutions.{layer}.bias"]
        window = taps.shape[2]
        found = []
        for end in range(1, len(current) + window):
            total = bias.astype(np.float64).copy()
            for tap in range(window):
                place = end - window + tap
                if 0 <= place < len(current):
                    total += taps[:, :, tap] @ current[place]
            found.append(np.maximum(total, 0))
        current = np.array(found)
    return np.asarray(current.max(axis=0))


@pytest.mark.parametrize("seed", range(3))
def test_the_scanner_reads_differences(vocabulary: Vocabulary, seed: int) -> None:
    """Algorithm 1, then Section 4.4."""
    settings = toy_settings("delta")
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, seed)
    question = [np.array(v) for v in vectors_of(example.question.tolist(), vocabulary)]
    expected = []
    for unit in units_of(example):
        rows = []
        for word in map(np.array, vectors_of(unit, vocabulary)):
            closest = min(question, key=lambda u, w=word: float(np.linalg.norm(w - u)))  # type: ignore[misc]
            length = float(np.linalg.norm(word - closest))
            rows.append([*(word - closest), length, cosine(word.tolist(), closest.tolist())])
        expected.append(scanned(under(weights_of(model), "scanner."), rows))
    with torch.inference_mode():
        found = model(collate([example], vocabulary))
    np.testing.assert_allclose(found.numpy(), np.array(expected), atol=1e-5)


def test_the_classifier_is_as_wide_as_its_input() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        head = Classifier(5, 0.5).eval()
    features, state = torch.randn(2, 3), torch.randn(2, 2)
    expected = [
        mlp(weights_of(head), "layers", [*f, *s])[0]
        for f, s in zip(features.tolist(), state.tolist(), strict=True)
    ]
    assert head(features, state).tolist() == pytest.approx(expected, abs=1e-5)


def _parameters(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def test_parameters_of_the_published_size() -> None:
    settings = toy_settings("delta", dimensions=300, filters=256)
    convolutions = 256 * 302 * 3 + 256 + 2 * (256 * 256 * 3 + 256)
    classifier = 2 * (259 * 259 + 259) + 260
    assert _parameters(build(settings, torch.zeros(1, 300))) == convolutions + classifier
