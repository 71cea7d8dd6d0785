"""PACRR, PACRR-DRMM and Co-PACRR: convolutions over the matrix of similarities find n-grams that match.

Hui et al. 2017 in the form of McDonald et al. 2018, Section 2.2 (PACRR-firstk, dense layers instead of the
LSTM) and Section 3.1 (PACRR-DRMM: one MLP scores each term, a linear layer joins the terms' scores); Hui et
al. 2018, Section 4 (Co-PACRR: cascade pooling, disambiguation, shuffled terms).

Every size n of 2, 3, … has filters n×n, of which the strongest counts at each place; size 1 is the matrix
itself. The k strongest places of each term's row, for each size, and the softmax of the terms' IDF describe a
term.

Deviations: places and rows beyond a text's end are never pooled and rows of masked terms are 0, so that a
score does not depend on padding, as convolutions' biases would make it. Cascade pooling looks at the first
quarters of the text that is read, not of 800 places: abstracts have some 250 words. A convolution of even
width sees one place more after its own than before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, pad

from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.heads import DocumentRanker, linear_head
from bioqa.models.rankers.settings import (
    HUI_READING,
    HUI_TRAINING,
    Kind,
    RankerSettings,
    Section,
    Training,
    WordReading,
)
from bioqa.models.rankers.vectors import cosines, softmax_over_terms


@dataclass(frozen=True, slots=True)
class PacrrSettings(Section):
    longest_ngram: int = 3
    filters: int = 16
    """Number for each size n×n."""
    strongest: int = 2
    """k: places of a row that are pooled."""
    hidden: int = 70
    """Width of the two hidden layers."""
    by_term: bool = False
    """Whether the same MLP scores each term (PACRR-DRMM), instead of one all terms together."""

    cascade: bool = False
    """C: pool after each quarter of the document, too."""
    disambiguate: bool = False
    """D: beside each pooled place, the cosine of the words around it and the question."""
    shuffle: bool = False
    """S: shuffle the terms' rows while training."""
    around: int = 4
    """Words on either side that disambiguate a place."""

    POSITIVE = ("longest_ngram", "filters", "strongest", "hidden")
    LEAST: ClassVar[Mapping[str, int]] = {"around": 0}


_TIE = 1e-6
"""Matches are equal if they differ by less for each word between them."""


