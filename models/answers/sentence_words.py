"""The words of sentences, for what is learned of whole sentences: tense, numbers and signs count."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bioqa.models.arrays import Ints
from bioqa.system.characters import fold

_WORD = re.compile(r"[A-Za-z]+|\d[\d.,]*|[%=<>±]|\0")
_END = "\0"


@dataclass(frozen=True)
class SentenceWords:
    """The words of several sentences, one after the other."""

    words: list[str]
    """Runs of Latin letters as they are written, numbers, and the signs %, =, <, > and ±."""
    lower: list[str]
    """The same in lower case."""
    sentence: Ints
    """[words] of which sentence each is"""
    lengths: Ints
    """[sentences]"""

    @property
    def size(self) -> int:
        return len(self.lengths)

    @classmethod
    def of(cls, texts: Sequence[str]) -> "SentenceWords":
        # In one go, as a call for each sentence would take longer than the search itself.
        joined = _END.join(text.replace(_END, " ") for text in texts)
        parts = _WORD.findall(joined)
        ends = np.array([position for position, word in enumerate(parts) if word == _END], dtype=np.int64)
        lengths = np.diff(np.concatenate([[-1], ends, [len(parts)]])) - 1 if texts else ends
        words = [word for word in parts if word != _END]
        sentence = np.repeat(np.arange(len(texts)), lengths)
        return cls(words, [fold(word.lower()) for word in words], sentence, lengths)

    def some(self, kept: Sequence[bool]) -> "SentenceWords":
        """Those of the sentences that are kept."""
        keep = np.array(kept, dtype=np.bool_)
        chosen = np.flatnonzero(keep[self.sentence]).tolist()
        lengths = self.lengths[keep]
        return SentenceWords(
            [self.words[position] for position in chosen],
            [self.lower[position] for position in chosen],
            np.repeat(np.arange(len(lengths)), lengths),
            lengths,
        )
