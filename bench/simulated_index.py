"""An index of any size, as far as reading a question sees one: a small real one, with what grows simulated.

Documents with a word grow in proportion. Abbreviations get more long forms by a power law of the number of
citations, fitted on the small index: most of the new ones are in few citations, as Zipf's law has it. Texts
get slips of the pen, which make new words near the right ones.
"""

import random
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from heapq import nlargest
from math import log
from statistics import linear_regression

from bioqa.bioasq.domain import Document
from bioqa.indexer.search.defined import long_key, read, short_key, terms
from bioqa.indexer.search.evidence import MOST_FORMS, Definition, Evidence

FORMS = 0.70
"""Exponent of the number of long forms of an abbreviation by the number of citations."""

SLIPS = 1 / 500
"""Share of the words of five letters or more that are misspelt."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class SimulatedEvidence:
    """``Evidence`` of an index that is ``times`` as large. Counts the searches that an engine makes."""

    def __init__(self, evidence: Evidence, times: float, exponent: float = FORMS) -> None:
        self._evidence = evidence
        self._times = times
        self._exponent = exponent
        self._forms = cache(self._simulate_forms)
        self.searches = 0
        self.engine_s = 0.0
        """Processor time of the real index and of the simulation."""

    def size(self) -> int:
        return round(self._evidence.size() * self._times)

    def counts(self, texts: Sequence[str]) -> list[int]:
        with self._counted(len(texts)):
            return [round(count * self._times) for count in self._evidence.counts(texts)]

    def definitions(self, shorts: Collection[str], longs: Collection[str]) -> list[Definition]:
        with self._counted(len(shorts) + len(longs)):
            keys = [*((key, "") for key in sorted(shorts)), *(("", key) for key in sorted(longs))]
            return [definition for key in keys for definition in self._forms(*key)]

    def fit(self, texts: Sequence[str], context: str) -> list[float]:
        with self._counted(len(texts)):
            return [*self._evidence.fit(texts, context)]

    def near(self, word: str, context: str, size: int) -> list[Document]:
        with self._counted(3):
            return [_with_slips(document) for document in self._evidence.near(word, context, size)]

    def farther(self, word: str, context: str, size: int) -> list[Document]:
        with self._counted(1):
            return [_with_slips(document) for document in self._evidence.farther(word, context, size)]

    @contextmanager
    def _counted(self, searches: int) -> Iterator[None]:
        self.searches += searches
        begun = time.thread_time()
        yield
        self.engine_s += time.thread_time() - begun

    def _simulate_forms(self, short: str, long: str) -> list[Definition]:
        real = [*self._evidence.definitions({short} if short else (), {long} if long else ())]
        if not real:
            return []
        known = [one._replace(documents=round(one.documents * self._times)) for one in real]
        number = round(len(real) * self._times**self._exponent) - len(real)
        new = _invented(real[0], number, by_short=bool(short)) if self._times > 1 else []
        return nlargest(MOST_FORMS, [*known, *new], key=lambda one: (one.documents, one.long))


def _invented(like: Definition, number: int, *, by_short: bool) -> list[Definition]:
    """Definitions of the same abbreviation, or of the same long form; the n-th has 1/n of the first's."""
    letters = random.Random(f"{like.short} {like.long}")
    word = lambda first: first + "".join(letters.choices(LETTERS, k=letters.randrange(4, 10)))  # noqa: E731
    initials = [letter for letter in like.short.lower() if letter.isalpha()] or ["x"]
    return [
        Definition(
            like.short if by_short else f"{like.short}{letters.choice(LETTERS).upper()}{n}",
            " ".join(map(word, initials)) if by_short else like.long,
            max(1, number // (n + 1)),
        )
        for n in range(number)
    ]


def _with_slips(document: Document) -> Document:
    slips = random.Random(document.pmid)
    words = [
        _slip(word, slips) if len(word) > 4 and slips.random() < SLIPS else word
        for word in document.abstract.split(" ")
    ]
    return replace(document, abstract=" ".join(words), sentences=(), parts=())


def _slip(word: str, slips: random.Random) -> str:
    at = slips.randrange(1, len(word))
    return word[:at] + slips.choice(LETTERS) + word[at + slips.randrange(2) :]


def fit_exponent(documents: Iterable[Document], abbreviations: int = 50) -> float:
    """The exponent of the number of long forms, from an eighth, a quarter, a half and all of some documents:
    the mean over the abbreviations with the most forms."""
    parts = [8, 4, 2, 1]
    forms: list[dict[str, set[str]]] = [{} for _ in parts]
    number = 0
    for document in documents:
        number += 1
        for term in terms(document.title, document.abstract):
            definition = read(term, 1)
            if definition is not None and term.startswith("s:"):
                for part, of_part in zip(parts, forms, strict=True):
                    if int(document.pmid) % part == 0:
                        of_part.setdefault(short_key(definition.short), set()).add(long_key(definition.long))
    most = Counter({short: len(longs) for short, longs in forms[-1].items()}).most_common(abbreviations)
    sums = [sum(len(of_part.get(short, ())) for short, _ in most) for of_part in forms]
    sizes = [log(number / part) for part in parts]
    return linear_regression(sizes, [log(max(1, total)) for total in sums]).slope
