"""Row-wise pooling of similarity matrices: maximum, mean of the k largest, mean.

Torch's ``topk`` over padded rows would dominate PDRMM's time. Here words are in time-major order
(``batch.Packing``): a loop takes the t-th words of all units at once and keeps the k largest of every row
sorted, with a few whole-slice ``maximum`` and ``minimum`` a step.
"""

from typing import Any

import torch
from torch import Tensor

from bioqa.models.rankers.batch import Packing

K = 5
"""Number of largest similarities that are averaged (sum of the min(5, m) largest, over 5)."""


class _LargestPooling(torch.autograd.Function):
    """[words, time-major; columns] → [units, longest first; columns]: maximum, mean of the K largest."""

    @staticmethod
    def forward(ctx: Any, similarity: Tensor, packing: Packing) -> tuple[Tensor, Tensor]:
        units, columns = len(packing.units), similarity.shape[1]
        floor = similarity.new_full((K, units, columns), -torch.inf)
        largest = list(floor.unbind(0))
        begin = 0
        for count in packing.steps:
            x = similarity[begin : begin + count]
            for rank in range(K):
                top = largest[rank][:count]
                lower = torch.minimum(top, x)
                torch.maximum(top, x, out=top)
                x = lower
            begin += count
        maximum = largest[0]
        total = torch.where(floor == -torch.inf, 0.0, floor).sum(0)
        ctx.save_for_backward(similarity, maximum, largest[-1])
        ctx.rows = packing.rows
        return torch.where(maximum == -torch.inf, 0.0, maximum), total / K

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """Every element tied at the K-th value, or at the maximum, gets the full gradient."""
        of_maximum, of_mean = gradients
        similarity, maximum, kth = ctx.saved_tensors
        rows = ctx.rows
        result = (of_mean / K)[rows] * (similarity >= kth[rows])
        result += of_maximum[rows] * (similarity == maximum[rows])
        return result, None


def pool(similarity: Tensor, packing: Packing) -> Tensor:
    """Pool packed similarities over each unit's words.

    ``similarity`` [words in packed order, columns] → [units, columns, 3]: maximum, mean of the K largest,
    mean; zeros for a unit without words.
    """
    units, columns = len(packing.units), similarity.shape[1]
    ordered = similarity[packing.order]
    maximum, largest = _LargestPooling.apply(ordered, packing)  # type: ignore[no-untyped-call]
    sums = similarity.new_zeros(units, columns).index_add(0, packing.rows, ordered)
    lengths = torch.bincount(packing.rows, minlength=units).clamp(min=1)
    pooled = torch.stack([maximum, largest, sums / lengths[:, None]], dim=2)
    return torch.empty_like(pooled).index_copy(0, packing.units, pooled)
