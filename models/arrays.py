"""The array types that features, batches and scores are made of."""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
