import numpy as np
import pytest
import torch

from bioqa.models.rankers.batch import collate
from bioqa.models.rankers.bcnn import WideConvolution
from bioqa.models.rankers.registry import build, settings_of
from bioqa.models.text.vocabulary import Vocabulary
from tests.models import reference
from tests.models.rankers.test_pdrmm import weights_of
from tests.models.toys import random_example

Rows = list[list[float]]


def _columns(weights: dict[str, np.ndarray], prefix: str, rows: np.ndarray) -> np.ndarray:
    """Window by window, [words + 3, kernels]."""
    taps, bias = weights[f"{prefix}convolution.weight"], weights[f"{prefix}convolution.bias"]
    padded = np.pad(rows, ((3, 3), (0, 0)))
    return np.array(
        [np.tanh(sum(taps[:, :, k] @ padded[t + k] for k in range(4)) + bias) for t in range(len(rows) + 3)]
    )


def _summaries(weights: dict[str, np.ndarray], rows: np.ndarray) -> Rows:
    found = [rows.mean(0).tolist()]
    for layer in range(2):
        columns = _columns(weights, f"text_ranker.layers.{layer}.", rows)
        found.append(columns.mean(0).tolist())
        rows = np.array([columns[t : t + 4].mean(0) for t in range(len(rows))])
    return found


def test_scores_are_those_of_the_paper(vocabulary: Vocabulary) -> None:
    settings = settings_of("bcnn", dimensions=6)
    model = build(settings, torch.from_numpy(vocabulary.vectors))
    example = random_example(
        np.random.default_rng(2), settings, len(vocabulary.words), terms=3, sentence_counts=[2, 0, 4]
    )
    weights = weights_of(model)
    asked = _summaries(weights, vocabulary.vectors[example.question])
    expected = []
    units = np.split(example.words, np.cumsum(example.word_counts)[:-1])
    for unit, features in zip(units, example.features.sentences.tolist(), strict=True):
        similarities = [0.0] * 3
        if len(unit):
            of_unit = _summaries(weights, vocabulary.vectors[unit])
            similarities = [reference.cosine(a, b) for a, b in zip(asked, of_unit, strict=True)]
        expected.append(
            reference.linear(reference.under(weights, "head."), "layer", [*features, *similarities])[0]
        )
    scores = model(collate([example], vocabulary))
    assert scores.sentences.tolist() == pytest.approx(expected, abs=1e-5)
    assert scores.documents.tolist() == pytest.approx([max(expected[:2]), 0.0, max(expected[2:])], abs=1e-5)


@pytest.mark.parametrize("lengths", [[1], [3, 1, 5], [0, 2, 0, 0, 4, 0], [0]])
def test_units_do_not_see_each_other(lengths: list[int]) -> None:
    layer = WideConvolution(4, 5, 4)
    vectors = torch.randn(sum(lengths), 4, generator=torch.Generator().manual_seed(0))
    whole, windows = layer(vectors, torch.tensor(lengths))
    assert whole.shape == (len(lengths), 5)
    assert windows.shape == (sum(lengths), 5)
    alone = [layer(v, torch.tensor([len(v)])) for v in torch.split(vectors, lengths)]
    torch.testing.assert_close(whole, torch.cat([a for a, _ in alone]))
    torch.testing.assert_close(windows, torch.cat([b for _, b in alone]))


def test_parameters(vocabulary: Vocabulary) -> None:
    """Two layers of 50 kernels over 30-D vectors: with document PDRMM, the 21.8k of Table 1."""
    made = [build(settings_of(name), torch.zeros(1, 30)) for name in ("bcnn", "pdrmm")]
    bcnn, pdrmm = (sum(p.numel() for p in model.parameters()) for model in made)
    assert bcnn == (30 * 50 * 4 + 50) + (50 * 50 * 4 + 50) + 14
    assert bcnn + pdrmm == 21_808
