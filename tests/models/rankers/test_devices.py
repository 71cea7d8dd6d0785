"""Rankers compute where they are put, with the same results. The device is fake (tests.models.devices)."""

from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from bioqa.models.answers.selection import Calibration
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.encoders.loading import EncoderError
from bioqa.models.rankers.batch import Batch, collate
from bioqa.models.rankers.registry import ARCHITECTURES, build, encoder_of, place_of, reader_for
from bioqa.models.rankers.settings import RankerSettings
from bioqa.models.reranker import Reranker
from bioqa.models.training.data import Prepared, RankerInputs, prepare, scaling_of
from bioqa.models.training.development import Development
from bioqa.models.training.loop import fit
from bioqa.models.training.pairs import TrainingQuestion, TrainingSet
from tests.models.devices import ELSEWHERE, Elsewhere
from tests.models.encoders.tiny import encoder_for
from tests.models.toys import GOLDEN, ToyIndex, corpus_words, random_example, toy_settings, vocabulary_of

WORDS = vocabulary_of(corpus_words())


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[torch.device]:
    # A wrapped tensor cannot be one of inference mode, and torch knows no autocast for devices of this name.
    monkeypatch.setattr(torch, "inference_mode", torch.no_grad)
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda *_: False)
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())
    with Elsewhere():  # type: ignore[no-untyped-call]
        yield ELSEWHERE


def _model(settings: RankerSettings) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return build(settings, torch.from_numpy(WORDS.vectors), encoder_for(settings)).eval()


def _moved(model: nn.Module) -> nn.Module:
    encoder = encoder_of(model)
    if encoder is not None:
        encoder.device = ELSEWHERE
    return model.to(ELSEWHERE)


def _assert_same(found: Tensor, expected: Tensor, model: nn.Module) -> None:
    """To the last bit, but where the CPU has a kernel of its own: attention and LSTM."""
    rounded = encoder_of(model) is not None or any(isinstance(part, nn.LSTM) for part in model.modules())
    rounding = 1e-4 if rounded else 0.0
    torch.testing.assert_close(found, expected, atol=rounding, rtol=rounding)


def _batch(settings: RankerSettings) -> Batch:
    generator = np.random.default_rng(5)
    examples = [
        random_example(generator, settings, len(WORDS.words), terms=4, sentence_counts=[3, 0, 2], longest=12)
        for _ in range(3)
    ]
    return collate(examples, WORDS)


def _scored(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Scores of documents and of sentences, and gradients by the parameter's name."""
    scores = model(batch)
    if (scores.documents.sum() + scores.sentences.sum()).requires_grad:
        (scores.documents.sin().sum() + scores.sentences.cos().sum()).backward()
    gradients = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    return scores.documents, scores.sentences, gradients


@pytest.mark.parametrize("name", list(ARCHITECTURES))
def test_a_ranker_computes_where_it_is(name: str, elsewhere: torch.device) -> None:
    settings = toy_settings(name)
    documents, sentences, gradients = _scored(_model(settings), _batch(settings))
    model = _moved(_model(settings))
    has_weights = any(True for _ in model.parameters()) or any(True for _ in model.buffers())
    assert (place_of(model) == elsewhere) == has_weights
    batch = _batch(settings).to(elsewhere)
    assert batch.words.device == batch.packing.order.device == batch.padding.device == elsewhere
    found = _scored(model, batch)
    for values, expected in zip(found[:2], (documents, sentences), strict=True):
        assert values.device == elsewhere
        _assert_same(values.cpu(), expected, model)
    assert found[2].keys() == gradients.keys()
    for parameter, gradient in found[2].items():
        assert gradient.device == elsewhere
        _assert_same(gradient.cpu(), gradients[parameter], model)


def _checkpoint(model: nn.Module, settings: RankerSettings, prepared: list[Prepared]) -> Checkpoint:
    return Checkpoint(settings, model, WORDS, scaling_of(prepared), Calibration(), {}, {})


@pytest.mark.parametrize("name", ["jpdrmm", "abel", "jbert-nf"])
def test_serving_and_measuring_give_the_same_numbers(name: str, elsewhere: torch.device) -> None:
    settings = toy_settings(name)
    prepared = prepare(ToyIndex(), GOLDEN[:2], WORDS, size=6)
    here = _checkpoint(_model(settings), settings, prepared)
    there = _checkpoint(_moved(_model(settings)), settings, prepared)
    for question in prepared:
        asked = question.response.question.body, question.retrieved.candidates
        found, expected = (Reranker(each, name=name).rank(*asked) for each in (there, here))
        for one, other in zip(found.documents, expected.documents, strict=True):
            assert one.document == other.document
            _assert_same(torch.tensor(one.score), torch.tensor(other.score), here.model)
            _assert_same(torch.tensor(one.sentence_scores), torch.tensor(other.sentence_scores), here.model)
    measured = []
    for each in (there, here):
        inputs = RankerInputs(settings, WORDS, each.scaling, reader_for(settings, encoder_of(each.model)))
        measured.append(Development(prepared, inputs).measure(each.model))
    assert measured[0] == measured[1]


# What torch says of its own device of this name.
@pytest.mark.filterwarnings("ignore:.*copying from a non-meta parameter:UserWarning")
@pytest.mark.parametrize("name", ["jpdrmm", "co-pacrr", "drmm"])
def test_training_learns_the_same(name: str, elsewhere: torch.device) -> None:
    settings = toy_settings(name, epochs=2, pairs_per_step=4, listwise_weight=0.3, shuffle=False)
    prepared = prepare(ToyIndex(), GOLDEN[:3], WORDS, size=12)
    inputs = RankerInputs(settings, WORDS, scaling_of(prepared))
    questions = [
        TrainingQuestion(
            inputs.example(q, q.retrieved),
            q.retrieved.relevant,
            q.retrieved.labels,
            tuple(len(tokens.word_counts) for tokens in q.retrieved.tokens),
        )
        for q in prepared
    ]
    learned, measure = TrainingSet(questions, WORDS), Development(prepared, inputs).measure
    here, there = _model(settings), _moved(_model(settings))
    losses = [[epoch.loss for epoch in fit(model, settings, learned, measure, 1)] for model in (here, there)]
    assert losses[0] == losses[1]
    expected = here.state_dict()
    for parameter, value in there.state_dict().items():
        assert value.device == elsewhere
        assert torch.equal(value.cpu(), expected[parameter]), parameter


def test_a_ranker_without_an_encoder_is_on_the_cpu_unless_its_device_is_named() -> None:
    settings, vectors = toy_settings("jpdrmm"), torch.from_numpy(WORDS.vectors)
    assert place_of(build(settings, vectors)) == torch.device("cpu")
    assert place_of(build(settings, vectors, device="cpu")) == torch.device("cpu")
    if not torch.cuda.is_available():
        with pytest.raises(EncoderError, match="no such GPU"):
            build(settings, vectors, device="cuda")


def test_the_fake_device_refuses_what_a_gpu_refuses(elsewhere: torch.device) -> None:
    away, here = torch.arange(3.0, device=elsewhere), torch.arange(3.0)
    for wrong in (lambda: away + here, lambda: here[away > 0], lambda: away.numpy()):
        with pytest.raises(RuntimeError, match=r"two devices|numpy"):
            wrong()
    assert torch.equal((away + 1).cpu(), here + 1)
    assert away.tolist() == [0, 1, 2]
