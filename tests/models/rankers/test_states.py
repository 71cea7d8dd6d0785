"""Rankers over an encoder against readings of the paper that share nothing with them but the weights."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from transformers import BertConfig, BertModel

from bioqa.models.encoders.encoder import Encoder
from bioqa.models.encoders.inputs import Pieced, Pieces
from bioqa.models.rankers.batch import Example, collate
from bioqa.models.rankers.registry import build, encoder_of, settings_of
from bioqa.models.rankers.settings import RankerSettings
from bioqa.models.rankers.states import LayerMix
from bioqa.models.text.vocabulary import Vocabulary
from tests.models import reference
from tests.models.encoders.tiny import toy_encoder
from tests.models.rankers.test_pdrmm import weights_of
from tests.models.toys import random_example

CLS, SEP = 2, 3


def _model(settings: RankerSettings, vocabulary: Vocabulary) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = build(settings, torch.from_numpy(vocabulary.vectors), toy_encoder()).eval()
        for name, parameter in model.named_parameters():
            if name.endswith("mix.logits"):
                nn.init.normal_(parameter)
    return model


def _bert(model: nn.Module, ids: list[int], types: list[int]) -> list[np.ndarray]:
    """States of every layer, [pieces, width]: transformers' own, one sequence at a time, no mask."""
    encoder = encoder_of(model)
    assert encoder is not None
    with torch.inference_mode():
        output = encoder.transformer(
            input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types]), output_hidden_states=True
        )
    return [layer[0].numpy() for layer in output.hidden_states[1:]]


def _mixed(model: nn.Module, layers: list[np.ndarray]) -> np.ndarray:
    logits = [value for name, value in weights_of(model).items() if name.endswith("mix.logits")]
    if not logits:
        return layers[-1]
    shares = np.exp(logits[0]) / np.exp(logits[0]).sum()
    return np.asarray(sum(share * layer for share, layer in zip(shares, layers, strict=True)))


def _pair_state(model: nn.Module, question: list[int], unit: list[int]) -> list[float]:
    ids = [CLS, *question, SEP, *unit, SEP]
    types = [0] * (len(question) + 2) + [1] * (len(unit) + 1)
    state: list[float] = _mixed(model, _bert(model, ids, types))[0].tolist()
    return state


def _word_states(model: nn.Module, text: Pieced) -> np.ndarray:
    layers = _bert(model, [CLS, *text.ids.tolist(), SEP], [0] * (len(text.ids) + 2))
    return _mixed(model, layers)[1:-1][text.firsts]


def _joint(weights: Any, example: Example, sentences: list[float]) -> tuple[list[float], list[float]]:
    """The layers of Figure 2."""
    documents, revised, begin = [], [], 0
    for features, count in zip(
        example.features.documents.tolist(), example.unit_counts.tolist(), strict=True
    ):
        own = sentences[begin : begin + count]
        begin += count
        head = reference.under(weights, "head.")
        documents.append(reference.with_features(head, features, max(own, default=0.0)))
        revised += [reference.linear(weights, "last_layer", [s, documents[-1]])[0] for s in own]
    return documents, revised


def _example(settings: RankerSettings, vocabulary: Vocabulary, counts: list[int]) -> Example:
    generator = np.random.default_rng(4)
    example = random_example(
        generator, settings, len(vocabulary.words), terms=4, sentence_counts=counts, longest=7
    )
    example.words[::3] = generator.choice(example.question, len(example.words[::3]))
    return example


def _pieces(example: Example) -> Pieces:
    assert example.pieces is not None
    return example.pieces


@pytest.mark.parametrize("ranker", ["jbert", "jbert-nf", "jbert-adapt", "jbert-adapt-nf"])
def test_jbert(ranker: str, vocabulary: Vocabulary) -> None:
    settings = settings_of(ranker)
    model, example = _model(settings, vocabulary), _example(settings, vocabulary, [2, 0, 3])
    weights, pieces = weights_of(model), _pieces(example)
    head = reference.under(weights, "sentence_ranker.head.")
    states = [_pair_state(model, pieces.question.ids.tolist(), u.ids.tolist()) for u in pieces.units]
    sentences = [
        reference.perceptron(head, "layers", [*features, *state])
        for features, state in zip(example.features.sentences.tolist(), states, strict=True)
    ]
    documents, revised = _joint(weights, example, sentences)
    scores = model(collate([example], vocabulary))
    assert scores.documents.tolist() == pytest.approx(documents, abs=1e-4)
    assert scores.sentences.tolist() == pytest.approx(revised, abs=1e-4)


def test_bert_for_documents(vocabulary: Vocabulary) -> None:
    settings = settings_of("bert")
    model, example = _model(settings, vocabulary), _example(settings, vocabulary, [1, 1, 1])
    pieces = _pieces(example)
    expected = [
        reference.linear(
            reference.under(weights_of(model), "head."),
            "layer",
            [*features, *_pair_state(model, pieces.question.ids.tolist(), unit.ids.tolist())],
        )[0]
        for features, unit in zip(example.features.documents.tolist(), pieces.units, strict=True)
    ]
    scores = model(collate([example], vocabulary))
    assert scores.documents.tolist() == pytest.approx(expected, abs=1e-4)
    assert scores.sentences.shape == (0,)


