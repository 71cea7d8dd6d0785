"""Cut many texts at white space at once, in numpy, without an object for each string.

Strings stay bytes (UTF-8) within one buffer. Most have at most 16 of them, so that two numbers are an exact
copy, which can be compared and looked up for all strings of a hundred documents together (``table.py``).
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bioqa.models.arrays import Ints

KEY_BYTES = 16
"""Length of the longest string that has a key: 99 of 100 in MEDLINE."""

Keys = npt.NDArray[np.uint64]
"""[strings, 2] the bytes of each string, followed by zeros."""

_OTHER_SPACES = re.compile("[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
"""The white space outside ASCII at which ``str.split`` cuts."""

_IN_STRINGS = bytes(not (byte == 0 or (byte < 128 and chr(byte).isspace())) for byte in range(256))
"""1 for each byte that is part of strings: all except ASCII's white space, and 0, which ends texts."""

_PARTS = np.array(
    [[(1 << 8 * min(max(length - begin, 0), 8)) - 1 for begin in (0, 8)] for length in range(KEY_BYTES + 1)],
    dtype=np.uint64,
)
"""[length, 2] masks of the bytes that are of a string of this length."""


class Strings(NamedTuple):
    """The strings between the white space of several texts, in turn."""

    buffer: bytes
    """All texts; ``KEY_BYTES`` zeros are behind the last."""
    starts: Ints
    """Where each string begins in the buffer."""
    lengths: Ints
    """In bytes."""
    counts: Ints
    """[texts] strings of each"""

    def keys(self) -> Keys:
        """The strings as numbers; of longer ones, the first bytes."""
        at_each_byte: npt.NDArray[np.void] = np.ndarray(
            len(self.buffer) - KEY_BYTES + 1, f"V{KEY_BYTES}", self.buffer, strides=(1,)
        )
        # As they lie in memory: what the numbers are does not matter, as long as the masks fit.
        keys: Keys = at_each_byte[self.starts].view("<u8").reshape(-1, 2).astype(np.uint64, copy=False)
        keys &= _PARTS.take(np.minimum(self.lengths, KEY_BYTES), axis=0)
        return keys

    def texts(self, places: Ints) -> list[str]:
        """Some of the strings."""
        begins = self.starts[places]
        return [
            self.buffer[begin:end].decode("utf-8", "surrogatepass")
            for begin, end in zip(begins.tolist(), (begins + self.lengths[places]).tolist(), strict=True)
        ]


def split(texts: Sequence[str]) -> Strings:
    """Like ``str.split`` for each text, if NUL were white space."""
    encoded = [
        text.encode() if text.isascii() else _OTHER_SPACES.sub(" ", text).encode("utf-8", "surrogatepass")
        for text in texts
    ]
    buffer = b" ".join([*encoded, bytes(KEY_BYTES)])
    inside = np.frombuffer(b"\0" + buffer.translate(_IN_STRINGS), dtype=np.bool_)
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts = edges[::2]
    ends = np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)) + 1)
    counts = np.diff(np.searchsorted(starts, ends), prepend=0)
    return Strings(buffer, starts, edges[1::2] - starts, counts)
