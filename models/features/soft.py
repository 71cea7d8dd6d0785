"""Soft term matches: how similar a text unit's word pieces are to each of the question's.

The simplest form of what PDRMM pools from its matrix of cosines (McDonald et al. 2018, Section 4.3) that
helps: for each question piece the cosine of the closest piece, averaged by IDF. The pieces' vectors are
distilled from a sentence encoder, so that "kidney" finds "renal", which no stem does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from bioqa.models.arrays import Floats, Ints, concatenate
from bioqa.models.features.matching import weighted_sums
from bioqa.models.text.pieces import WordPieces
from bioqa.models.text.tokens import TokenisedDocument, TokenisedQuestion

SOFT_SENTENCE_FEATURES = (
    "soft_share",
    "soft_cubic_share",
    "soft_share_below_best",
    "soft_cubic_share_below_best",
)
SOFT_DOCUMENT_FEATURES = (
    "soft_share",
    "soft_cubic_share",
    "title_soft_share",
    "title_soft_cubic_share",
)


_POWERS = (1, 3)


@dataclass(frozen=True, slots=True)
class SoftMatches:
    closest: Floats
    """[question pieces, units] the highest cosine of a piece of the unit, at least 0; 0 for an empty unit."""
    weights: Floats
    """[question pieces] shares of their IDF; they sum to 1."""

    def shares(self, power: int = 1) -> Floats:
        """[units] Weighted mean of the cosines to this power: the higher, the less weak likeness counts."""
        return weighted_sums(self.weights, self.closest**power)


def soft_features(
    question: TokenisedQuestion, documents: Sequence[TokenisedDocument], vocabulary: WordPieces
) -> tuple[Floats, Floats]:
    """[documents, 4] and [sentences of all, 4]; below the best: of the same document, so at most 0."""
    sizes = np.array([len(d.piece_counts) for d in documents], dtype=np.int64)
    pieces, counts = (concatenate(getattr(d, name) for d in documents) for name in ("pieces", "piece_counts"))
    titles = np.concatenate([np.empty(0, dtype=np.bool_), *(d.titles for d in documents)])
    of_sentences = soft_match(question.pieces, pieces, counts, vocabulary)
    of_titles = SoftMatches(of_sentences.closest * titles, of_sentences.weights)
    shares = [of_sentences.shares(power) for power in _POWERS]
    owner = np.repeat(np.arange(len(documents)), sizes)
    best = np.zeros((len(_POWERS), len(documents)), dtype=np.float32)
    for row, values in zip(best, shares, strict=True):
        np.maximum.at(row, owner, values)
    by_document = [closest_of(matches, sizes) for matches in (of_sentences, of_titles)]
    return (
        np.stack([matches.shares(power) for matches in by_document for power in _POWERS], axis=1),
        np.stack([*shares, *(values - row[owner] for values, row in zip(shares, best, strict=True))], axis=1),
    )


def soft_match(question: Ints, pieces: Ints, counts: Ints, vocabulary: WordPieces) -> SoftMatches:
    """``question``: its distinct pieces; ``pieces``: those of packed units, ``counts`` [units] of each."""
    closest = np.zeros((len(question), len(counts)), dtype=np.float32)
    filled = counts > 0
    if len(question) and filled.any():
        cosines, rows = _cosines(question, pieces, vocabulary)
        starts = (np.cumsum(counts) - counts)[filled]
        # One piece of the question after the other: all at once would need a row of every occurrence in
        # memory, 216 MB for 180 pieces and 1,000 candidates, and four times as long.
        for row, of_piece in zip(closest, cosines.T.copy(), strict=True):
            row[filled] = np.maximum(np.maximum.reduceat(of_piece.take(rows), starts), 0)
    weights = vocabulary.idf[question]
    return SoftMatches(closest, weights / max(float(weights.sum()), 1e-6))


FEW = 64
"""So many different pieces, or one that is asked for, are multiplied otherwise, with other last digits."""


def _cosines(question: Ints, pieces: Ints, vocabulary: WordPieces) -> tuple[Floats, Ints]:
    """[rows, asked] and [pieces] the row of each piece.

    Once for each different piece: there are ten times as many occurrences in the candidates. A piece's cosine
    is the same whichever others there are, as it is if the whole vocabulary is multiplied.
    """
    vectors = vocabulary.vectors
    of_question = torch.from_numpy(vectors[question]).T
    is_there = np.zeros(len(vectors), dtype=np.bool_)
    is_there[pieces] = True
    different = np.flatnonzero(is_there)
    if len(question) == 1 or len(different) < FEW:
        return (torch.from_numpy(vectors) @ of_question).numpy(), pieces
    rows = np.empty(len(vectors), dtype=np.int64)
    rows[different] = np.arange(len(different))
    return (torch.from_numpy(vectors[different]) @ of_question).numpy(), rows.take(pieces)


def closest_of(matches: SoftMatches, sizes: Ints) -> SoftMatches:
    """The same for groups of consecutive units, such as a document's sentences; ``sizes`` [groups]."""
    closest = np.zeros((len(matches.closest), len(sizes)), dtype=np.float32)
    filled = sizes > 0
    if filled.any():
        starts = (np.cumsum(sizes) - sizes)[filled]
        closest[:, filled] = np.maximum.reduceat(matches.closest, starts, axis=1)
    return SoftMatches(closest, matches.weights)
