import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bioqa.models.rankers.batch import Packing
from bioqa.models.rankers.pooling import K, pool
from tests.models.reference import pooled

LENGTHS = [7, 0, 3, 5, 1, 6]


def _packing(lengths: list[int]) -> Packing:
    return Packing.of(np.array(lengths, dtype=np.int64))


def _similarity(lengths: list[int], columns: int = 2, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(sum(lengths), columns, generator=generator, dtype=torch.double)


@given(st.lists(st.lists(st.integers(-3, 3), max_size=9), max_size=5))
def test_as_pooled_one_by_one_with_ties_and_empty_units(units: list[list[int]]) -> None:
    words = torch.tensor([w for unit in units for w in unit], dtype=torch.double)
    columns = torch.stack([words, -2 * words], dim=1)
    found = pool(columns, _packing([len(unit) for unit in units]))
    assert found.shape == (len(units), 2, 3)
    expected = [[pooled([s * w for w in unit]) for s in (1, -2)] for unit in units]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.double).reshape(found.shape))


def test_fewer_than_five_words_are_summed_over_five() -> None:
    found = pool(torch.tensor([[0.5], [0.25], [1.0]]), _packing([3]))
    assert found.tolist() == [[[1.0, pytest.approx(1.75 / 5), pytest.approx(1.75 / 3)]]]


def test_negative_similarities_are_not_taken_for_padding() -> None:
    found = pool(torch.full((2, 1), -0.5), _packing([2, 0]))
    assert found.tolist() == [[[-0.5, pytest.approx(-0.2), -0.5]], [[0.0, 0.0, 0.0]]]


def test_gradients_are_those_of_the_function() -> None:
    similarity = _similarity(LENGTHS).requires_grad_()
    packing = _packing(LENGTHS)
    assert torch.autograd.gradcheck(lambda x: pool(x, packing), (similarity,))


def test_gradients_equal_those_of_sorting() -> None:
    ours, plain = (_similarity(LENGTHS, columns=3, seed=1).requires_grad_() for _ in range(2))
    weights = _similarity([len(LENGTHS)], columns=9, seed=2).reshape(len(LENGTHS), 3, 3)
    (pool(ours, _packing(LENGTHS)) * weights).sum().backward()  # type: ignore[no-untyped-call]
    total = torch.zeros((), dtype=torch.double)
    for unit, part in enumerate(torch.split(plain, LENGTHS)):
        if len(part):
            largest = part.sort(dim=0, descending=True).values[:K]
            rows = torch.stack([largest[0], largest.sum(0) / K, part.mean(0)], dim=1)
            total = total + (rows * weights[unit]).sum()
    total.backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(ours.grad, plain.grad)


def test_equal_words_each_get_the_whole_gradient() -> None:
    similarity = torch.full((7, 1), 0.5, requires_grad=True)
    found = pool(similarity, _packing([7]))
    assert found.tolist() == [[[0.5, 0.5, 0.5]]]
    (of_maximum,) = torch.autograd.grad(found[0, 0, 0], similarity, retain_graph=True)
    assert of_maximum.tolist() == [[1.0]] * 7
    (of_mean,) = torch.autograd.grad(found[0, 0, 1], similarity)
    assert of_mean.tolist() == [[pytest.approx(1 / K)]] * 7


def test_nothing_to_pool() -> None:
    similarity = torch.zeros(0, 4, requires_grad=True)
    found = pool(similarity, _packing([0, 0]))
    assert found.tolist() == [[[0.0] * 3] * 4] * 2
    found.sum().backward()  # type: ignore[no-untyped-call]
    assert pool(similarity, _packing([])).shape == (0, 4, 3)


@given(st.permutations(range(len(LENGTHS))))
def test_the_order_of_units_does_not_matter(order: list[int]) -> None:
    similarity = _similarity(LENGTHS)
    parts = torch.split(similarity, LENGTHS)
    found = pool(torch.cat([parts[unit] for unit in order]), _packing([LENGTHS[unit] for unit in order]))
    assert torch.equal(found, pool(similarity, _packing(LENGTHS))[list(order)])
