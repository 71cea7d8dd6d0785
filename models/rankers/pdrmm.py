"""POSIT-DRMM (PDRMM): how well each question term is matched, weighted by the term's importance.

McDonald et al. 2018, Section 4.3, in the form of Pappas and Androutsopoulos 2021, Section 2.1 and Figure 1:
convolutions in place of the BiLSTM, and average pooling beside maximum and k-max pooling.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from bioqa.models.features.extractor import feature_counts
from bioqa.models.rankers.batch import Batch, owners
from bioqa.models.rankers.heads import (
    DocumentRanker,
    FeatureHead,
    SentenceHeadSettings,
    SentenceRanker,
    sentence_head,
)
from bioqa.models.rankers.joint import JointSettings, joint
from bioqa.models.rankers.pooling import pool
from bioqa.models.rankers.settings import Kind, RankerSettings, SentenceTraining, Training
from bioqa.models.rankers.vectors import cosines, exact_matches, softmax_over_terms

VIEWS = 3
"""Similarity matrices: exact match, cosine of word vectors, cosine of contexts."""


class TermContext(nn.Module):
    """Context-sensitive vectors: two stacked width-3 convolutions with sigmoid (or another) and residual.

    Packed units are separated by one zero row, so that a convolution sees zeros beyond a unit's ends (the
    paper's zero padding) and never its neighbour.
    """

    def __init__(
        self, dimensions: int, layers: int = 2, activation: Callable[[Tensor], Tensor] = torch.sigmoid
    ) -> None:
        super().__init__()
        self._activation = activation
        self.convolutions = nn.ModuleList(
            nn.Conv1d(dimensions, dimensions, kernel_size=3, padding=1) for _ in range(layers)
        )

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """``vectors`` [words, dimensions] of packed units with ``lengths`` [units] → the same shape."""
        if not len(vectors):
            return vectors
        places = torch.arange(len(vectors), device=vectors.device) + owners(lengths)
        inside = vectors.new_zeros(len(vectors) + len(lengths), 1)
        inside[places] = 1.0
        x = vectors.new_zeros(len(inside), vectors.shape[1]).index_copy(0, places, vectors)
        # Channels first, as Conv1d wants them: [1, dimensions, rows].
        x = x.T[None].contiguous()
        for convolution in self.convolutions:
            x = x + self._activation(convolution(x)) * inside.T
        return x[0].T[places]


class Pdrmm(nn.Module):
    """Scores text units: r̂(q, d) = vᵀu / n (Section 2.1), before any extra feature."""

    def __init__(
        self,
        vectors: nn.Module,
        dimensions: int,
        activation: Callable[[Tensor], Tensor] = torch.sigmoid,
    ) -> None:
        """``vectors`` gives those of a batch's words, as bioqa.models.rankers.vectors.StaticVectors does."""
        super().__init__()
        self.vectors = vectors
        self.context = TermContext(dimensions, activation=activation)
        self.importance = nn.Linear(dimensions + 1, 1)
        self.match = nn.Sequential(nn.Linear(VIEWS * 3, 8), nn.LeakyReLU(0.1), nn.Linear(8, 1))

    def forward(self, batch: Batch) -> Tensor:
        """The units' scores [S]."""
        of_terms, of_words = self.vectors(batch)
        question, context = self._question(batch, of_terms)
        views = [
            exact_matches(batch),
            cosines(batch, question, of_words),
            cosines(batch, context, self.context(of_words, batch.lengths)),
        ]
        pooled = pool(torch.cat(views, dim=1), batch.packing)
        n = batch.questions.shape[1]
        # [S, views × n, 3] → [S, n, 9]
        rows = pooled.reshape(len(pooled), VIEWS, n, 3).permute(0, 2, 1, 3).flatten(2)
        matches = self.match(rows).squeeze(2)
        weights = self._importance(batch, context)
        scores: Tensor = (matches * weights[batch.unit_question]).sum(1)
        return scores

    def _question(self, batch: Batch, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors and contexts of the question terms, [B, n, dimensions]; zeros where masked."""
        contexts = self.context(vectors, batch.mask.sum(1))
        return batch.padded_terms(vectors), batch.padded_terms(contexts)

    def _importance(self, batch: Batch, context: Tensor) -> Tensor:
        """Softmax over a question's terms, divided by their number n: [B, n], zero where masked."""
        logits = self.importance(torch.cat([context, batch.idf[:, :, None]], dim=2)).squeeze(2)
        return softmax_over_terms(batch, logits) / batch.mask.sum(1, keepdim=True).clamp(min=1)


def _documents(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    head = FeatureHead(feature_counts(settings.reading.features)[0], bias=True)
    return DocumentRanker(Pdrmm(vectors, settings.reading.dimensions), head)


def _sentences(settings: RankerSettings, vectors: nn.Module) -> SentenceRanker:
    return SentenceRanker(Pdrmm(vectors, settings.reading.dimensions), sentence_head(settings))


_PAPER = "Pappas and Androutsopoulos 2021"
KINDS = {
    "pdrmm": Kind("PDRMM", _PAPER, "documents", _documents, training=Training()),
    "sentence-pdrmm": Kind(
        "Sentence PDRMM",
        _PAPER,
        "sentences",
        _sentences,
        SentenceHeadSettings(),
        training=SentenceTraining(document_weight=0.0, sentence_weight=1.0),
    ),
    "jpdrmm": Kind("JPDRMM", _PAPER, "sentences", joint(_sentences), JointSettings()),
}
