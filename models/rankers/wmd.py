"""WMD: Word Mover's Distance of question and title, the nearer the better.

Kusner et al. 2015, Section 4, as Mohan et al. 2017, Section 5.1, compare with it: a text is the distribution
of its words, and the distance is the least work that turns the question's into the title's, where moving all
of a word to another costs the Euclidean distance of their vectors. Stop words and words without a vector are
not read. Nothing is learned; POT solves the transport exactly.

Deviation: neither paper says how far a text without words is. Here it is as far as any text can be: the mean
length of the other text's vectors, and the longest vector there is.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from bioqa.models.arrays import Floats
from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.heads import DocumentRanker, Score
from bioqa.models.rankers.settings import Kind, RankerSettings, WordReading
from bioqa.models.rankers.vectors import StaticVectors
from bioqa.system.errors import BioqaError

Transport = Callable[[Floats, Floats, Floats], float]
"""The least work, given what there is of each word of two texts [n], [m], and the costs [n, m]."""


def exact_transport() -> Transport:
    """Raises BioqaError without POT."""
    try:
        # Imported here: POT is in the extra `train`, and no other ranker needs it.
        from ot.lp import emd2
    except ImportError as error:
        raise BioqaError("wmd needs POT: pip install pot, or 'bioqa[train]'") from error
    solve: Transport = emd2
    return solve


class WordMovers(nn.Module):
    def __init__(self, vectors: StaticVectors) -> None:
        super().__init__()
        self.vectors = vectors
        self._transport = exact_transport()

    def forward(self, batch: Batch) -> Tensor:
        """[S] The distance, negative."""
        terms, words = self.vectors(batch)
        blocks = _each(terms, batch.mask.sum(1))
        units = _each(words, batch.lengths)
        longest = float(self.vectors.table.norm(dim=1).max())
        pairs = zip(batch.unit_question.tolist(), units, strict=True)
        distances = [self._distance(blocks[question], unit, longest) for question, unit in pairs]
        return -torch.tensor(distances, dtype=terms.dtype).to(terms.device)

    def _distance(self, one: Floats, other: Floats, longest: float) -> float:
        """The distance of two texts [words, d]; a word that occurs twice is there twice."""
        if not len(one) or not len(other):
            means = [np.linalg.norm(text, axis=1).mean() for text in (one, other) if len(text)]
            return longest + sum(map(float, means))
        costs = np.linalg.norm(one[:, None] - other[None], axis=2)
        here, there = (np.full(len(text), 1 / len(text)) for text in (one, other))
        return float(self._transport(here, there, costs))


def _each(vectors: Tensor, lengths: Tensor) -> list[Floats]:
    """[words, d] → [its words, d] of each text"""
    texts = torch.split(vectors.detach().cpu().double(), lengths.tolist())
    return [text.numpy() for text in texts]


def _build(settings: RankerSettings, vectors: nn.Module) -> nn.Module:
    assert isinstance(vectors, StaticVectors)
    return DocumentRanker(WordMovers(vectors), Score())


_READING = WordReading(features="none", stop_words=False)
KINDS = {"wmd": Kind("WMD", "Mohan et al. 2017", "titles", _build, reading=_READING, training=None)}
