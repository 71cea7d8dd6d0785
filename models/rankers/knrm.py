"""K-NRM: soft counts of how similar a document's words are to the question's (Xiong et al. 2017, Section 3).

A kernel counts the words whose cosine with a term is near its centre μ:
K_k(M_i) = Σ_j exp(-(M_ij - μ_k)² / 2σ_k²) (their Equation 6); φ = Σ_i log K(M_i) (Equation 5) is scored by a
learned layer (Equation 4).

Deviations, those of Hui et al. 2018 (Section 5.1): word vectors are frozen, and a layer of 30 partly makes
up for it; the pair loss is a softmax. The last tanh is left out: it changes no order, and rounded it would
make high scores equal. Logarithms are divided by 100 and begin at 1e-10, as is usual, so that
terms without any match do not drown the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.heads import DocumentRanker, linear_head
from bioqa.models.rankers.settings import HUI_TRAINING, Kind, RankerSettings, Section, WordReading
from bioqa.models.rankers.vectors import cosines


@dataclass(frozen=True, slots=True)
class KnrmSettings(Section):
    kernels: int = 11
    """The first counts exact matches; the centres of the others are spread evenly over [-1, 1]."""
    sigma: float = 0.1
    """Width of a kernel."""
    exact_sigma: float = 0.001
    """Width of the kernel of exact matches."""
    hidden: int = 30
    """Width of the layer before the last; 0: none, as in Xiong et al."""

    POSITIVE = ("kernels", "sigma", "exact_sigma")
    LEAST: ClassVar[Mapping[str, int]] = {"hidden": 0}


class Knrm(nn.Module):
    """Kernels are summed over packed words, so there is no padding that could count as a match."""

    mu: Tensor
    sigma: Tensor

    def __init__(self, vectors: nn.Module, own: KnrmSettings) -> None:
        super().__init__()
        self.vectors = vectors
        width = 2 / max(1, own.kernels - 1)
        centres = [1.0, *(1 - width / 2 - width * i for i in range(own.kernels - 1))]
        widths = [own.exact_sigma, *[own.sigma] * (own.kernels - 1)]
        self.register_buffer("mu", torch.tensor(centres), persistent=False)
        self.register_buffer("sigma", torch.tensor(widths), persistent=False)
        hidden = [nn.Linear(own.kernels, own.hidden), nn.Tanh()] if own.hidden else []
        self.score = nn.Sequential(*hidden, nn.Linear(own.hidden or own.kernels, 1))

    def forward(self, batch: Batch) -> Tensor:
        """[S]"""
        terms, words = self.vectors(batch)
        similarity = cosines(batch, batch.padded_terms(terms), words)
        mask = batch.mask[batch.unit_question].float()
        counted = []
        for mu, sigma in zip(self.mu.tolist(), self.sigma.tolist(), strict=True):
            near = torch.exp(-((similarity - mu) ** 2) / (2 * sigma**2))
            sums = near.new_zeros(len(batch.lengths), near.shape[1]).index_add(0, batch.word_unit, near)
            counted.append((sums.clamp(min=1e-10).log() / 100 * mask).sum(1))
        scores: Tensor = self.score(torch.stack(counted, dim=1)).squeeze(1)
        return scores


def _build(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    return DocumentRanker(Knrm(vectors, settings.own_as(KnrmSettings)), linear_head(settings))


KINDS = {
    "knrm": Kind(
        "K-NRM",
        "Xiong et al. 2017",
        "documents",
        _build,
        KnrmSettings(),
        WordReading(features="none"),
        HUI_TRAINING,
    )
}
