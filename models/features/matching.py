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


def match(terms: Ints, ids: Ints, lengths: Ints) -> Matches:
    """Count the question's distinct terms and bigrams in packed units."""
    distinct = np.unique(terms)
    units = np.repeat(np.arange(len(lengths)), lengths)
    if not len(distinct) or not len(ids):
        empty = np.zeros((len(distinct), len(lengths)), dtype=np.float32)
        return Matches(empty, np.zeros(len(lengths), dtype=np.float32), distinct, _distinct_bigrams(terms))
    at = np.minimum(np.searchsorted(distinct, ids), len(distinct) - 1)
    hits = np.flatnonzero(distinct[at] == ids)
    flat = np.bincount(at[hits] * len(lengths) + units[hits], minlength=len(distinct) * len(lengths))
    counts = flat.reshape(len(distinct), len(lengths)).astype(np.float32)
    # A bigram of the question can only be where two of its terms are adjacent within one unit.
    pairs = np.flatnonzero((np.diff(hits) == 1) & (np.diff(units[hits]) == 0))
    width = len(distinct)
    found = at[hits[pairs]] * width + at[hits[pairs + 1]]
    positions = np.searchsorted(distinct, terms)
    wanted = np.unique(positions[:-1] * width + positions[1:])
    in_question = np.isin(found, wanted)
    occurrences = np.unique(units[hits[pairs[in_question]]] * width * width + found[in_question])
    bigrams = np.bincount(occurrences // (width * width), minlength=len(lengths)).astype(np.float32)
    return Matches(counts, bigrams, distinct, len(wanted))


def _distinct_bigrams(terms: Ints) -> int:
    return len(set(zip(terms[:-1].tolist(), terms[1:].tolist(), strict=True)))


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
