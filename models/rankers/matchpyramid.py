"""MatchPyramid: convolutions over the matrix of similarities, pooled to a grid (Pang et al. 2016).

With the sizes that Hui et al. 2018 compare with: 8 filters 3×3, a grid of 4 × 10 cells (dynamic pooling: a
cell spans its share of the question and of the document that is read), a layer of 128; softmax loss of pairs.

Deviation: word vectors that are 0 have cosine 0, so the grid of a text without words is 0.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.heads import DocumentRanker, linear_head
from bioqa.models.rankers.settings import HUI_READING, HUI_TRAINING, Kind, RankerSettings, Section
from bioqa.models.rankers.vectors import cosines


@dataclass(frozen=True, slots=True)
class MatchPyramidSettings(Section):
    filters: int = 8
    rows: int = 4
    """Height of the grid, along the question."""
    columns: int = 10
    """Width of the grid, along the document."""
    hidden: int = 128

    POSITIVE = ("filters", "rows", "columns", "hidden")


class MatchPyramid(nn.Module):
    def __init__(self, vectors: nn.Module, own: MatchPyramidSettings) -> None:
        super().__init__()
        self.vectors = vectors
        self.convolution = nn.Conv2d(1, own.filters, 3, padding=1)
        self.rows, self.columns = own.rows, own.columns
        cells = own.filters * own.rows * own.columns
        self.score = nn.Sequential(nn.Linear(cells, own.hidden), nn.ReLU(), nn.Linear(own.hidden, 1))

    def forward(self, batch: Batch) -> Tensor:
        """[S]"""
        terms, words = self.vectors(batch)
        similarity = batch.pad(cosines(batch, batch.padded_terms(terms), words))
        # [S, filters, m, n] → [S, filters, columns, n] → [S, filters, rows, columns]
        maps = torch.relu(self.convolution(similarity[:, None]))
        by_column = _pool(maps, batch.lengths, self.columns)
        lengths = batch.mask.sum(1)[batch.unit_question]
        grid = _pool(by_column.transpose(2, 3), lengths, self.rows)
        scores: Tensor = self.score(grid.flatten(1)).squeeze(1)
        return scores


def _pool(values: Tensor, lengths: Tensor, cells: int) -> Tensor:
    """[S, a, m, b] → [S, a, cells, b]: maxima over shares of the first ``lengths`` [S] of the m places.

    Values are not negative. Where there are fewer places than cells, neighbours share one.
    """
    cell = torch.arange(cells, device=values.device)
    begin = lengths[:, None] * cell // cells
    end = (lengths[:, None] * (cell + 1) + cells - 1) // cells
    widest = int((end - begin).max()) if len(values) else 0
    if not widest:
        return values.new_zeros(*values.shape[:2], cells, values.shape[3])
    places = begin[:, :, None] + torch.arange(widest, device=values.device)
    # [S, cells, widest]: a narrower cell repeats its last place.
    places = torch.minimum(places, end[:, :, None] - 1).clamp(min=0)
    index = places.flatten(1)[:, None, :, None]
    values_in_cells = values.gather(2, index.expand(-1, values.shape[1], -1, values.shape[3]))
    pooled = values_in_cells.view(*values.shape[:2], cells, widest, values.shape[3]).amax(3)
    return pooled * (lengths > 0)[:, None, None, None]


def _build(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    return DocumentRanker(MatchPyramid(vectors, settings.own_as(MatchPyramidSettings)), linear_head(settings))


KINDS = {
    "matchpyramid": Kind(
        "MatchPyramid",
        "Pang et al. 2016",
        "documents",
        _build,
        MatchPyramidSettings(),
        HUI_READING,
        HUI_TRAINING,
    )
}
