"""Tokens of a document in a few hundred bytes, and a hundred such records as arrays in half a millisecond.

What tokenising makes of a string between white space (``strings.py``), such as "(cells)," or "IL-2", is one
number, of 16 bits, into a dictionary. The dictionary begins with the vocabulary's words and learns what else
recurs; what is not in it (nearly always an unknown word, or a number) is written in the record itself. Stored
apart, the ids of words, stems and pieces of a document would take three times as much.
"""

import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bioqa.bioasq.domain import Document
from bioqa.models.arrays import Ints, concatenate
from bioqa.models.text.splitting import split
from bioqa.models.text.strings import KnownStrings, Runs
from bioqa.models.text.tokens import TokenisedDocument, cut
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.system.errors import BioqaError

UNIT = np.dtype("<u2")
"""All that records are made of."""

MOST_OWN = 1024
"""Different strings outside the dictionary that a record may have."""

MOST_KNOWN = (1 << 16) - MOST_OWN
"""Size of a full dictionary; higher numbers are the record's own strings."""

MOST_OF_VOCABULARY = 56_000
"""Words that a dictionary begins with: there is always room to learn what is frequent in the collection."""

OFTEN = 16
"""A string that was seen so many times is learned. If fewer were enough, the first citations, which are old
ones, would fill the dictionary."""

MOST_COUNTED = 500_000
"""Strings counted at a time, to be learned."""

HEAD = 6
"""The numbers of sentences, title sentences, own strings, and of these strings' words, stems and pieces."""

MOST_WORDS, MOST_STEMS, MOST_PIECES = 3, 63, 255
"""Of one string of a record or dictionary: their counts share a unit."""

WIDE = 3
"""Units of an id of a word or stem: negative ones have 33 bits."""


class StringIds(NamedTuple):
    """What tokenising makes of one string."""

    words: tuple[int, ...]
    stems: tuple[int, ...]
    pieces: tuple[int, ...]


Kinds = tuple[Runs, Runs, Runs]
"""Words, stems and pieces."""


def runs_of(strings: Sequence[StringIds]) -> Kinds:
    """The ids of strings, one run for each."""
    words, stems, pieces = (_runs([string[kind] for string in strings]) for kind in range(3))
    return words, stems, pieces


def strings_of(kinds: Kinds) -> list[StringIds]:
    """The inverse of ``runs_of``."""
    of_kinds = []
    for runs in kinds:
        ids = runs.ids.tolist()
        ends = np.cumsum(runs.counts).tolist()
        of_kinds.append([tuple(ids[begin:end]) for begin, end in pairwise([0, *ends])])
    return [StringIds(*ids) for ids in zip(*of_kinds, strict=True)]


def runs_from(ids: Ints, counts: Ints) -> Runs:
    """Runs that lie one behind the other."""
    return Runs(ids, np.cumsum(counts) - counts, counts)


def _runs(ids: Sequence[Sequence[int]]) -> Runs:
    joined = np.array([each for some in ids for each in some], dtype=np.int64)
    return runs_from(joined, np.fromiter(map(len, ids), dtype=np.int64, count=len(ids)))


class _Own(NamedTuple):
    """What is written of a string into the records that have it."""

    counts: int
    """Of its words, stems and pieces."""
    words: bytes
    stems: bytes
    pieces: bytes

    @classmethod
    def of(cls, ids: StringIds) -> "_Own | None":
        words, stems, pieces = map(len, ids)
        if words > MOST_WORDS or stems > MOST_STEMS or pieces > MOST_PIECES:
            return None
        of_words, of_stems = (
            b"".join(struct.pack("<q", each)[: 2 * WIDE] for each in some) for some in (ids.words, ids.stems)
        )
        counts = words | stems << 2 | pieces << 8
        return cls(counts, of_words, of_stems, struct.pack(f"<{pieces}H", *ids.pieces))


