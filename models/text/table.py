"""A hash table in numpy: numbers of strings, looked up for many strings at once.

With a dict, most of the time goes into making and looking up an object for each string of a text.
"""

from secrets import randbits

import numpy as np
import numpy.typing as npt

from bioqa.models.arrays import Ints
from bioqa.models.text.splitting import Keys

UNKNOWN = -1


class Table:
    """Keys have the numbers 0, 1, … in the order in which they were added.

    Keys are compared in full, so that no two strings are ever taken for one. The hash is multiplicative, with
    random factors, so that no one can prepare strings that collide. Collisions take the next free slot.
    """

    def __init__(self) -> None:
        # Odd, so that no bit is lost.
        self._factors = np.array([randbits(64) | 1, randbits(64) | 1], dtype=np.uint64)
        self._count = 0
        self._keys: Keys = np.zeros((1 << 9, 2), dtype=np.uint64)
        self._slots = self._empty(1 << 10)

    def __len__(self) -> int:
        return self._count

    def find(self, keys: Keys) -> Ints:
        """[keys] the number of each, or UNKNOWN."""
        slots = self._first_slots(keys)
        numbers = self._slots.take(slots)
        waiting = np.flatnonzero(self._taken_by_others(numbers, keys))
        while len(waiting):
            slots[waiting] = self._next(slots[waiting])
            numbers[waiting] = self._slots[slots[waiting]]
            waiting = waiting[self._taken_by_others(numbers[waiting], keys[waiting])]
        return numbers

    def add(self, keys: Keys) -> None:
        """Number keys that are not in the table, each different from the others."""
        begin, self._count = self._count, self._count + len(keys)
        if self._count > len(self._keys):
            larger = np.zeros((2 * self._count, 2), dtype=np.uint64)
            larger[:begin] = self._keys[:begin]
            self._keys = larger
        self._keys[begin : self._count] = keys
        # At most half full, so that a key is one or two slots from where it belongs.
        if 2 * self._count > len(self._slots):
            self._slots = self._empty(1 << (4 * self._count).bit_length())
            begin = 0
        self._place(np.arange(begin, self._count))

    def _empty(self, size: int) -> Ints:
        self._shift = np.uint64(65 - size.bit_length())
        return np.full(size, UNKNOWN, dtype=np.int64)

    def _first_slots(self, keys: Keys) -> Ints:
        mixed = keys[:, 0] * self._factors[0]
        mixed += keys[:, 1] * self._factors[1]
        # The highest bits: they depend on all bits of the key.
        mixed >>= self._shift
        slots: Ints = mixed.view(np.int64)
        return slots

    def _next(self, slots: Ints) -> Ints:
        return (slots + 1) & (len(self._slots) - 1)

    def _taken_by_others(self, numbers: Ints, keys: Keys) -> npt.NDArray[np.bool_]:
        held = self._keys.take(numbers, axis=0, mode="wrap")
        different = (held[:, 0] != keys[:, 0]) | (held[:, 1] != keys[:, 1])
        taken: npt.NDArray[np.bool_] = different & (numbers != UNKNOWN)
        return taken

    def _place(self, numbers: Ints) -> None:
        slots = self._first_slots(self._keys[numbers])
        while len(numbers):
            free = self._slots[slots] == UNKNOWN
            # Of several keys for one slot, one is written last and keeps it.
            self._slots[slots[free]] = numbers[free]
            left = self._slots[slots] != numbers
            numbers, slots = numbers[left], self._next(slots[left])
