"""Words that go on being new, as they do in a growing collection."""

import random
import re
from array import array
from collections import Counter

WORD = re.compile(r"[^\W_]+")

DISCOUNT = 0.51
"""By what power of the number of words the number of different words grows (Heaps' law): on 1,000 to 40,000
citations of MEDLINE."""

SEEN_OFTEN = 100
"""A word that came so often in the given texts is never replaced: too seldom to matter."""


class Vocabulary:
    """A Pitman-Yor process that goes on from the counts of given texts, with concentration 0.

    Drawing sentences of given texts again and again would make no word new and all the rare ones frequent. In
    the process, a word seen ``c`` times comes next with probability (c - d)/n instead of c/n, d being the
    discount, and so one place in ``c/d`` where it stands goes to a word that the given texts lack. These make
    up a process of their own with the same discount, of which ``draw`` gives the next word: one drawn before,
    the more likely the more often it was, or one never seen. So the number of different words follows Heaps'
    law beyond the given texts, and as large a share as before comes only once.
    """

    def __init__(self, counts: Counter[str], seed: int = 0) -> None:
        self.known = len(counts)
        self.minted = 0
        self._counts = counts
        # What new words are made of.
        self._models = [word for word, count in counts.items() if count == 1] or ["word"]
        self._concentration = DISCOUNT * len(counts)
        self._drawn = array("I")
        self._first = bytearray()
        """Of each word drawn: which one, and if it was new."""
        self._random = random.Random(seed)

    def replaceable(self, text: str) -> tuple[tuple[int, int, float], ...]:
        """Begin and end of words that may be replaced, each with its probability."""
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
        """One drawn before, in proportion to how often, less the discount."""
        while True:
            place = self._random.randrange(len(self._drawn))
            if not self._first[place] or self._random.random() >= DISCOUNT:
                return self._drawn[place]

    def _word(self, which: int) -> str:
        """The beginning of one rare word and the end of another, or other digits in a word that has some."""
        models = self._models
        head = models[which % len(models)]
        turn = which // len(models)
        if any(map(str.isdigit, head)):
            digits = f"{which * 2654435761 % 1_000_003}"
            return re.sub(r"\d+", digits[: max(3, len(digits) - turn % 3)], head, count=1)
        tail = models[(which * 2654435761 + turn) % len(models)]
        return head[: max(3, len(head) // 2)] + tail[len(tail) // 2 :]
