"""BM25 on titles (Robertson et al. 1994), a baseline of Mohan et al. 2017, Section 5.1: k1 2.0, b .75.

Σ idf · tf (k1 + 1) / (tf + k1 (1 - b + b |d| / mean)) over the question's terms. Nothing is learned.

Deviations: words are not stemmed, and IDF is that of whole documents. The mean length is that of a title of
MEDLINE; vocabularies do not store it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.heads import DocumentRanker, Score
from bioqa.models.rankers.settings import Kind, RankerSettings, Section, WordReading
from bioqa.models.rankers.vectors import term_counts


@dataclass(frozen=True, slots=True)
class OkapiSettings(Section):
    k1: float = 2.0
    b: float = 0.75
    mean_words: float = 12.0
    """Mean length of a title."""

    POSITIVE = ("mean_words",)
    LEAST: ClassVar[Mapping[str, int]] = {"k1": 0, "b": 0}


class Okapi(nn.Module):
    def __init__(self, own: OkapiSettings) -> None:
        super().__init__()
        self.own = own

    def forward(self, batch: Batch) -> Tensor:
        """[S]"""
        k1, b = self.own.k1, self.own.b
        counts = term_counts(batch)
        norm = k1 * (1 - b + b * batch.lengths / self.own.mean_words)
        # A term that does not occur counts nothing, even where the norm of an empty title is 0.
        weights = counts * (k1 + 1) / (counts + norm[:, None]).clamp(min=1e-6)
        scores: Tensor = (batch.idf[batch.unit_question] * weights).sum(1)
        return scores


def _build(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    return DocumentRanker(Okapi(settings.own_as(OkapiSettings)), Score())


KINDS = {
    "bm25-title": Kind(
        "BM25 on titles",
        "Mohan et al. 2017",
        "titles",
        _build,
        OkapiSettings(),
        WordReading(features="none", unknown_words="mean"),
        None,
    )
}
