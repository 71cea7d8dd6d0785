"""Frozen word vectors, and what rankers compute of them: similarities and weights of terms."""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.settings import UnknownWords


class StaticVectors(nn.Module):
    """Frozen word vectors [V, dimensions]; not saved with the weights, as the vocabulary holds them."""

    table: Tensor
    unknown: Tensor

    def __init__(self, vectors: Tensor, unknown_words: UnknownWords = "drop") -> None:
        super().__init__()
        self.register_buffer("table", vectors, persistent=False)
        self.register_buffer("unknown", _unknown(vectors, unknown_words), persistent=False)
        self.dimensions = vectors.shape[1]

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Vectors of the questions' terms [terms, dimensions] and of the units' words [words, dimensions]."""
        return self._of(batch.questions[batch.mask]), self._of(batch.words)

    def _of(self, words: Tensor) -> Tensor:
        unknown = words < 0
        if not unknown.any():
            return self.table[words]
        return torch.where(unknown[:, None], self.unknown, self.table[words.clamp(min=0)])


def _unknown(vectors: Tensor, unknown_words: UnknownWords) -> Tensor:
    """[dimensions] The vector of all unknown words, the same whenever a ranker is built."""
    if unknown_words == "mean":
        return vectors.mean(0)
    generator = torch.Generator().manual_seed(0)
    return torch.rand(vectors.shape[1], generator=generator) / 2 - 0.25


def products(batch: Batch, terms: Tensor, words: Tensor) -> Tensor:
    """Dot products of every unit's words [words, width] with its own question's terms [B, n, width]:
    [words, n]."""
    blocks = torch.split(words, list(batch.question_words))
    return torch.cat([block @ of_question.T for block, of_question in zip(blocks, terms, strict=True)])


def cosines(batch: Batch, terms: Tensor, words: Tensor) -> Tensor:
    """As ``products``; 0 where a vector is 0, so where a term is masked too."""
    return products(batch, normalize(terms, dim=2), normalize(words, dim=1))


def exact_matches(batch: Batch) -> Tensor:
    """[words, n] 1 where a word is the term, else 0."""
    terms = batch.questions.masked_fill(~batch.mask, _NO_WORD)
    blocks = torch.split(batch.words, list(batch.question_words))
    equal = [block[:, None] == of_question for block, of_question in zip(blocks, terms, strict=True)]
    return torch.cat(equal).float()


def term_counts(batch: Batch) -> Tensor:
    """[S, n] How often each of its question's terms is in a unit; 0 where masked."""
    matches = exact_matches(batch)
    counts = matches.new_zeros(len(batch.lengths), matches.shape[1])
    return counts.index_add(0, batch.word_unit, matches)


_NO_WORD = torch.iinfo(torch.int64).min
"""Neither a word of the vocabulary nor an unknown one."""


def softmax_over_terms(batch: Batch, logits: Tensor) -> Tensor:
    """[B, n] → [B, n] weights that sum to 1 for each question; 0 where masked."""
    return torch.softmax(logits.masked_fill(~batch.mask, -1e9), dim=1) * batch.mask


class TermGate(nn.Module):
    """Weights of a question's terms: softmax of w·[e; idf] (McDonald et al. 2018, Section 2.1)."""

    def __init__(self, dimensions: int) -> None:
        super().__init__()
        # Without bias, which a softmax would cancel.
        self.layer = nn.Linear(dimensions + 1, 1, bias=False)

    def forward(self, batch: Batch, terms: Tensor) -> Tensor:
        """``terms`` [B, n, dimensions] → [B, n]"""
        logits = self.layer(torch.cat([terms, batch.idf[:, :, None]], dim=2)).squeeze(2)
        return softmax_over_terms(batch, logits)

    def weigh(self, batch: Batch, terms: Tensor, matches: Tensor) -> Tensor:
        """The weighted sums of each unit's ``matches`` [S, n] → [S]"""
        weights: Tensor = self(batch, terms)
        return (matches * weights[batch.unit_question]).sum(1)
