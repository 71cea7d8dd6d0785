"""Every ranker of the registry keeps the same promises."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from torch import nn

from bioqa.models.rankers.batch import Example, collate
from bioqa.models.rankers.heads import Scores
from bioqa.models.rankers.registry import ARCHITECTURES, build, learned_state, settings_of
from bioqa.models.rankers.settings import RankerSettings
from tests.models.conftest import VARIANTS
from tests.models.encoders.tiny import encoder_for
from tests.models.toys import corpus_words, random_example, vocabulary_of

WORDS = vocabulary_of(corpus_words())
SIZE = len(WORDS.words)


def _model(settings: RankerSettings) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return build(settings, torch.from_numpy(WORDS.vectors), encoder_for(settings)).eval()


MODELS = {name: _model(settings) for name, settings in VARIANTS.items()}


def _scores(model: nn.Module, examples: list[Example]) -> Scores:
    with torch.inference_mode():
        scores = model(collate(examples, WORDS))
    assert isinstance(scores, Scores)
    return scores


def _assert_close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def _sentences(settings: RankerSettings, example: Example) -> int:
    return 0 if ARCHITECTURES[settings.ranker].units != "sentences" else len(example.word_counts)


@pytest.mark.parametrize("name", list(VARIANTS))
@hypothesis_settings(max_examples=10)
@given(st.integers(0, 10_000), st.integers(1, 5), st.randoms())
def test_a_question_scores_the_same_in_any_batch(name: str, seed: int, count: int, random: Any) -> None:
    settings, model = VARIANTS[name], MODELS[name]
    generator = np.random.default_rng(seed)
    examples = [random_example(generator, settings, SIZE) for _ in range(count)]
    alone = [_scores(model, [example]) for example in examples]
    order = list(range(count))
    random.shuffle(order)
    together = _scores(model, [examples[i] for i in order])
    _assert_close(together.documents, torch.cat([alone[i].documents for i in order]))
    _assert_close(together.sentences, torch.cat([alone[i].sentences for i in order]))
    for example, scores in zip(examples, alone, strict=True):
        assert scores.documents.shape == (len(example.unit_counts),)
        assert scores.sentences.shape == (_sentences(settings, example),)
        assert scores.documents.isfinite().all()
        assert scores.sentences.isfinite().all()


@pytest.mark.parametrize("name", list(VARIANTS))
@hypothesis_settings(max_examples=10)
@given(st.integers(0, 10_000), st.data())
def test_a_document_scores_the_same_with_any_others(name: str, seed: int, data: st.DataObject) -> None:
    settings, model = VARIANTS[name], MODELS[name]
    example = random_example(np.random.default_rng(seed), settings, SIZE, terms=3)
    number = len(example.unit_counts)
    all_scores = _scores(model, [example])
    kept = data.draw(st.lists(st.integers(0, number - 1), min_size=1, unique=True))
    some = _scores(model, [example.take(kept)])
    _assert_close(some.documents, all_scores.documents[kept])
    if len(all_scores.sentences):
        parts = torch.split(all_scores.sentences, example.unit_counts.tolist())
        _assert_close(some.sentences, torch.cat([parts[d] for d in kept]))


@pytest.mark.parametrize("name", list(VARIANTS))
def test_a_much_longer_question_and_much_longer_sentences_beside_it(name: str) -> None:
    settings, model = VARIANTS[name], MODELS[name]
    generator = np.random.default_rng(7)
    short = random_example(generator, settings, SIZE, terms=2, sentence_counts=[2, 1], longest=3)
    long = random_example(generator, settings, SIZE, terms=60, sentence_counts=[5, 9], longest=300)
    alone, beside = _scores(model, [short]), _scores(model, [long, short])
    _assert_close(beside.documents[2:], alone.documents)
    if len(alone.sentences):
        _assert_close(beside.sentences[14:], alone.sentences)


@pytest.mark.parametrize("name", list(VARIANTS))
@pytest.mark.parametrize("terms", [0, 3])
@pytest.mark.parametrize("counts", [[0], [0, 0], [0, 1, 0]])
def test_documents_without_sentences(name: str, terms: int, counts: list[int]) -> None:
    settings, model = VARIANTS[name], MODELS[name]
    generator = np.random.default_rng(1)
    example = random_example(generator, settings, SIZE, terms=terms, sentence_counts=counts, longest=0)
    scores = _scores(model, [example])
    assert scores.documents.shape == (len(counts),)
    assert scores.sentences.shape == (_sentences(settings, example),)
    assert scores.documents.isfinite().all()


@pytest.mark.parametrize("name", list(VARIANTS))
def test_scores_differ_from_document_to_document(name: str) -> None:
    settings, model = VARIANTS[name], MODELS[name]
    generator = np.random.default_rng(3)
    example = random_example(generator, settings, SIZE, terms=3, sentence_counts=[2] * 6, longest=40)
    example.words[::3] = generator.choice(example.question, len(example.words[::3]))
    scores = _scores(model, [example])
    for values in (scores.documents, scores.sentences):
        assert len(set(values.tolist())) == len(values)


@pytest.mark.parametrize("name", [n for n, settings in VARIANTS.items() if settings.training])
def test_gradients_reach_every_parameter_and_nothing_frozen(name: str) -> None:
    settings = VARIANTS[name]
    model = _model(settings)
    generator = np.random.default_rng(5)
    examples = [
        random_example(generator, settings, SIZE, terms=4, sentence_counts=[3, 4, 2], longest=12)
        for _ in range(4)
    ]
    scores = model(collate(examples, WORDS))
    total = torch.zeros(())
    for values in (scores.documents, scores.sentences):
        total = total + (values * torch.linspace(-1, 2, len(values))).sum()
    total.backward()  # type: ignore[no-untyped-call]
    learned = learned_state(model)
    for parameter_name, parameter in model.named_parameters():
        assert parameter.requires_grad == (parameter_name in learned)
        if parameter.requires_grad:
            assert parameter.grad is not None, parameter_name
            assert parameter.grad.abs().sum() > 0, parameter_name
        else:
            assert parameter.grad is None, parameter_name
            assert ".transformer." in parameter_name
    kept = [*dict(model.named_parameters()), *model.state_dict()]
    assert not [name for name in kept if name.endswith("vectors.table")]


@pytest.mark.parametrize("name", list(ARCHITECTURES))
def test_weights_depend_on_the_seed_alone(name: str) -> None:
    first, second = _model(settings_of(name)), _model(settings_of(name))
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)
