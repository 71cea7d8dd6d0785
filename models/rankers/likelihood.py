"""QL and UQLM: the likelihood of the question under a document's unigrams, smoothed by the collection's.

Zhai and Lafferty 2004, Dirichlet smoothing: Σ log((tf + μ P(t|C)) / (|d| + μ)) over the question's terms. QL
reads title and abstract (the first stage of Hui et al. 2018, with Indri's μ of 2,500), UQLM the title alone
(Mohan et al. 2017, Section 5.1). Nothing is learned.

Deviations: words are not stemmed. A vocabulary made before collection frequencies were kept, as the bundled
one, has them estimated from its document frequencies. Mohan et al. print no μ; here it is about the length of
a title.
"""

from dataclasses import dataclass

from torch import Tensor, nn

from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.heads import DocumentRanker, Score
from bioqa.models.rankers.settings import Kind, RankerSettings, Section, WordReading
from bioqa.models.rankers.vectors import term_counts


@dataclass(frozen=True, slots=True)
class LikelihoodSettings(Section):
    mu: float = 2500.0
    """μ: as many words of the collection are added to each document."""

    POSITIVE = ("mu",)


class Likelihood(nn.Module):
    def __init__(self, mu: float) -> None:
        super().__init__()
        self.mu = mu

    def forward(self, batch: Batch) -> Tensor:
        """[S]"""
        expected = self.mu * batch.frequencies
        shares = (term_counts(batch) + expected[batch.unit_question]) / (batch.lengths[:, None] + self.mu)
        scores: Tensor = shares.log().masked_fill(~batch.mask[batch.unit_question], 0.0).sum(1)
        return scores


def _build(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    return DocumentRanker(Likelihood(settings.own_as(LikelihoodSettings).mu), Score())


_READING = WordReading(features="none", unknown_words="mean")
KINDS = {
    "ql": Kind("QL", "Hui et al. 2018", "documents", _build, LikelihoodSettings(), _READING, None),
    "uqlm": Kind("UQLM", "Mohan et al. 2017", "titles", _build, LikelihoodSettings(mu=12.0), _READING, None),
}
