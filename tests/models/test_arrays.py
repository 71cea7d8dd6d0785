import numpy as np

from bioqa.models.arrays import concatenate


def test_arrays_lie_one_behind_the_other() -> None:
    parts = [np.array([3, 1], dtype=np.int64), np.array([], dtype=np.int64), np.array([2], dtype=np.int64)]
    assert concatenate(iter(parts)).tolist() == [3, 1, 2]


def test_of_nothing_an_empty_array_of_integers() -> None:
    assert concatenate([]).shape == (0,)
    assert concatenate([]).dtype == np.int64