def _contexts(weights: Any, vectors: list[list[float]]) -> list[list[float]]:
    """As in reference.contexts, with LeakyReLU .1 for the sigmoid."""
    x = np.array(vectors).reshape(len(vectors), -1)
    for layer in range(2):
        taps, bias = weights[f"convolutions.{layer}.weight"], weights[f"convolutions.{layer}.bias"]
        padded = np.pad(x, ((1, 1), (0, 0)))
        y = np.array([sum(taps[:, :, k] @ padded[t + k] for k in range(3)) + bias for t in range(len(x))])
        x = x + np.where(y > 0, y, 0.1 * y)
    found: list[list[float]] = x.tolist()
    return found


@pytest.mark.parametrize("ranker", ["bjpdrmm", "bjpdrmm-nf", "bjpdrmm-adapt", "bjpdrmm-adapt-nf"])
def test_bjpdrmm(ranker: str, vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(ranker)
    model, example = _model(settings, vocabulary), _example(settings, vocabulary, [2, 0, 3])
    weights, pieces = weights_of(model), _pieces(example)
    monkeypatch.setattr(reference, "contexts", _contexts)
    text = reference.under(weights, "sentence_ranker.text_ranker.")
    head = reference.under(weights, "sentence_ranker.head.")
    idf = vocabulary.idf_of(example.question).tolist()
    # A table of the states in order of appearance; equal words of one text are told apart by their place,
    # so exact matches are put in by hand.
    sentences = []
    units = np.split(example.words, np.cumsum(example.word_counts)[:-1])
    of_question = _word_states(model, pieces.question).tolist()
    for unit, piece, features in zip(units, pieces.units, example.features.sentences.tolist(), strict=True):
        score = _pdrmm(
            text, idf, (example.question.tolist(), of_question), (unit.tolist(), _word_states(model, piece))
        )
        sentences.append(reference.with_features(head, features, score))
    documents, revised = _joint(weights, example, sentences)
    scores = model(collate([example], vocabulary))
    assert scores.documents.tolist() == pytest.approx(documents, abs=1e-4)
    assert scores.sentences.tolist() == pytest.approx(revised, abs=1e-4)


def _pdrmm(weights: Any, idf: list[float], question: Any, unit: Any) -> float:
    """reference.pdrmm with a vector for every place in place of one for every word."""
    words_q, static_q = question
    words_d, static_d = unit[0], unit[1].tolist()
    context = reference.under(weights, "context.")
    context_q = _contexts(context, static_q)
    context_d = _contexts(context, static_d) if static_d else []
    matches, logits = [], []
    for i, term in enumerate(words_q):
        row = [
            *reference.pooled([float(term == w) for w in words_d]),
            *reference.pooled([reference.cosine(static_q[i], d) for d in static_d]),
            *reference.pooled([reference.cosine(context_q[i], d) for d in context_d]),
        ]
        matches.append(reference.perceptron(weights, "match", row))
        logits.append(reference.linear(weights, "importance", [*context_q[i], idf[i]])[0])
    shares = np.exp(logits) / np.exp(logits).sum()
    return float(np.dot(shares, matches)) / len(words_q)


def test_the_mixture_is_the_mean_before_training() -> None:
    states = torch.randn(4, 3, 5, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(LayerMix(3)(states), states.mean(1))


def _trainable(ranker: str, width: int, layers: int) -> int:
    """With a BERT of that width, on no device."""
    with torch.device("meta"):
        config = BertConfig(
            hidden_size=width,
            num_hidden_layers=layers,
            intermediate_size=4 * width,
            num_attention_heads=width // 32,
        )
        transformer = BertModel(config, add_pooling_layer=False)
    encoder = toy_encoder()
    encoder.transformer, encoder.width, encoder.layers = transformer, width, layers
    encoder.device = torch.device("meta")
    model = build(settings_of(ranker), torch.zeros(1, 30), encoder)
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


BASE_LAYERS = 85_054_464
"""BERT-base's twelve layers, without embeddings and pooler: the paper's 85M."""
CONVOLUTIONS = 2 * (768 * 768 * 3 + 768)


@pytest.mark.parametrize(
    ("ranker", "parameters"),
    [
        # Table 1: 6.3k, 85M, 3.5M and 88.5M.
        ("jbert-nf", 6_348),
        ("jbert-adapt-nf", 6_348 + 12),
        ("jbert", BASE_LAYERS + 6_348),
        ("jbert-adapt", BASE_LAYERS + 6_348 + 12),
        ("bjpdrmm-nf", CONVOLUTIONS + 770 + 89 + 96 + 116),
        ("bjpdrmm-adapt-nf", CONVOLUTIONS + 770 + 89 + 96 + 116 + 12),
        ("bjpdrmm", BASE_LAYERS + CONVOLUTIONS + 770 + 89 + 96 + 116),
        # The paper's 109.5M count the pooler, whose output is not used.
        ("bert", 108_891_648 + 768 + 11 + 1),
        ("jpdrmm", 5_793),
    ],
)
def test_trainable_parameters_with_bert_base(ranker: str, parameters: int) -> None:
    assert _trainable(ranker, 768, 12) == parameters


def test_trainable_parameters_with_another_width() -> None:
    assert _trainable("jbert-nf", 384, 12) == (384 + 10) * 8 + 8 + 113 + 3
    assert _trainable("bjpdrmm-nf", 384, 12) == 2 * (384 * 384 * 3 + 384) + 386 + 89 + 96 + 116


def test_an_encoder_is_named_once_and_for_all(vocabulary: Vocabulary) -> None:
    encoder = toy_encoder()
    assert isinstance(encoder, Encoder)
    assert encoder_of(build(settings_of("jbert"), torch.zeros(1, 30), encoder)) is encoder
    assert encoder_of(build(settings_of("jpdrmm"), torch.zeros(1, 30))) is None
