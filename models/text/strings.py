"""The ids of strings between white space, such as "(IL-2)," or "cells", which texts repeat all the time.

Neither cleaning nor splitting into terms crosses white space, so each distinct string is cleaned, split,
stemmed and looked up once. Texts then need one look-up for each of their strings.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from threading import Lock
from typing import NamedTuple

import numpy as np

from bioqa.models.arrays import Ints
from bioqa.models.text.splitting import KEY_BYTES, Keys, Strings
from bioqa.models.text.table import UNKNOWN, Table
from bioqa.models.text.vocabulary import END_ID, STOP, Vocabulary
from bioqa.models.text.words import END, terms, words

MOST_STRINGS = 200_000
"""Known at a time; with their ids they take about 50 MB. A collection's commoner strings are fewer."""

MOST_CHARACTERS = 20 * MOST_STRINGS
"""Length of all known strings together: one that a client sends may be as long as its request."""


class StringRuns(NamedTuple):
    """Ids of many strings, or units, in turn: a run for each of them."""

    ids: Ints
    starts: Ints
    """Where each run begins among ``ids``."""
    counts: Ints

    def of(self, places: Ints) -> tuple[Ints, Ints]:
        """Join the runs of these strings; returns the ids, and where each string's end among them."""
        # `take` is twice as fast as an index.
        counts = self.counts.take(places)
        ends = np.cumsum(counts)
        # From each id's place in the joined ids to its place here.
        moved = np.repeat(self.starts.take(places) - (ends - counts), counts)
        moved += np.arange(len(moved))
        return self.ids.take(moved), ends


class KnownStrings:
    """The strings seen so far, with the ids of their words, stems and word pieces. Threads may share it.

    When there are too many of them, it begins anew.
    """

    def __init__(self, vocabulary: Vocabulary, most: int = MOST_STRINGS) -> None:
        self._vocabulary = vocabulary
        self._most = most
        self._lock = Lock()
        self.begun = 0
        """How many times it has begun: places are of the same strings as long as this does not change."""
        self._begin()

    def __call__(self, strings: Strings) -> tuple[Ints, StringRuns, StringRuns, StringRuns]:
        """Returns the places of the strings among the runs, and the runs of words, stems and pieces.

        The pieces' runs are empty if the vocabulary has none. Runs stay as they are when strings are added.
        """
        keys = strings.keys()
        with self._lock:
            if len(self._table) > self._most or self._characters > MOST_CHARACTERS:
                self._begin()
            try:
                places = self._places(strings, keys)
            except BaseException:
                # Strings may be in the table that have no runs.
                self._begin()
                raise
            return places, self._words.runs(), self._stems.runs(), self._pieces.runs()

    def _begin(self) -> None:
        self.begun += 1
        self._table = Table()
        self._longer: dict[str, int] = {}
        self._characters = 0
        self._words, self._stems, self._pieces = _Growing(), _Growing(), _Growing()

    def _places(self, strings: Strings, keys: Keys) -> Ints:
        long = np.flatnonzero(strings.lengths > KEY_BYTES)
        for position, text in zip(long.tolist(), strings.texts(long), strict=True):
            # No other key begins with zeros.
            keys[position] = 0, 1 + self._longer.setdefault(text, len(self._longer))
        places = self._table.find(keys)
        unknown = np.flatnonzero(places == UNKNOWN)
        if len(unknown):
            first: dict[str, int] = {}
            for position, text in zip(unknown.tolist(), strings.texts(unknown), strict=True):
                first.setdefault(text, position)
            self._table.add(keys[[*first.values()]])
            places[unknown] = self._table.find(keys[unknown])
            self._add([*first])
        return places

    def _add(self, new: list[str]) -> None:
        # ASCII strings come apart: `words` and `terms` are faster for them. Joined with END marks, so that
        # one call cleans and splits them all.
        order = sorted(range(len(new)), key=lambda position: new[position].isascii())
        others = sum(not string.isascii() for string in new)
        groups = ([new[position] for position in part] for part in (order[:others], order[others:]))
        joined = [f" {END} ".join([*group, ""]) for group in groups]
        values = [*chain.from_iterable(map(terms, joined))]
        vocabulary, pieces = self._vocabulary, self._vocabulary.pieces
        word_ids = map(vocabulary.word_ids.__getitem__, chain.from_iterable(map(words, joined)))
        self._words.add(*_split(word_ids, END_ID), order)
        self._stems.add(*_split(map(vocabulary.term_ids.__getitem__, values), END_ID), order)
        if pieces is None:
            self._pieces.add(np.empty(0, dtype=np.int64), np.zeros(len(new), dtype=np.int64), order)
        else:
            ids = chain.from_iterable(map(pieces.splits.__getitem__, values))
            self._pieces.add(*_split(ids, len(pieces.names)), order)
        self._characters += sum(map(len, new))


class _Growing:
    """Runs that grow: arrays with room to spare, so that adding rarely copies them."""

    def __init__(self) -> None:
        self._ids, self._starts, self._counts = (np.empty(1 << 10, dtype=np.int64) for _ in range(3))
        self._of_ids = self._of_runs = 0

    def add(self, ids: Ints, counts: Ints, order: Sequence[int]) -> None:
        """Add runs that are in another order than the one in which they are numbered."""
        begin, end = self._of_runs, self._of_runs + len(counts)
        self._ids = _with_room(self._ids, self._of_ids, len(ids))
        self._starts = _with_room(self._starts, begin, len(counts))
        self._counts = _with_room(self._counts, begin, len(counts))
        self._ids[self._of_ids : self._of_ids + len(ids)] = ids
        self._starts[begin:end][order] = self._of_ids + np.cumsum(counts) - counts
        self._counts[begin:end][order] = counts
        self._of_ids, self._of_runs = self._of_ids + len(ids), end

    def runs(self) -> StringRuns:
        return StringRuns(
            self._ids[: self._of_ids], self._starts[: self._of_runs], self._counts[: self._of_runs]
        )


def _with_room(array: Ints, used: int, more: int) -> Ints:
    """The array, or a larger copy of it."""
    if used + more <= len(array):
        return array
    larger = np.empty(max(2 * len(array), used + more), dtype=np.int64)
    larger[:used] = array[:used]
    return larger


def _split(ids: Iterable[int], end: int) -> tuple[Ints, Ints]:
    """The ids of all strings without stop words, and the number of ids of each string."""
    values = np.array([*ids], dtype=np.int64)
    values = values[values != STOP]
    ends = np.flatnonzero(values == end)
    return values[values != end], np.diff(ends - np.arange(len(ends)), prepend=0)
