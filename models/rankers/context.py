"""Context-sensitive vectors of words: a BiLSTM with residual (McDonald et al. 2018, Equation 1).

And the settings of the rankers over them.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from bioqa.models.rankers.batch import Batch, Packing, packing_of
from bioqa.models.rankers.settings import Section


@dataclass(frozen=True, slots=True)
class ViewSettings(Section):
    many_views: bool = False
    """+MV: word vectors and exact matches beside contexts."""
    hidden: int = 8

    POSITIVE = ("hidden",)


class Context(nn.Module):
    """c(t) = [forward h(t) + e(t); backward h(t) + e(t)]: the same weights for questions and documents."""

    def __init__(self, dimensions: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(dimensions, dimensions, bidirectional=True)
        self.width = 2 * dimensions

    def forward(self, vectors: Tensor, packing: Packing) -> Tensor:
        """[words, dimensions] of packed units → [words, 2 × dimensions]"""
        residual = torch.cat([vectors, vectors], dim=1)
        if not len(vectors):
            return residual
        # The packing's order is that in which torch packs sequences: no unit is padded.
        packed = PackedSequence(vectors[packing.order], torch.tensor(packing.steps))
        states = self.lstm(packed)[0].data
        return residual + torch.empty_like(states).index_copy(0, packing.order, states)

    def of_batch(self, batch: Batch, terms: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        """States of questions' terms [B, n, width], 0 where masked, and of units' words [words, width]."""
        of_terms = self(terms, packing_of(batch.mask.sum(1)))
        return batch.padded_terms(of_terms), self(words, batch.packing)
