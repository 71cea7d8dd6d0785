"""BM25+extra: a linear model of BM25 and three features of exact matches.

McDonald et al. 2018, Section 4.1. Nothing of the text is read beside the features.
"""

from torch import nn

from bioqa.models.rankers.heads import DocumentRanker, NoText, linear_head
from bioqa.models.rankers.settings import InputReading, Kind, RankerSettings, Training


def _build(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    return DocumentRanker(NoText(), linear_head(settings, 0))


KINDS = {
    "linear": Kind(
        "BM25+extra",
        "McDonald et al. 2018",
        "documents",
        _build,
        reading=InputReading(features="extra"),
        training=Training(),
    )
}
