"""The array types that features, batches and scores are made of."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


def concatenate(arrays: Iterable[Ints]) -> Ints:
    """Like numpy's, but an empty sequence gives an empty array instead of an error."""
    return np.concatenate([np.empty(0, dtype=np.int64), *arrays])
