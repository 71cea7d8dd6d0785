from itertools import product
from math import ceil

import numpy as np
import pytest
import torch

from bioqa.models.rankers.batch import Example, collate
from bioqa.models.rankers.registry import build
from bioqa.models.rankers.settings import RankerSettings, RankerSettingsError
from bioqa.models.text.vocabulary import Vocabulary
from tests.models.rankers.building import (
    example_for,
    mlp,
    scores_of,
    softmax,
    text_ranker,
    units_of,
    vectors_of,
    weights_of,
)
from tests.models.reference import Weights, cosine
from tests.models.toys import toy_settings


def _ngrams(weights: Weights, layer: int, matrix: np.ndarray) -> np.ndarray:
    """The strongest filter at each place; zeros beyond the matrix."""
    filters, bias = weights[f"convolutions.{layer}.weight"][:, 0], weights[f"convolutions.{layer}.bias"]
    size = filters.shape[1]
    before = (size - 1) // 2
    around = np.pad(matrix, ((before, size - 1 - before),) * 2)
    found = np.zeros_like(matrix)
    for i, j in product(*map(range, matrix.shape)):
        window = around[i : i + size, j : j + size]
        found[i, j] = max(0.0, *((filters * window).sum(axis=(1, 2)) + bias))
    return found


def _strongest(row: np.ndarray, beside: np.ndarray, k: int, parts: int, disambiguated: bool) -> list[float]:
    found: list[float] = []
    for part in range(1, parts + 1):
        places = range(ceil(len(row) * part / parts))
        # The first of equal places.
        chosen = sorted(places, key=lambda place: (-round(float(row[place]), 5), place))[:k]
        missing = [0.0] * (k - len(chosen))
        found += [float(row[place]) for place in chosen] + missing
        if disambiguated:
            found += [float(beside[place]) for place in chosen] + missing
    return found


def _expected(
    settings: RankerSettings, weights: Weights, example: Example, vocabulary: Vocabulary
) -> list[float]:
    values = settings.as_dict()
    question = vectors_of(example.question.tolist(), vocabulary)
    idf = softmax(vocabulary.idf_of(example.question).tolist())
    scores = []
    for unit in units_of(example):
        words = vectors_of(unit, vocabulary)
        matrix = np.array([[cosine(t, w) for w in words] for t in question]).reshape(
            len(question), len(words)
        )
        signals = [matrix, *(_ngrams(weights, n, matrix) for n in range(values["longest_ngram"] - 1))]
        mean = np.mean(question, axis=0).tolist()
        reach = values["around"]
        beside = [
            cosine(np.sum(words[max(0, t - reach) : t + reach + 1], axis=0).tolist(), mean)
            for t in range(len(words))
        ]
        rows = [[] for _ in question]  # type: list[list[float]]
        for signal, (i, row) in product(signals, enumerate(rows)):
            parts = 4 if values["cascade"] else 1
            row += _strongest(signal[i], np.array(beside), values["strongest"], parts, values["disambiguate"])
        for row, share in zip(rows, idf, strict=True):
            row.append(share)
        terms = values["question_words"]
        if values["by_term"]:
            of_terms = [mlp(weights, "match", row)[0] for row in rows]
            join = weights["join.weight"][0][: len(rows)]
            scores.append(float(np.dot(join, of_terms) + weights["join.bias"][0]))
        else:
            flat = np.concatenate([*rows, np.zeros((terms - len(rows)) * len(rows[0]))])
            scores.append(mlp(weights, "match", flat.tolist())[0])
    return scores


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("ranker", "changes"),
    [
        ("pacrr", {}),
        ("pacrr", {"longest_ngram": 1, "strongest": 4}),
        ("pacrr-drmm", {}),
        ("co-pacrr", {}),
        ("co-pacrr", {"cascade": False, "around": 1}),
        ("co-pacrr", {"disambiguate": False}),
    ],
)
def test_scores_are_those_of_the_papers(
    vocabulary: Vocabulary, ranker: str, changes: dict[str, object], seed: int
) -> None:
    settings = toy_settings(ranker, **changes)
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, seed)
    expected = _expected(settings, weights_of(model), example, vocabulary)
    assert scores_of(model, example, vocabulary) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("ranker", "parameters"),
    [
        # Convolutions; [30 × 7 → 70 → 70 → 1]; the linear layer over score and features.
        ("pacrr", (16 * 5 + 16 * 10) + (210 * 70 + 70) + (70 * 70 + 70) + 71 + 6),
        # [7 → 7 → 7 → 1], and a weight for each term's score.
        ("pacrr-drmm", (16 * 5 + 16 * 10) + 2 * (7 * 7 + 7) + 8 + 31 + 6),
        # 16 terms of 3 sizes × 3 places × 4 parts, twice, and the IDF.
        ("co-pacrr", (32 * 5 + 32 * 10) + (16 * 73 * 16 + 16) + (16 * 16 + 16) + 17),
    ],
)
def test_parameters(ranker: str, parameters: int) -> None:
    model = build(toy_settings(ranker, filters=32 if ranker == "co-pacrr" else 16), torch.zeros(3, 6))
    assert sum(p.numel() for p in model.parameters()) == parameters


def test_terms_are_shuffled_in_training_alone(vocabulary: Vocabulary) -> None:
    settings = toy_settings("co-pacrr")
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, 0)
    batch = collate([example], vocabulary)
    with torch.random.fork_rng(devices=[]), torch.inference_mode():
        torch.manual_seed(0)
        alone = [model(batch) for _ in range(2)]
        shuffled = [model.train()(batch) for _ in range(2)]
        model.eval()
    assert torch.equal(*alone)
    assert not torch.allclose(*shuffled)
    plain = text_ranker(settings.with_changes(shuffle=False), vocabulary).train()
    assert torch.allclose(plain(batch), alone[0])


def test_the_number_of_terms_must_be_set(vocabulary: Vocabulary) -> None:
    with pytest.raises(RankerSettingsError, match="question_words 0: this ranker has weights for each place"):
        text_ranker(toy_settings("pacrr", question_words=0), vocabulary)
