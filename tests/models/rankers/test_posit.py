import numpy as np
import pytest
import torch

from bioqa.models.rankers.batch import Packing
from bioqa.models.rankers.context import Context
from bioqa.models.text.vocabulary import Vocabulary
from tests.models import reference
from tests.models.rankers.building import (
    example_for,
    gate,
    mlp,
    scores_of,
    text_ranker,
    units_of,
    vectors_of,
    weights_of,
)
from tests.models.reference import Vector, Weights, cosine, pooled, under
from tests.models.toys import toy_settings


def contexts(weights: Weights, vectors: list[Vector]) -> list[Vector]:
    """An LSTM in each direction, one word at a time; both add the word's vector."""
    found = [np.concatenate([v, v]) for v in vectors]
    width = len(vectors[0]) if vectors else 0
    for part, suffix, order in (
        (slice(0, width), "", range(len(vectors))),
        (slice(width, None), "_reverse", reversed(range(len(vectors)))),
    ):
        state, cell = np.zeros(width), np.zeros(width)
        for t in order:
            gates = (
                weights[f"lstm.weight_ih_l0{suffix}"] @ vectors[t]
                + weights[f"lstm.bias_ih_l0{suffix}"]
                + weights[f"lstm.weight_hh_l0{suffix}"] @ state
                + weights[f"lstm.bias_hh_l0{suffix}"]
            )
            entering, kept, new, leaving = np.split(gates, 4)
            cell = _sigmoid(kept) * cell + _sigmoid(entering) * np.tanh(new)
            state = _sigmoid(leaving) * np.tanh(cell)
            found[t][part] += state
    return [each.tolist() for each in found]


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.array([reference.sigmoid(float(each)) for each in x])


@pytest.mark.parametrize("lengths", [[3], [2, 0, 4], [1, 5, 1]])
def test_contexts_end_with_their_unit(lengths: list[int]) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = Context(4)
    vectors = torch.randn(sum(lengths), 4, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        found = model(vectors, Packing.of(np.array(lengths)))
    expected = [
        row for part in torch.split(vectors, lengths) for row in contexts(weights_of(model), part.tolist())
    ]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float32), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("ranker", ["posit", "posit-mv"])
@pytest.mark.parametrize("seed", range(2))
def test_scores_are_those_of_the_paper(vocabulary: Vocabulary, seed: int, ranker: str) -> None:
    settings = toy_settings(ranker)
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, seed)
    weights, question = weights_of(model), example.question.tolist()
    static_q = vectors_of(question, vocabulary)
    context_q = contexts(under(weights, "context."), static_q)
    expected = []
    for unit in units_of(example):
        static = vectors_of(unit, vocabulary)
        context = contexts(under(weights, "context."), static)
        matches = []
        for i, term in enumerate(question):
            row = pooled([cosine(context_q[i], each) for each in context])[:2]
            if ranker == "posit-mv":
                row += pooled([cosine(static_q[i], each) for each in static])[:2]
                row += pooled([float(term == word) for word in unit])[:2]
            matches.append(mlp(weights, "match", row, "leaky")[0])
        expected.append(float(np.dot(matches, gate(weights, example, vocabulary))))
    assert scores_of(model, example, vocabulary) == pytest.approx(expected, abs=1e-5)
