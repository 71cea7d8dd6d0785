"""DRMM: histograms of how similar a document's words are to each question term (Guo et al. 2016).

In the form of McDonald et al. 2018, Section 2.1: log-counts of cosines in bins, the last of which counts
exact matches; an MLP with tanh scores each term; terms are weighted by a softmax of w·[e; idf]; the extra
features join in a linear layer.

Deviation: McDonald's hidden layers are not printed; these are Guo's, 30 → 5 → 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.heads import DocumentRanker, linear_head
from bioqa.models.rankers.settings import Kind, RankerSettings, Section, Training, WordReading
from bioqa.models.rankers.vectors import TermGate, cosines, exact_matches


@dataclass(frozen=True, slots=True)
class DrmmSettings(Section):
    bins: int = 30
    """Number in a histogram; the last is that of exact matches."""
    hidden: int = 5

    POSITIVE = ("hidden",)
    LEAST: ClassVar[Mapping[str, int]] = {"bins": 2}


class Drmm(nn.Module):
    def __init__(self, vectors: nn.Module, dimensions: int, own: DrmmSettings) -> None:
        super().__init__()
        self.vectors = vectors
        self.bins = own.bins
        self.match = nn.Sequential(
            nn.Linear(own.bins, own.hidden), nn.Tanh(), nn.Linear(own.hidden, 1), nn.Tanh()
        )
        self.gate = TermGate(dimensions)

    def forward(self, batch: Batch) -> Tensor:
        """[S]"""
        terms, words = self.vectors(batch)
        padded = batch.padded_terms(terms)
        histograms = self._histograms(batch, cosines(batch, padded, words)).log1p()
        matches = self.match(histograms).squeeze(2)
        return self.gate.weigh(batch, padded, matches)

    def _histograms(self, batch: Batch, similarity: Tensor) -> Tensor:
        """[words, n] → [S, n, bins] counts."""
        n, units = similarity.shape[1], len(batch.lengths)
        bins = ((similarity + 1) / 2 * (self.bins - 1)).long().clamp(0, self.bins - 2)
        bins = torch.where(exact_matches(batch) > 0, self.bins - 1, bins)
        rows = batch.word_unit[:, None] * n + torch.arange(n, device=similarity.device)
        counts = torch.bincount((rows * self.bins + bins).flatten(), minlength=units * n * self.bins)
        return counts.reshape(units, n, self.bins).to(similarity.dtype)


def _build(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    drmm = Drmm(vectors, settings.reading.dimensions, settings.own_as(DrmmSettings))
    return DocumentRanker(drmm, linear_head(settings))


KINDS = {
    "drmm": Kind(
        "DRMM",
        "Guo et al. 2016",
        "documents",
        _build,
        DrmmSettings(),
        WordReading(features="extra"),
        Training(),
    )
}
