"""New words at the rate at which they appear in a growing collection."""

import random
import re
from array import array
from collections import Counter
from collections.abc import Iterable
from typing import Self

from bioqa.bioasq.domain import Document

WORD = re.compile(r"[^\W_]+")

DISCOUNT = 0.51
"""Exponent of Heaps' law, by which the number of different words grows with that of all words; fitted on
1,000 to 40,000 citations of MEDLINE."""

SEEN_OFTEN = 100
"""A word this frequent in the given texts is never replaced: it would be too rarely to matter."""


class GrowingVocabulary:
    """A Pitman-Yor process that continues from the counts of given texts, with concentration 0.

    Sampling only sentences of the given texts would add no new word and make all rare ones frequent. In the
    process, a word seen ``c`` times comes next with probability (c - d)/n instead of c/n, where d is the
    discount, so one of ``c/d`` occurrences of it is replaced by a word that the given texts lack. These words
    are a process of their own with the same discount, from which ``draw`` takes the next one: a word drawn
    before, with a probability that grows with its count, or a new one. So the number of different words
    follows Heaps' law beyond the given texts, and the share of words that occur once stays the same.
    """

    def __init__(self, counts: Counter[str], seed: int = 0) -> None:
        self.known = len(counts)
        self.minted = 0
        self._counts = counts
        # New words are built from these.
        self._models = [word for word, count in counts.items() if count == 1] or ["word"]
        self._concentration = DISCOUNT * len(counts)
        self._drawn = array("I")
        self._first = bytearray()
        """For each draw: the word's number, and whether it was new."""
        self._random = random.Random(seed)

    @classmethod
    def of(cls, documents: Iterable[Document], seed: int = 0) -> Self:
        """Continuing from the words of documents."""
        return cls(
            Counter(
                word
                for document in documents
                for word in WORD.findall(f"{document.title} {document.abstract}".lower())
            ),
            seed,
        )

    def replaceable(self, text: str) -> tuple[tuple[int, int, float], ...]:
        """Begin and end of words that may be replaced, with the probability of each."""
        found = (
            (match.start(), match.end(), self._counts[match[0].lower()]) for match in WORD.finditer(text)
        )
        return tuple((begin, end, DISCOUNT / max(1, c)) for begin, end, c in found if c < SEEN_OFTEN)

    def draw(self) -> str:
        weight = self._concentration + len(self._drawn)
        new = self._random.random() * weight < self._concentration + DISCOUNT * self.minted
        which = self.minted if new else self._old()
        self.minted += new
        self._drawn.append(which)
        self._first.append(new)
        return self._word(which)

    def _old(self) -> int:
        """A word drawn before, in proportion to its count less the discount."""
        while True:
            place = self._random.randrange(len(self._drawn))
            if not self._first[place] or self._random.random() >= DISCOUNT:
                return self._drawn[place]

    def _word(self, which: int) -> str:
        """The beginning of one rare word with the end of another, or a word with its digits replaced."""
        models = self._models
        head = models[which % len(models)]
        turn = which // len(models)
        if any(map(str.isdigit, head)):
            digits = f"{which * 2654435761 % 1_000_003}"
            return re.sub(r"\d+", digits[: max(3, len(digits) - turn % 3)], head, count=1)
        tail = models[(which * 2654435761 + turn) % len(models)]
        return head[: max(3, len(head) // 2)] + tail[len(tail) // 2 :]
