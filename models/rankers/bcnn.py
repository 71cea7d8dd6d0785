"""BCNN: similarity of question and sentence through convolutions (Yin et al. 2016, Section 3).

The sentence ranker of the pipelines PDRMM+BCNN and BERT+BCNN of Pappas and Androutsopoulos 2021, with 50
kernels a layer, which gives the parameters of their Table 1.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool1d, cosine_similarity, pad

from bioqa.models.features.extractor import feature_counts
from bioqa.models.rankers.batch import Batch, owners
from bioqa.models.rankers.heads import Dense, SentenceRanker
from bioqa.models.rankers.settings import Kind, RankerSettings, SentenceTraining

LAYERS = 2
SIMILARITIES = LAYERS + 1
"""One of the word vectors, and one after each convolution."""


class WideConvolution(nn.Module):
    """Convolution that also sees windows only partly within a unit: m words give m + window - 1 columns.

    Packed units are separated by window - 1 zero rows, so that no window covers words of two.
    """

    def __init__(self, channels: int, kernels: int, window: int) -> None:
        super().__init__()
        self._gap = window - 1
        self.convolution = nn.Conv1d(channels, kernels, window)

    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """[words, channels] of packed units → averages over whole units [units, kernels], and over windows
        [words, kernels], which the next layer reads."""
        if not len(lengths):
            empty = vectors.new_zeros(0, self.convolution.out_channels)
            return empty, empty
        gap = self._gap
        places = torch.arange(len(vectors), device=vectors.device) + gap * owners(lengths)
        rows = vectors.new_zeros(len(vectors) + gap * len(lengths), vectors.shape[1])
        rows = pad(rows.index_copy(0, places, vectors), (0, 0, gap, 0))
        columns = torch.tanh(self.convolution(rows.T[None]))
        whole = _means(columns[0].T, lengths + gap)
        windows = avg_pool1d(pad(columns, (0, gap)), gap + 1, stride=1)[0].T[places]
        # All windows of a unit without words are zeros; only the bias would show.
        return whole * (lengths > 0)[:, None], windows


class Bcnn(nn.Module):
    """Cosines of question and unit: of their mean word vectors, and of their means after each layer."""

    def __init__(self, vectors: nn.Module, dimensions: int, *, kernels: int = 50, window: int = 4) -> None:
        """``vectors`` gives those of a batch's words, as bioqa.models.rankers.vectors.StaticVectors does."""
        super().__init__()
        self.vectors = vectors
        sizes = [dimensions, *[kernels] * LAYERS]
        self.layers = nn.ModuleList(WideConvolution(below, above, window) for below, above in pairwise(sizes))

    def forward(self, batch: Batch) -> Tensor:
        """[S, SIMILARITIES]"""
        terms, words = self.vectors(batch)
        of_questions = self._summaries(terms, batch.mask.sum(1))
        of_units = self._summaries(words, batch.lengths)
        return torch.stack(
            [
                cosine_similarity(question[batch.unit_question], unit, dim=1)
                for question, unit in zip(of_questions, of_units, strict=True)
            ],
            dim=1,
        )

    def _summaries(self, vectors: Tensor, lengths: Tensor) -> list[Tensor]:
        """[units, …] at every layer; zeros for a unit without words."""
        summaries = [_means(vectors, lengths)]
        for layer in self.layers:
            whole, vectors = layer(vectors, lengths)
            summaries.append(whole)
        return summaries


def _means(rows: Tensor, lengths: Tensor) -> Tensor:
    """[words, …] of packed units with ``lengths`` [units] → [units, …]"""
    sums = rows.new_zeros(len(lengths), rows.shape[1]).index_add(0, owners(lengths), rows)
    return sums / lengths.clamp(min=1)[:, None]


def _sentences(settings: RankerSettings, vectors: nn.Module) -> SentenceRanker:
    head = Dense(feature_counts(settings.reading.features)[1], SIMILARITIES)
    return SentenceRanker(Bcnn(vectors, settings.reading.dimensions), head)


KINDS = {
    "bcnn": Kind(
        "BCNN",
        "Yin et al. 2016",
        "sentences",
        _sentences,
        training=SentenceTraining(document_weight=0.0, sentence_weight=1.0),
    )
}