class Pacrr(nn.Module):
    """Describes each term by its strongest matches, and scores the terms of at most ``terms`` rows."""

    def __init__(self, vectors: nn.Module, terms: int, own: PacrrSettings) -> None:
        super().__init__()
        self.vectors = vectors
        self.terms = terms
        self.own = own
        self.convolutions = nn.ModuleList(
            nn.Conv2d(1, own.filters, size) for size in range(2, own.longest_ngram + 1)
        )
        self.quarters = (0.25, 0.5, 0.75, 1.0) if own.cascade else (1.0,)
        width = own.longest_ngram * own.strongest * len(self.quarters) * (1 + own.disambiguate) + 1
        inner = width if own.by_term else terms * width
        self.match = nn.Sequential(
            nn.Linear(inner, own.hidden),
            nn.ReLU(),
            nn.Linear(own.hidden, own.hidden),
            nn.ReLU(),
            nn.Linear(own.hidden, 1),
        )
        self.join = nn.Linear(terms, 1) if own.by_term else None

    def forward(self, batch: Batch) -> Tensor:
        """[S]"""
        terms, words = self.vectors(batch)
        padded = batch.padded_terms(terms)
        # [words, n] → [S, n, m]
        similarity = batch.pad(cosines(batch, padded, words)).transpose(1, 2)
        signals = [similarity, *(self._ngrams(similarity, layer) for layer in self.convolutions)]
        context = self._around(batch, padded, words) if self.own.disambiguate else None
        parts = [part for signal in signals for part in self._pool(batch, signal, context)]
        idf = softmax_over_terms(batch, batch.idf)[batch.unit_question]
        rows = torch.cat([*parts, idf[:, :, None]], dim=2)
        missing = self.terms - rows.shape[1]
        return self._join(pad(rows, (0, 0, 0, missing)), pad(batch.mask, (0, missing))[batch.unit_question])

    @staticmethod
    def _ngrams(similarity: Tensor, layer: nn.Module) -> Tensor:
        """[S, n, m] → [S, n, m]: the strongest filter at each place."""
        assert isinstance(layer, nn.Conv2d)
        assert layer.bias is not None
        size = layer.kernel_size[0]
        before = (size - 1) // 2
        after = size - 1 - before
        padded = pad(similarity, (before, after, before, after))
        _, n, m = similarity.shape
        # [size², S n m]: one matrix product is up to eight times as fast as convolving one channel.
        shifted = [padded[:, i : i + n, j : j + m] for i in range(size) for j in range(size)]
        convolved = torch.addmm(layer.bias[:, None], layer.weight.flatten(1), torch.stack(shifted).flatten(1))
        # The index of the maximum makes its gradient cheap; without one, a plain maximum is faster.
        strongest = convolved.max(0).values if convolved.requires_grad else convolved.amax(0)
        return torch.relu(strongest).view_as(similarity)

    def _pool(self, batch: Batch, signal: Tensor, context: Tensor | None) -> list[Tensor]:
        """The strongest places of each row, [S, n, k], after each part of the document; 0 where it has fewer.
        With ``context`` [S, m], also its values at these places.
        """
        pooled = []
        places = torch.arange(signal.shape[2], device=signal.device)
        # Which of equal places is found would depend on the padding: the first shall be.
        ranked = signal - _TIE * places
        for share in self.quarters:
            inside = places < (batch.lengths[:, None] * share).ceil()
            masked = ranked.masked_fill(~inside[:, None], -torch.inf)
            masked = pad(masked, (0, max(0, self.own.strongest - len(places))), value=-torch.inf)
            strongest, where = masked.topk(self.own.strongest, dim=2)
            missing, where = strongest == -torch.inf, where.clamp(max=len(places) - 1)
            pooled.append(signal.gather(2, where).masked_fill(missing, 0.0))
            if context is not None:
                rows = context[:, None].expand_as(signal)
                pooled.append(rows.gather(2, where).masked_fill(missing, 0.0))
        return pooled

    def _around(self, batch: Batch, terms: Tensor, words: Tensor) -> Tensor:
        """[S, m] cosine of the mean vector around each place and the question's mean vector."""
        summed = terms.sum(1)[batch.unit_question]
        around = self.own.around
        # Running sums: the words from t - around to t + around.
        padded = pad(batch.pad(words), (0, 0, around + 1, around)).cumsum(1)
        windows = padded[:, 2 * around + 1 :] - padded[:, : -2 * around - 1]
        return cosine_similarity(windows, summed[:, None], dim=2) * batch.padding

    def _join(self, rows: Tensor, mask: Tensor) -> Tensor:
        """[S, terms, width], [S, terms] → [S]"""
        if self.own.shuffle and self.training:
            order = torch.rand(mask.shape, device=mask.device).argsort(dim=1)
            rows, mask = rows.gather(1, order[:, :, None].expand_as(rows)), mask.gather(1, order)
        if self.join is None:
            scores: Tensor = self.match((rows * mask[:, :, None]).flatten(1)).squeeze(1)
            return scores
        joined: Tensor = self.join(self.match(rows).squeeze(2) * mask).squeeze(1)
        return joined


def _build(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    reading = settings.reading
    assert isinstance(reading, WordReading)
    pacrr = Pacrr(vectors, reading.most("question_words"), settings.own_as(PacrrSettings))
    return DocumentRanker(pacrr, linear_head(settings))


_READING = WordReading(features="extra", unknown_words="mean", question_words=30, unit_words=300)
_MCDONALD = "McDonald et al. 2018"
_TRAINING = Training(document_loss="softmax", learning_rate=0.001)
KINDS = {
    "pacrr": Kind("PACRR", _MCDONALD, "documents", _build, PacrrSettings(), _READING, _TRAINING),
    "pacrr-drmm": Kind(
        "PACRR-DRMM",
        _MCDONALD,
        "documents",
        _build,
        PacrrSettings(hidden=7, by_term=True),
        _READING,
        _TRAINING,
    ),
    "co-pacrr": Kind(
        "Co-PACRR",
        "Hui et al. 2018",
        "documents",
        _build,
        PacrrSettings(filters=32, strongest=3, hidden=16, cascade=True, disambiguate=True, shuffle=True),
        HUI_READING,
        HUI_TRAINING,
    ),
}
