import math

import numpy as np
import pytest
import torch

from bioqa.models.rankers.batch import collate
from bioqa.models.rankers.heads import Scores
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.losses import (
    cross_entropy_loss,
    graded_loss,
    hinge_loss,
    listwise_loss,
    pointwise_loss,
    softmax_loss,
)
from tests.models.toys import random_example
from tests.models.training.test_pairs import JPDRMM


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


def test_pointwise_is_the_cross_entropy_of_each_document_alone() -> None:
    scores = torch.tensor([[2.0, -1.0], [0.5, 0.0]])
    probabilities = torch.sigmoid(scores)
    expected = -(probabilities[:, 0].log() + (1 - probabilities[:, 1]).log()).sum() / 4
    assert pointwise_loss(scores).item() == pytest.approx(expected.item(), rel=1e-6)


def test_grades_weigh_by_their_damped_level_and_never_less_than_an_irrelevant_document() -> None:
    scores = torch.tensor([[2.0, -1.0], [0.5, 0.0]])
    grades = torch.tensor([[20.0, 0.0], [1.0, 0.0]])
    losses = [math.log(1 + math.exp(x)) for x in (-2.0, -1.0, -0.5, 0.0)]
    expected = (math.log(21) * losses[0] + losses[1] + losses[2] + losses[3]) / 4
    assert graded_loss(scores, grades).item() == pytest.approx(expected, rel=1e-6)


def test_of_binary_gold_the_graded_loss_is_the_plain_one_and_so_are_its_gradients() -> None:
    plain, graded = (torch.tensor([[2.0, -1.0, 3.0], [0.5, 0.0, -4.0]], requires_grad=True) for _ in range(2))
    pointwise_loss(plain).backward()  # type: ignore[no-untyped-call]
    graded_loss(graded).backward()  # type: ignore[no-untyped-call]
    assert torch.equal(pointwise_loss(plain), graded_loss(graded))
    assert plain.grad is not None
    assert graded.grad is not None
    assert torch.equal(plain.grad, graded.grad)
