"""How packed text units match a question: counts of its terms and bigrams, and BM25 of the counts."""

from dataclasses import dataclass

import numpy as np

from bioqa.models.arrays import Booleans, Floats, Ints


@dataclass(frozen=True, slots=True)
class Matches:
    """How text units match a question: the distinct question terms' counts and bigrams, unit by unit."""

    counts: Floats
    """[distinct terms, units]"""
    bigrams: Floats
    """[units] distinct question bigrams in the unit."""
    distinct: Ints
    distinct_bigrams: int


@dataclass(frozen=True, slots=True)
class PairMatches:
    """Where the question's terms are among packed ids: for units of any size."""

    terms: Ints
    """Terms of the question, in its order."""
    distinct: Ints
    places: Ints
    """Places of the ids that are terms of the question."""
    which: Ints
    """[places] which of the distinct terms it is."""

    def in_units(self, lengths: Ints) -> Matches:
        """Count terms and bigrams in units of these lengths."""
        width, units = len(self.distinct), len(lengths)
        unit = np.searchsorted(np.cumsum(lengths), self.places, side="right")
        counts = np.bincount(self.which * units + unit, minlength=width * units)
        # A bigram of the question can only be where two of its terms are adjacent within one unit.
        pairs = np.flatnonzero((np.diff(self.places) == 1) & (np.diff(unit) == 0))
        pair_ids = self.which[pairs] * width + self.which[pairs + 1]
        positions = np.searchsorted(self.distinct, self.terms)
        wanted = np.unique(positions[:-1] * width + positions[1:])
        is_wanted = np.isin(pair_ids, wanted)
        occurrences = np.unique(unit[pairs[is_wanted]] * width * width + pair_ids[is_wanted])
        bigrams = np.bincount(occurrences // max(width * width, 1), minlength=units)
        return Matches(
            counts.reshape(width, units).astype(np.float32),
            bigrams.astype(np.float32),
            self.distinct,
            len(wanted),
        )


def find(terms: Ints, ids: Ints) -> PairMatches:
    """Find the question's terms among packed ids."""
    distinct = np.unique(terms)
    places = np.flatnonzero(np.isin(ids, distinct))
    return PairMatches(terms, distinct, places, np.searchsorted(distinct, ids[places]))


def match(terms: Ints, ids: Ints, lengths: Ints) -> Matches:
    """Count the question's distinct terms and bigrams in packed units."""
    return find(terms, ids).in_units(lengths)


def weighted_sums(weights: Floats, rows: Floats | Booleans) -> Floats:
    """[terms] · [terms, units] → [units].

    Not with ``@``: BLAS threads busy-wait for a while after it, on the cores that torch needs next.
    """
    sums: Floats = np.einsum("t,tu->u", weights, rows)
    return sums


def bm25_scores(counts: Floats, lengths: Ints, idf: Floats, mean: float, k1: float, b: float) -> Floats:
    """Okapi BM25 of each unit; ``counts`` [terms, units] may be relative frequencies."""
    norm = k1 * (1 - b + b * lengths / max(mean, 1e-6))
    return weighted_sums(idf, counts * (k1 + 1) / (counts + np.maximum(norm, 1e-6)))
