"""POSIT-DRMM and POSIT-DRMM+MV: each term's best match, and the mean of its five best.

McDonald et al. 2018, Section 3.4, Equation 5; +MV (Section 3.5) pools the cosines of word vectors and exact
matches beside those of contexts.
"""

import torch
from torch import Tensor, nn

from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.context import Context, ViewSettings
from bioqa.models.rankers.heads import DocumentRanker, linear_head
from bioqa.models.rankers.pooling import pool
from bioqa.models.rankers.settings import InputReading, Kind, RankerSettings, Training
from bioqa.models.rankers.vectors import TermGate, cosines, exact_matches


class Posit(nn.Module):
    def __init__(self, vectors: nn.Module, dimensions: int, own: ViewSettings) -> None:
        super().__init__()
        self.vectors = vectors
        self.context = Context(dimensions)
        self.views = 3 if own.many_views else 1
        self.match = nn.Sequential(
            nn.Linear(2 * self.views, own.hidden), nn.LeakyReLU(0.1), nn.Linear(own.hidden, 1)
        )
        self.gate = TermGate(dimensions)

    def forward(self, batch: Batch) -> Tensor:
        """[S]"""
        terms, words = self.vectors(batch)
        static = batch.padded_terms(terms)
        views = [cosines(batch, *self.context.of_batch(batch, terms, words))]
        if self.views > 1:
            views += [cosines(batch, static, words), exact_matches(batch)]
        # [S, views × n, 3], of which the mean of all words is not used.
        pooled = pool(torch.cat(views, dim=1), batch.packing)[:, :, :2]
        rows = pooled.reshape(len(pooled), self.views, batch.questions.shape[1], 2).transpose(1, 2).flatten(2)
        matches = self.match(rows).squeeze(2)
        return self.gate.weigh(batch, static, matches)


def _build(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    posit = Posit(vectors, settings.reading.dimensions, settings.own_as(ViewSettings))
    return DocumentRanker(posit, linear_head(settings))


def _kind(title: str, own: ViewSettings) -> Kind:
    reading, training = InputReading(features="extra"), Training(pairs_per_step=64)
    return Kind(title, "McDonald et al. 2018", "documents", _build, own, reading, training)


KINDS = {
    "posit": _kind("POSIT-DRMM", ViewSettings()),
    "posit-mv": _kind("POSIT-DRMM+MV", ViewSettings(many_views=True)),
}