class Writer:
    """Makes records, with a dictionary that grows. Not for several threads."""

    def __init__(self, vocabulary: Vocabulary, dictionary: Iterable[StringIds] = ()) -> None:
        """``dictionary``: of the records that the new ones will lie beside; of none, it begins anew."""
        if vocabulary.pieces is not None and len(vocabulary.pieces.names) > 1 << 16:
            raise BioqaError(f"tokens of {len(vocabulary.pieces.names):,} word pieces cannot be stored")
        self._known = KnownStrings(vocabulary)
        self._begun = 0
        self._dictionary = {ids: number for number, ids in enumerate(dictionary)}
        self._counts: Counter[StringIds] = Counter()
        if not self._dictionary:
            # What punctuation alone makes.
            self._dictionary[StringIds((), (), ())] = 0
            places, *runs = self._known(split(vocabulary.words[:MOST_OF_VOCABULARY]))
            for ids in _at(np.unique(places), runs):
                if _Own.of(ids):
                    self._dictionary.setdefault(ids, len(self._dictionary))

    @property
    def dictionary(self) -> list[StringIds]:
        return [*self._dictionary]

    def __call__(self, documents: Sequence[Document]) -> list[bytes | None]:
        """A record for each; None for a document that does not fit, as hardly any does."""
        texts = [text for document in documents for text in document.sentence_texts()]
        strings = split(texts)
        places, *runs = self._known(strings)
        self._learn(places, runs)
        characters = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        sizes = np.array([document.sentence_count for document in documents], dtype=np.int64)
        unit_ends = np.cumsum(sizes)
        string_ends = np.concatenate([[0], np.cumsum(strings.counts)])[unit_ends]
        numbers = self._numbers[places]
        return [
            self._record(
                document.title_sentences,
                strings.counts[unit_end - size : unit_end],
                characters[unit_end - size : unit_end],
                places[begin:end],
                numbers[begin:end],
            )
            for document, size, unit_end, (begin, end) in zip(
                documents,
                sizes.tolist(),
                unit_ends.tolist(),
                pairwise([0, *string_ends.tolist()]),
                strict=True,
            )
        ]

    def _learn(self, places: Ints, runs: Sequence[Runs]) -> None:
        """Number the strings; those that were seen often enough are new in the dictionary."""
        if self._known.begun != self._begun:
            self._begun = self._known.begun
            self._numbers: Ints = np.empty(0, dtype=np.int64)
            """Of the known strings: in the dictionary, or -1."""
            self._ids: dict[int, StringIds] = {}
            """Of known strings that are not in the dictionary."""
            self._own: dict[int, _Own | None] = {}
            """The same as they are written."""
        begin, end = len(self._numbers), len(runs[0].counts)
        new = np.arange(begin, end)
        numbers = []
        for place, ids in zip(new.tolist(), _at(new, runs), strict=True):
            number = self._dictionary.get(ids, -1)
            numbers.append(number)
            if number < 0:
                self._ids[place], self._own[place] = ids, _Own.of(ids)
        self._numbers = np.concatenate([self._numbers, np.array(numbers, dtype=np.int64)])
        if len(self._dictionary) == MOST_KNOWN:
            return
        others, counts = np.unique(places[self._numbers[places] < 0], return_counts=True)
        for place, count in zip(others.tolist(), counts.tolist(), strict=True):
            ids = self._ids[place]
            self._counts[ids] += count
            if self._counts[ids] >= OFTEN and self._own[place] and len(self._dictionary) < MOST_KNOWN:
                self._numbers[place] = self._dictionary.setdefault(ids, len(self._dictionary))
        if len(self._counts) > MOST_COUNTED:
            self._counts.clear()

    def _record(
        self, titles: int, counts: Ints, characters: Ints, places: Ints, numbers: Ints
    ) -> bytes | None:
        others = np.flatnonzero(numbers < 0)
        of_others = places[others].tolist()
        which = {place: number for number, place in enumerate(dict.fromkeys(of_others), MOST_KNOWN)}
        numbers[others] = [which[place] for place in of_others]
        own = [self._own[place] for place in which]
        written = [each for each in own if each is not None]
        widths = 2 * WIDE, 2 * WIDE, UNIT.itemsize
        ids = [b"".join(some) for some in zip(*(each[1:] for each in written), strict=True)] or [b""] * 3
        lengths = [len(some) // width for some, width in zip(ids, widths, strict=True)]
        head = [len(counts), titles, len(own), *lengths]
        most = max(*head, int(counts.max(initial=0)), int(characters.max(initial=0)))
        if len(written) < len(own) or len(own) > MOST_OWN or most >= 1 << 16:
            return None
        numbered = np.concatenate([head, counts, characters, [each.counts for each in written]])
        return b"".join((numbered.astype(UNIT).tobytes(), *ids, numbers.astype(UNIT).tobytes()))


def _at(places: Ints, runs: Sequence[Runs]) -> list[StringIds]:
    """The ids of strings at these places of the runs of all known ones."""
    of_kinds = []
    for kind in runs:
        ids, ends = kind.of(places)
        all_ids = ids.tolist()
        of_kinds.append([tuple(all_ids[begin:end]) for begin, end in pairwise([0, *ends.tolist()])])
    return [StringIds(*ids) for ids in zip(*of_kinds, strict=True)]


def _narrow(units: Ints) -> Ints:
    """Ids of ``WIDE`` units each."""
    low, middle, high = units.reshape(-1, WIDE).T
    # The highest bit is the sign's.
    return low | middle << 16 | (high ^ 0x8000) - 0x8000 << 32


def read(
    records: Sequence[bytes | memoryview], dictionary: Kinds, *, pieces: bool
) -> list[TokenisedDocument]:
    """The tokens of documents, with or without their word pieces.

    The arrays are views: a document's keep all others' in memory.
    """
    units = np.frombuffer(b"".join(records), UNIT)
    sizes = np.fromiter(map(len, records), dtype=np.int64, count=len(records)) // UNIT.itemsize
    begins = np.cumsum(sizes) - sizes
    heads = units[begins[:, None] + np.arange(HEAD)].astype(np.int64)
    sentences, titles, own, *of_own = heads.T
    begins += HEAD
    parts = []
    for lengths in (sentences, sentences, own, WIDE * of_own[0], WIDE * of_own[1], of_own[2]):
        parts.append(_taken(units, begins, lengths))
        begins = begins + lengths
    strings, characters, shared, words, stems, own_pieces = parts
    lengths = np.cumsum(sizes) - begins
    numbers = _taken(units, begins, lengths)
    others = np.flatnonzero(numbers >= MOST_KNOWN)
    # Each record counts its own strings from the first.
    moved = np.repeat(np.cumsum(own) - own - MOST_KNOWN, lengths)
    which = numbers[others] + moved[others]
    of_records = (
        runs_from(_narrow(words), shared & MOST_WORDS),
        runs_from(_narrow(stems), shared >> 2 & MOST_STEMS),
        runs_from(own_pieces, shared >> 8),
    )
    joined = [
        _joined(numbers, known, others, which, more)
        for known, more in zip(dictionary[: 2 + pieces], of_records[: 2 + pieces], strict=True)
    ]
    if not pieces:
        joined.append((np.empty(0, dtype=np.int64), np.zeros(len(numbers), dtype=np.int64)))
    return cut(joined, strings, characters, sentences, titles)


def _taken(units: npt.NDArray[Any], begins: Ints, lengths: Ints) -> Ints:
    """Some units of each record, joined."""
    ends = begins + lengths
    return concatenate(units[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True))


def _joined(numbers: Ints, known: Runs, others: Ints, which: Ints, more: Runs) -> tuple[Ints, Ints]:
    """``Runs.of`` for the ids in the dictionary, and in the records for the ``others`` of the strings.

    The dictionary is not copied for it.
    """
    counts = known.counts.take(numbers, mode="clip")
    starts = known.starts.take(numbers, mode="clip")
    counts[others] = more.counts[which]
    starts[others] = len(known.ids) + more.starts[which]
    ends = np.cumsum(counts)
    places = np.repeat(starts - (ends - counts), counts)
    places += np.arange(len(places))
    # Nothing can be taken from an empty array.
    ids = known.ids.take(places, mode="clip") if len(known.ids) else np.zeros_like(places)
    beyond = np.flatnonzero(places >= len(known.ids))
    ids[beyond] = more.ids[places[beyond] - len(known.ids)]
    return ids, ends
