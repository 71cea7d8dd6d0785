"""The rankers once more, one number at a time: an independent reading of the paper.

Pappas and Androutsopoulos 2021, Sections 2.1 to 2.3. Weights are those of the module under test, by the
names of its ``state_dict``; everything else is loops over Python's floats, in double precision.
"""

from collections.abc import Mapping, Sequence
from math import exp, sqrt

import numpy as np

from bioqa.models.rankers.batch import Example
from bioqa.models.rankers.settings import RankerSettings
from bioqa.models.text.vocabulary import Vocabulary

Vector = list[float]
Weights = Mapping[str, np.ndarray]


def under(weights: Weights, prefix: str) -> dict[str, np.ndarray]:
    """The weights of a part, by their names in it."""
    return {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))


def linear(weights: Weights, name: str, x: Sequence[float]) -> Vector:
    rows = weights[f"{name}.weight"].tolist()
    bias = weights[f"{name}.bias"].tolist() if f"{name}.bias" in weights else [0.0] * len(rows)
    return [sum(w * v for w, v in zip(row, x, strict=True)) + b for row, b in zip(rows, bias, strict=True)]


def perceptron(weights: Weights, name: str, x: Sequence[float]) -> float:
    """→ hidden (LeakyReLU .1) → 1"""
    hidden = [h if h > 0 else 0.1 * h for h in linear(weights, f"{name}.0", x)]
    return linear(weights, f"{name}.2", hidden)[0]


def contexts(weights: Weights, vectors: Sequence[Vector]) -> list[Vector]:
    """Two trigram convolutions with sigmoid and residual, zeros beyond both ends."""
    current = [list(v) for v in vectors]
    for layer in range(2):
        taps = weights[f"convolutions.{layer}.weight"]
        bias = weights[f"convolutions.{layer}.bias"]
        after = []
        for t, vector in enumerate(current):
            out = []
            for channel, value in enumerate(vector):
                total = float(bias[channel])
                for tap, neighbour in enumerate((t - 1, t, t + 1)):
                    if 0 <= neighbour < len(current):
                        total += sum(
                            float(w) * x
                            for w, x in zip(taps[channel, :, tap], current[neighbour], strict=True)
                        )
                out.append(value + sigmoid(total))
            after.append(out)
        current = after
    return current


def cosine(a: Vector, b: Vector) -> float:
    lengths = sqrt(sum(x * x for x in a)) * sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0


def pooled(row: Sequence[float]) -> Vector:
    """Maximum, the five largest over five, mean; zeros where there is nothing."""
    if not row:
        return [0.0, 0.0, 0.0]
    return [max(row), sum(sorted(row, reverse=True)[:5]) / 5, sum(row) / len(row)]


def pdrmm(
    weights: Weights, vectors: np.ndarray, idf: Sequence[float], question: Sequence[int], unit: Sequence[int]
) -> float:
    """r̂(q, d) over the number of question terms."""
    if not len(question):
        return 0.0
    static_q = [vectors[w].tolist() for w in question]
    static_d = [vectors[w].tolist() for w in unit]
    context = under(weights, "context.")
    context_q, context_d = contexts(context, static_q), contexts(context, static_d)
    matches, logits = [], []
    for i, term in enumerate(question):
        row = [
            *pooled([float(term == w) for w in unit]),
            *pooled([cosine(static_q[i], d) for d in static_d]),
            *pooled([cosine(context_q[i], d) for d in context_d]),
        ]
        matches.append(perceptron(weights, "match", row))
        logits.append(linear(weights, "importance", [*context_q[i], idf[i]])[0])
    shares = [exp(x) / sum(map(exp, logits)) for x in logits]
    return sum(v * u for v, u in zip(matches, shares, strict=True)) / len(question)


def with_features(weights: Weights, features: Sequence[float], score: float) -> float:
    return perceptron(weights, "layers", [*features, score])


def ranker(
    settings: RankerSettings, weights: Weights, example: Example, vocabulary: Vocabulary
) -> tuple[Vector, Vector]:
    """Scores of the documents and, but for document PDRMM, of the sentences."""
    question = example.question.tolist()
    idf = vocabulary.idf[example.question].tolist()
    units = [unit.tolist() for unit in np.split(example.words, np.cumsum(example.word_counts)[:-1])]
    of_documents = example.features.documents.tolist()
    of_sentences = example.features.sentences.tolist()
    prefix = "sentence_ranker." if settings.ranker == "jpdrmm" else ""
    text = under(weights, f"{prefix}text_ranker.")
    text_scores = [pdrmm(text, vocabulary.vectors, idf, question, unit) for unit in units]
    head = under(weights, f"{prefix}head.")
    if settings.ranker == "pdrmm":
        return [with_features(head, f, s) for f, s in zip(of_documents, text_scores, strict=True)], []
    sentences = [with_features(head, f, s) for f, s in zip(of_sentences, text_scores, strict=True)]
    ends = np.cumsum(example.unit_counts).tolist()
    by_document = [
        sentences[end - n : end] for end, n in zip(ends, example.unit_counts.tolist(), strict=True)
    ]
    best = [max(scores, default=0.0) for scores in by_document]
    if settings.ranker == "sentence-pdrmm":
        return best, sentences
    documents = [
        with_features(under(weights, "head."), f, s) for f, s in zip(of_documents, best, strict=True)
    ]
    if not settings.as_dict()["last_layer"]:
        return documents, sentences
    revised = [
        linear(weights, "last_layer", [sentence, document])[0]
        for document, scores in zip(documents, by_document, strict=True)
        for sentence in scores
    ]
    return documents, revised
