import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from bioqa.bioasq.errors import BioqaError
from bioqa.models.rankers.batch import collate
from bioqa.models.rankers.heads import Scores
from bioqa.models.rankers.registry import ARCHITECTURES, DocumentLoss, RankerSettings, build, settings_of
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.loop import (
    Epoch,
    TrainingQuestion,
    TrainingSet,
    cross_entropy_loss,
    draw_pairs,
    fit,
    hinge_loss,
    listwise_loss,
    softmax_loss,
)
from tests.models.encoders.tiny import encoder_for
from tests.models.toys import random_example

JPDRMM = settings_of("jpdrmm", dimensions=6, epochs=3, pairs_per_step=2)


def _question(
    seed: int, relevant: list[bool], labels: list[list[bool]], settings: RankerSettings = JPDRMM
) -> TrainingQuestion:
    counts = [len(of_document) for of_document in labels]
    generator = np.random.default_rng(seed)
    return TrainingQuestion(
        random_example(generator, settings, 20, terms=3, sentence_counts=counts),
        np.array(relevant),
        np.array([label for of_document in labels for label in of_document], dtype=np.bool_),
        tuple(counts),
    )


def _questions(settings: RankerSettings = JPDRMM) -> list[TrainingQuestion]:
    """The second's relevant document has no positive sentence, the third has nothing irrelevant."""
    return [
        _question(0, [True, False, True, False], [[True, False], [False], [False, True], [False]], settings),
        _question(1, [True, False], [[False], [False]], settings),
        _question(2, [True], [[True]], settings),
        _question(3, [False, True, False], [[False], [True], []], settings),
    ]


def _model(vocabulary: Vocabulary, settings: RankerSettings = JPDRMM) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return build(settings, torch.from_numpy(vocabulary.vectors), encoder_for(settings))


def test_pairs_are_a_relevant_and_an_irrelevant_candidate_of_one_question() -> None:
    questions = _questions()
    drawn = [draw_pairs(questions, np.random.default_rng(seed)) for seed in range(20)]
    for pairs in drawn:
        assert sorted((p.question, p.relevant) for p in pairs) == [(0, 0), (0, 2), (3, 1)]
        assert not any(questions[p.question].relevant[p.irrelevant[0]] for p in pairs)
    assert {p.irrelevant for pairs in drawn for p in pairs if p.question == 0} == {(1,), (3,)}
    assert len({tuple(p.question for p in pairs) for pairs in drawn}) > 1
    assert draw_pairs(questions, np.random.default_rng(5)) == drawn[5]


def test_a_ranker_of_documents_learns_from_those_without_a_positive_sentence_too() -> None:
    pairs = draw_pairs(_questions(), np.random.default_rng(0), documents_only=True)
    assert sorted((p.question, p.relevant) for p in pairs) == [(0, 0), (0, 2), (1, 0), (3, 1)]


def test_a_relevant_candidate_beside_several_irrelevant_ones() -> None:
    questions = _questions()
    pairs = draw_pairs(questions, np.random.default_rng(0), 5)
    assert all(len(p.irrelevant) == 5 for p in pairs)
    assert not any(questions[p.question].relevant[[*p.irrelevant]].any() for p in pairs)
    assert {d for p in pairs if p.question == 0 for d in p.irrelevant} == {1, 3}


def test_hinge_loss() -> None:
    scores = torch.tensor([[2.0, 0.5], [0.0, 0.0], [-1.0, 3.0]])
    assert hinge_loss(scores).item() == pytest.approx((0.0 + 1.0 + 5.0) / 3)
    assert hinge_loss(torch.tensor([[1.0, 0.5, 3.0]])).item() == pytest.approx((0.5 + 3.0) / 2)


def test_softmax_loss_is_of_the_relevant_documents_share() -> None:
    scores = torch.tensor([[2.0, 0.5, -1.0], [0.0, 0.0, 0.0]])
    share = math.exp(2) / (math.exp(2) + math.exp(0.5) + math.exp(-1))
    assert softmax_loss(scores).item() == pytest.approx((-math.log(share) + math.log(3)) / 2)


