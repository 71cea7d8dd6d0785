"""SevMos-C1 and SevMos-C3: question and document as vectors, compared by a matrix.

Severyn and Moschitti 2015 as Mohan et al. 2017, Section 5.1.1, adapt it: convolutions of question and of
document (C1: one of width 5, C3: three of width 3), the maximum over all places, x_q · M · x_d, and Delta's
classifier over both vectors, that number and the overlap features. The _w variants and the deviations are
those of Delta.
"""

import torch
from torch import Tensor, nn

from bioqa.models.features.extractor import feature_counts
from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.delta import READING, TRAINING, Classifier, DeltaSettings, Scanner
from bioqa.models.rankers.heads import DocumentRanker
from bioqa.models.rankers.settings import Kind, RankerSettings


class WordPair(nn.Module):
    """[x_q; x_q · M · x_d; x_d]"""

    def __init__(self, vectors: nn.Module, dimensions: int, own: DeltaSettings) -> None:
        super().__init__()
        self.vectors = vectors
        self.question = Scanner(dimensions, own)
        self.document = Scanner(dimensions, own)
        self.matrix = nn.Linear(own.filters, own.filters, bias=False)
        self.width = 2 * own.filters + 1

    def forward(self, batch: Batch) -> Tensor:
        """[S, width]"""
        terms, words = self.vectors(batch)
        question_state = self.question(batch.padded_terms(terms), batch.mask.sum(1))[batch.unit_question]
        read = self.document(batch.pad(words), batch.lengths)
        alike = (question_state * self.matrix(read)).sum(1, keepdim=True)
        return torch.cat([question_state, alike, read], dim=1)


def _build(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    own, reading = settings.own_as(DeltaSettings), settings.reading
    pair = WordPair(vectors, reading.dimensions, own)
    return DocumentRanker(pair, Classifier(feature_counts(reading.features)[0] + pair.width, own.dropout))


def _kind(title: str, own: DeltaSettings) -> Kind:
    return Kind(title, "Mohan et al. 2017", "documents", _build, own, READING, TRAINING)


KINDS = {
    "sevmos-c1": _kind("SevMos-C1", DeltaSettings(layers=1, window=5)),
    "sevmos-c3": _kind("SevMos-C3", DeltaSettings()),
}
