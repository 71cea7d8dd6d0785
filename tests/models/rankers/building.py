"""Toy rankers of documents and their input, for tests against readings of the papers one number at a time."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from bioqa.models.rankers.batch import Example, collate
from bioqa.models.rankers.heads import DocumentRanker
from bioqa.models.rankers.registry import build
from bioqa.models.rankers.settings import RankerSettings
from bioqa.models.text.vocabulary import Vocabulary
from tests.models.reference import Vector, Weights, sigmoid, under
from tests.models.toys import random_example


def text_ranker(settings: RankerSettings, vocabulary: Vocabulary) -> nn.Module:
    """What is below the head of a ranker of documents, with random weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = build(settings, torch.from_numpy(vocabulary.vectors)).eval()
    assert isinstance(model, DocumentRanker)
    return model.text_ranker


def weights_of(model: nn.Module) -> dict[str, np.ndarray]:
    return {name: value.detach().numpy() for name, value in model.state_dict().items()}


def example_for(settings: RankerSettings, vocabulary: Vocabulary, seed: int, longest: int = 12) -> Example:
    """Four documents, one of them empty; every other word is one of the question."""
    generator = np.random.default_rng(seed)
    size = len(vocabulary.words)
    example = random_example(
        generator, settings, size, terms=4, sentence_counts=[1, 1, 0, 1, 1], longest=longest
    )
    example.words[::2] = generator.choice(example.question, len(example.words[::2]))
    example.word_counts[2] = 0
    kept = int(example.word_counts.sum())
    return Example(
        example.question, example.words[:kept], example.word_counts, example.unit_counts, example.features
    )


def units_of(example: Example) -> list[list[int]]:
    return [unit.tolist() for unit in np.split(example.words, np.cumsum(example.word_counts)[:-1])]


def scores_of(model: nn.Module, example: Example, vocabulary: Vocabulary) -> list[float]:
    with torch.inference_mode():
        scores: list[float] = model(collate([example], vocabulary)).tolist()
    return scores


def mean_of(vocabulary: Vocabulary) -> Vector:
    """The vector of unknown words, where it is the mean."""
    mean: Vector = vocabulary.vectors.mean(axis=0).tolist()
    return mean


def vectors_of(words: list[int], vocabulary: Vocabulary) -> list[Vector]:
    return [vocabulary.vectors[w].tolist() if w >= 0 else mean_of(vocabulary) for w in words]


def softmax(logits: Vector) -> Vector:
    shares = np.exp(logits) / np.exp(logits).sum()
    found: Vector = shares.tolist()
    return found


def gate(weights: Weights, example: Example, vocabulary: Vocabulary) -> Vector:
    """softmax of w·[e; idf] over the question's terms"""
    row = under(weights, "gate.")["layer.weight"][0]
    question = example.question.tolist()
    inputs = [
        [*vector, float(idf)]
        for vector, idf in zip(
            vectors_of(question, vocabulary), vocabulary.idf_of(example.question), strict=True
        )
    ]
    return softmax([float(np.dot(row, x)) for x in inputs])


def mlp(weights: Weights, name: str, x: Vector, activation: str = "relu") -> Vector:
    """Linear layers of a Sequential with an activation after each but the last."""
    numbers = sorted({int(key.split(".")[1]) for key in weights if key.startswith(f"{name}.")})
    current = np.array(x, dtype=np.float64)
    for number in numbers:
        current = weights[f"{name}.{number}.weight"] @ current + weights[f"{name}.{number}.bias"]
        if number != numbers[-1]:
            current = ACTIVATIONS[activation](current)
    found: Vector = current.tolist()
    return found


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "relu": lambda v: np.maximum(v, 0),
    "leaky": lambda v: np.where(v > 0, v, 0.1 * v),
    "tanh": np.tanh,
}


Rows = Callable[[Weights, list[int], list[int]], list[Vector]]
"""Of weights, a question's words and a unit's: a row for each word of the question."""


def assert_sums_over_terms(
    settings: RankerSettings,
    vocabulary: Vocabulary,
    seed: int,
    rows: Rows,
    match: Callable[[Weights, Vector], float] = lambda weights, row: mlp(weights, "match", row, "leaky")[0],
) -> None:
    """That a unit's score is the sum of what ``match`` makes of each term's row, weighted by the gate."""
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, seed)
    weights, question = weights_of(model), example.question.tolist()
    shares = gate(weights, example, vocabulary)
    expected = [
        float(np.dot([match(weights, row) for row in rows(weights, question, unit)], shares))
        for unit in units_of(example)
    ]
    assert scores_of(model, example, vocabulary) == pytest.approx(expected, abs=1e-5)


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
    return np.array([sigmoid(float(each)) for each in x])


def views_of(weights: Weights, words: list[int], vocabulary: Vocabulary) -> tuple[list[Vector], list[Vector]]:
    """Vectors of words, and their vectors in context."""
    static = vectors_of(words, vocabulary)
    return static, contexts(under(weights, "context."), static)