def test_irrelevant_documents_count_as_one_for_their_sentences() -> None:
    logits, labels = torch.tensor([1.0, 2.0, -1.0]), torch.tensor([1.0, 0.0, 0.0])
    found = cross_entropy_loss(logits, labels, 1, torch.tensor([1.0, 0.5, 0.5]))
    expected = math.log(1 + math.exp(-1)) + (math.log(1 + math.exp(2)) + math.log(1 + math.exp(-1))) / 2
    assert found.item() == pytest.approx(expected)


@pytest.mark.parametrize("loss", ["hinge", "softmax"])
def test_training_with_several_irrelevant_documents_and_a_falling_rate(
    vocabulary: Vocabulary, loss: DocumentLoss
) -> None:
    settings = replace(
        JPDRMM, irrelevant_documents=3, document_loss=loss, falling_rate=True, listwise_weight=0.3, epochs=6
    )
    model = _model(vocabulary, settings)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    questions = _questions(settings)
    epochs = fit(model, settings, TrainingSet(questions, vocabulary), lambda _: ({}, 0.0), seed=1)
    assert len(epochs) < settings.epochs  # out of patience: nothing got better
    grown = replace(settings, patience=9)
    epochs = fit(
        _model(vocabulary, grown), grown, TrainingSet(questions, vocabulary), lambda _: ({}, 0.0), seed=1
    )
    assert epochs[-1].loss < epochs[0].loss
    assert any(not torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_a_falling_rate_is_what_is_left_of_training(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = []
    step = torch.optim.Adam.step

    def noting(self: torch.optim.Adam, *args: object) -> object:
        rates.append(self.param_groups[0]["lr"])
        return step(self, *args)

    monkeypatch.setattr(torch.optim.Adam, "step", noting)
    settings = replace(JPDRMM, falling_rate=True, epochs=2, learning_rate=0.3)
    fit(_model(vocabulary), settings, TrainingSet(_questions(), vocabulary), lambda _: ({}, 0.0), seed=1)
    # Three pairs an epoch, two a step.
    assert rates == pytest.approx([0.3, 0.3 * (1 - 1 / 3), 0.3 * 0.5, 0.3 * (0.5 - 1 / 3)])


def test_cross_entropy_loss_is_a_sum_over_sentences_for_each_pair() -> None:
    logits, labels = [2.0, -1.0, 0.0], [1.0, 0.0, 1.0]
    expected = -math.log(1 / (1 + math.exp(-2))) - math.log(1 / (1 + math.exp(-1))) - math.log(0.5)
    found = cross_entropy_loss(torch.tensor(logits), torch.tensor(labels), 2)
    assert found.item() == pytest.approx(expected / 2)


def test_listwise_loss_is_over_the_sentences_of_each_document_with_positives(vocabulary: Vocabulary) -> None:
    example = random_example(np.random.default_rng(0), JPDRMM, 20, sentence_counts=[3, 0, 2, 2])
    values = [1.0, 3.0, -2.0, 0.5, 0.5, 700.0, -700.0]
    labels = torch.tensor([1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    scores = Scores(torch.zeros(4), torch.tensor(values))
    total = sum(math.exp(v) for v in values[:3])
    first = -(math.log(math.exp(1.0) / total) + math.log(math.exp(3.0) / total)) / 2
    found = listwise_loss(scores, collate([example], vocabulary), labels)
    assert found.item() == pytest.approx((first + 0.0) / 2, abs=1e-5)


class _Script:
    """Scores told in advance; remembers the weights that they were given for."""

    def __init__(self, *scores: float) -> None:
        self.scores = scores
        self.weights: list[dict[str, torch.Tensor]] = []

    def __call__(self, model: nn.Module) -> tuple[Mapping[str, float], float]:
        assert not model.training
        self.weights.append({name: value.clone() for name, value in model.state_dict().items()})
        score = self.scores[len(self.weights) - 1]
        return {"scripted": score}, score


def _equal(left: Mapping[str, torch.Tensor], right: Mapping[str, torch.Tensor]) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


@pytest.mark.parametrize(
    ("scores", "patience", "run", "best"),
    [
        ((0.1, 0.5, 0.4, 0.3, 0.9), 2, 4, 2),
        ((0.1, 0.5, 0.4, 0.5, 0.5), 4, 5, 2),
        ((0.5, 0.4), 1, 2, 1),
        ((0.1, 0.2, 0.3, 0.4, 0.5), 1, 5, 5),
        ((0.0, 0.0, 0.0, 0.0, 0.0), 3, 4, 1),
    ],
)
def test_stops_early_and_keeps_the_best_epoch(
    vocabulary: Vocabulary, scores: tuple[float, ...], patience: int, run: int, best: int
) -> None:
    settings = settings_of("jpdrmm", dimensions=6, epochs=5, patience=patience, pairs_per_step=2)
    model, script, told = _model(vocabulary), _Script(*scores), list[Epoch]()
    epochs = fit(model, settings, TrainingSet(_questions(), vocabulary), script, 1, told.append)
    assert [e.number for e in epochs] == list(range(1, run + 1))
    assert [e.score for e in epochs] == list(scores[:run])
    assert told == epochs
    assert _equal(model.state_dict(), script.weights[best - 1])
    assert not any(_equal(model.state_dict(), w) for i, w in enumerate(script.weights, 1) if i != best)
    assert not model.training


@pytest.mark.parametrize("ranker", list(ARCHITECTURES))
def test_the_same_seed_gives_the_same_weights(ranker: str, vocabulary: Vocabulary) -> None:
    settings = settings_of(ranker, dimensions=6, epochs=2, pairs_per_step=2, frozen_epochs=1)
    made = []
    for seed in (1, 1, 2):
        model = _model(vocabulary, settings)
        with torch.random.fork_rng(devices=[]):
            # A fine-tuned encoder's dropout draws from it.
            torch.manual_seed(seed)
            fit(model, settings, TrainingSet(_questions(settings), vocabulary), _Script(0.1, 0.2), seed)
        made.append(model.state_dict())
    assert _equal(made[0], made[1])
    assert not _equal(made[0], made[2])


def test_training_draws_nothing_from_torchs_own_generator(vocabulary: Vocabulary) -> None:
    before = torch.random.get_rng_state()
    fit(_model(vocabulary), JPDRMM, TrainingSet(_questions(), vocabulary), _Script(0.1, 0.2, 0.3), 1)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_loss_is_the_weighted_sum_of_its_parts(vocabulary: Vocabulary) -> None:
    """In the first step nothing has been learnt yet, so that losses of one model can be added."""

    def first_loss(**weights: float) -> float:
        settings = settings_of(
            "jpdrmm",
            dimensions=6,
            epochs=1,
            **{"document_weight": 0.0, "sentence_weight": 0.0, "listwise_weight": 0.0, **weights},
        )
        return fit(_model(vocabulary), settings, TrainingSet(_questions(), vocabulary), _Script(0.0), 1)[
            0
        ].loss

    document, sentence, listwise = (
        first_loss(**{f"{name}_weight": 1.0}) for name in ("document", "sentence", "listwise")
    )
    assert min(document, sentence, listwise) > 0
    mixed = first_loss(document_weight=2.0, sentence_weight=0.1, listwise_weight=0.5)
    assert mixed == pytest.approx(2 * document + 0.1 * sentence + 0.5 * listwise, rel=1e-5)


def test_nothing_to_train_on_is_said(vocabulary: Vocabulary) -> None:
    with pytest.raises(BioqaError, match=r"no training pair.*with a golden sentence and"):
        fit(_model(vocabulary), JPDRMM, TrainingSet(_questions()[1:3], vocabulary), _Script(0.0), 1)


def test_without_a_golden_sentence_only_rankers_of_documents_learn(vocabulary: Vocabulary) -> None:
    settings = settings_of("pdrmm", dimensions=6, epochs=1)
    learned = TrainingSet([_question(1, [True, False], [[False], [False]], settings)], vocabulary)
    assert len(fit(_model(vocabulary, settings), settings, learned, _Script(0.0), 1)) == 1
    irrelevant = TrainingSet([_question(1, [False], [[False]], settings)], vocabulary)
    with pytest.raises(BioqaError, match="both a relevant candidate and an irrelevant one"):
        fit(_model(vocabulary, settings), settings, irrelevant, _Script(0.0), 1)
