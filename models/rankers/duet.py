"""DUET's local model: where in a document the question's words stand (Mitra et al. 2017, Section 3.1).

A filter has a weight for every place of the document and sees the exact matches of one term; their tanh for
all terms goes through two layers, dropout and a last layer. Sizes are those of Hui et al. 2018: 300 filters,
layers of 300, 16 terms, 800 places; softmax loss of pairs.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.heads import DocumentRanker, linear_head
from bioqa.models.rankers.settings import (
    HUI_READING,
    HUI_TRAINING,
    Kind,
    RankerSettings,
    Section,
    WordReading,
)
from bioqa.models.rankers.vectors import exact_matches


@dataclass(frozen=True, slots=True)
class DuetSettings(Section):
    filters: int = 300
    hidden: int = 300
    dropout: float = 0.2

    POSITIVE = ("filters", "hidden")
    BELOW_ONE = ("dropout",)


class DuetLocal(nn.Module):
    def __init__(self, terms: int, places: int, own: DuetSettings) -> None:
        super().__init__()
        self.terms = terms
        self.convolution = nn.Linear(places, own.filters)
        self.score = nn.Sequential(
            nn.Linear(terms * own.filters, own.hidden),
            nn.Tanh(),
            nn.Linear(own.hidden, own.hidden),
            nn.Tanh(),
            nn.Dropout(own.dropout),
            nn.Linear(own.hidden, 1),
        )

    def forward(self, batch: Batch) -> Tensor:
        """[S]"""
        # [S, n, m]
        matches = batch.pad(exact_matches(batch)).transpose(1, 2)
        weights = self.convolution.weight[:, : matches.shape[2]]
        features = torch.tanh(matches @ weights.T + self.convolution.bias)
        missing = self.terms - features.shape[1]
        mask = pad(batch.mask, (0, missing))[batch.unit_question]
        rows = pad(features, (0, 0, 0, missing)) * mask[:, :, None]
        scores: Tensor = self.score(rows.flatten(1)).squeeze(1)
        return scores


def _build(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    reading = settings.reading
    assert isinstance(reading, WordReading)
    sizes = reading.most("question_words"), reading.most("unit_words")
    duet = DuetLocal(*sizes, settings.own_as(DuetSettings))
    return DocumentRanker(duet, linear_head(settings))


KINDS = {
    "duet-local": Kind(
        "DUET-local",
        "Mitra et al. 2017",
        "documents",
        _build,
        DuetSettings(),
        HUI_READING,
        HUI_TRAINING,
    )
}
