"""Delta: what each word of a document lacks of the question word closest to it (Mohan et al. 2017).

Section 4.3 and Algorithm 1: for each word the difference to the closest question word, its length and the
cosine of the two; Section 4.4: three full convolutions, dropout, the maximum over all places; Section 4.5: a
classifier of two layers as wide as its input, over these and the overlap features.

The _w variants weight a sample of relevance r by max(1, log(1 + r)). That is 1 for an r of 0 or 1, so on
gold without grades they are the plain ones.

Deviations: of the four overlap features, the share of common words in both texts is left out. Questions are
not cut, and numbers are words like any other. Dropout is .2: the tuned value is not printed; L2 is left out.
Published: vectors of 300 dimensions.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, pad

from bioqa.models.features.extractor import feature_counts
from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.heads import DocumentRanker
from bioqa.models.rankers.settings import Kind, RankerSettings, Section, Training, WordReading


@dataclass(frozen=True, slots=True)
class DeltaSettings(Section):
    layers: int = 3
    """Number of convolutions."""
    filters: int = 256
    """Number in each layer."""
    window: int = 3
    """Words that a filter sees."""
    dropout: float = 0.2

    POSITIVE = ("layers", "filters", "window")
    BELOW_ONE = ("dropout",)


class Scanner(nn.Module):
    """Full convolutions: windows that are only partly within the text count as well; the maximum over all."""

    def __init__(self, channels: int, own: DeltaSettings) -> None:
        super().__init__()
        sizes = [channels, *[own.filters] * own.layers]
        self.convolutions = nn.ModuleList(nn.Conv1d(below, own.filters, own.window) for below in sizes[:-1])
        self.dropout = nn.Dropout(own.dropout)
        self.beyond = own.window - 1

    def forward(self, rows: Tensor, lengths: Tensor) -> Tensor:
        """[units, m, channels], 0 from ``lengths`` [units] on → [units, filters]; 0 for an empty unit."""
        x = rows.transpose(1, 2)
        for convolution in self.convolutions:
            lengths = lengths + self.beyond
            x = torch.relu(convolution(pad(x, (self.beyond, self.beyond))))
            x = x * (torch.arange(x.shape[2], device=x.device) < lengths[:, None])[:, None]
        features: Tensor = self.dropout(x).amax(2)
        return features * (lengths > self.beyond * len(self.convolutions))[:, None]


class Differences(nn.Module):
    def __init__(self, vectors: nn.Module, dimensions: int, own: DeltaSettings) -> None:
        super().__init__()
        self.vectors = vectors
        self.scanner = Scanner(dimensions + 2, own)

    def forward(self, batch: Batch) -> Tensor:
        """[S, filters]"""
        terms, words = self.vectors(batch)
        terms_of = torch.split(terms, batch.mask.sum(1).tolist())
        blocks = torch.split(words, list(batch.question_words))
        closest = torch.cat([_closest(*pair) for pair in zip(terms_of, blocks, strict=True)])
        differences = words - closest
        beside = [differences.norm(dim=1), cosine_similarity(words, closest, dim=1)]
        rows = torch.cat([differences, torch.stack(beside, dim=1)], dim=1)
        scanned: Tensor = self.scanner(batch.pad(rows), batch.lengths)
        return scanned


def _closest(terms: Tensor, words: Tensor) -> Tensor:
    """[n, d], [m, d] → [m, d] the closest term of each word; 0 if there is no term."""
    if not len(terms):
        return torch.zeros_like(words)
    # Not by products, whose rounding would decide between terms that are almost as close.
    distances = torch.cdist(words, terms, compute_mode="donot_use_mm_for_euclid_dist")
    return terms[distances.argmin(1)]


class Classifier(nn.Module):
    """[features; state] → two layers of that width → 1: the logit of relevance (Section 4.5)."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(width, 1),
        )

    def forward(self, features: Tensor, state: Tensor) -> Tensor:
        """[N, features], [N, width] → [N]"""
        scores: Tensor = self.layers(torch.cat([features, state], dim=1)).squeeze(1)
        return scores


def _build(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    own, reading = settings.own_as(DeltaSettings), settings.reading
    head = Classifier(feature_counts(reading.features)[0] + own.filters, own.dropout)
    return DocumentRanker(Differences(vectors, reading.dimensions, own), head)


READING = WordReading(features="overlap", unit_words=50)
TRAINING = Training(
    document_loss="pointwise",
    optimiser="adadelta",
    learning_rate=1.0,
    # Batches of 256 documents.
    pairs_per_step=128,
    pairs_at_once=128,
    epochs=10,
)
KINDS = {
    "delta": Kind("Delta", "Mohan et al. 2017", "documents", _build, DeltaSettings(), READING, TRAINING),
}
