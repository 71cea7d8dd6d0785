"""ABEL-DRMM and ABEL-DRMM+MV: each term's view of the document, element by element.

McDonald et al. 2018, Section 3.3: attention of a term over the document's words (Equation 2), the words'
weighted mean (Equation 3), its normalised element-wise product with the term (Equation 4), and an MLP.

+MV (Section 3.5) sums the products of three views, which as printed have different lengths. Here word vectors
are doubled, [e; e], as Equation 1 adds them to both directions' states. A product of one-hot vectors has one
number that is not 0, at the term itself: with c of the document's words being the term, and n_w every other
word w, it is e·c / √((e·c)² + Σ n_w²), e = exp(1). It is an input of the MLP of its own, as it stands for no
dimension of the others.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.context import Context, ViewSettings
from bioqa.models.rankers.heads import DocumentRanker, linear_head
from bioqa.models.rankers.settings import InputReading, Kind, RankerSettings, Training
from bioqa.models.rankers.vectors import TermGate, products, term_counts


class Abel(nn.Module):
    def __init__(self, vectors: nn.Module, dimensions: int, own: ViewSettings) -> None:
        super().__init__()
        self.vectors = vectors
        self.context = Context(dimensions)
        self.many_views = own.many_views
        width = self.context.width + own.many_views
        self.match = nn.Sequential(nn.Linear(width, own.hidden), nn.LeakyReLU(0.1), nn.Linear(own.hidden, 1))
        self.gate = TermGate(dimensions)

    def forward(self, batch: Batch) -> Tensor:
        """[S]"""
        terms, words = self.vectors(batch)
        static = batch.padded_terms(terms)
        rows = _products(batch, *self.context.of_batch(batch, terms, words))
        if self.many_views:
            rows = rows + _products(batch, static, words).repeat(1, 1, 2)
            rows = torch.cat([rows, _one_hot_products(batch)[:, :, None]], dim=2)
        matches = self.match(rows).squeeze(2)
        return self.gate.weigh(batch, static, matches)


def _products(batch: Batch, terms: Tensor, words: Tensor) -> Tensor:
    """[B, n, width], [words, width] → [S, n, width] (Equations 2 to 4); 0 for a unit without words."""
    logits = batch.pad(products(batch, terms, words)).masked_fill(~batch.padding[:, :, None], -torch.inf)
    # A unit without words has no attention to divide.
    attention = torch.nan_to_num(torch.softmax(logits, dim=1))
    seen = attention.transpose(1, 2) @ batch.pad(words)
    return normalize(seen, dim=2) * normalize(terms, dim=2)[batch.unit_question]


def _one_hot_products(batch: Batch) -> Tensor:
    """[S, n] The number of the product of one-hot vectors that is not 0; 0 for a term that does not occur."""
    counts_of_terms = term_counts(batch)
    size = int(batch.words.max()) + 1 if len(batch.words) else 1
    pairs, counts = torch.unique(batch.word_unit * size + batch.words, return_counts=True)
    squares = counts_of_terms.new_zeros(len(batch.lengths)).index_add(0, pairs // size, counts.float() ** 2)
    attended = torch.e * counts_of_terms
    length = (attended**2 + squares[:, None] - counts_of_terms**2).sqrt()
    return attended / length.clamp(min=1e-6)


def _build(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    abel = Abel(vectors, settings.reading.dimensions, settings.own_as(ViewSettings))
    return DocumentRanker(abel, linear_head(settings))


def _kind(title: str, own: ViewSettings) -> Kind:
    reading, training = InputReading(features="extra"), Training(learning_rate=0.001)
    return Kind(title, "McDonald et al. 2018", "documents", _build, own, reading, training)


KINDS = {
    "abel": _kind("ABEL-DRMM", ViewSettings()),
    "abel-mv": _kind("ABEL-DRMM+MV", ViewSettings(many_views=True)),
}
