"""An encoder's states as a ranker's input: of pairs for BERT and JBERT, of words for BJPDRMM.

Pappas and Androutsopoulos 2021, Sections 2.3 and 2.4, Figure 3.
"""

import torch
from torch import Tensor, nn

from bioqa.models.encoders.encoder import Encoder
from bioqa.models.rankers.batch import Batch


class LayerMix(nn.Module):
    """-ADAPT: a mixture of all layers' states with learned softmax weights."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(layers))

    def forward(self, states: Tensor) -> Tensor:
        """[N, layers, width] → [N, width]"""
        return torch.einsum("l,nlw->nw", torch.softmax(self.logits, dim=0), states)


class _States(nn.Module):
    def __init__(self, encoder: Encoder, mixed: bool) -> None:
        super().__init__()
        self.encoder = encoder
        self.width = encoder.width
        self.mix = LayerMix(encoder.layers) if mixed else None


class PairStates(_States):
    """Question and unit read together: the unit's [CLS] state."""

    def forward(self, batch: Batch) -> Tensor:
        """[S, width]"""
        pairs = [self.encoder.pair(p.question.ids, unit.ids) for p in batch.pieces for unit in p.units]
        if self.mix is None:
            return self.encoder.states(pairs).squeeze(1)
        mixed: Tensor = self.mix(self.encoder.states(pairs, "all"))
        return mixed


class WordStates(_States):
    """Questions and units read alone: each word's vector is the state of its first piece."""

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """States of the questions' terms, and of the units' words: [terms, width], [words, width]."""
        texts = [p.question for p in batch.pieces] + [unit for p in batch.pieces for unit in p.units]
        singles = [self.encoder.single(text) for text in texts]
        if self.mix is None:
            states = self.encoder.states(singles).squeeze(1)
        else:
            states = self.mix(self.encoder.states(singles, "all"))
        terms = int(batch.mask.sum())
        return states[:terms], states[terms:]
