"""What to type instead of a name that no record has: the nearest of the names that records do have.

RCT is the initials of "Randomized Controlled Trial"; "Randomised Controlled Trial" and "Sistematic Review"
differ from a name in some letters; "Annals of Internal Medicine" is abbreviated to "Ann Intern Med".
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from rapidfuzz.distance import OSA

from bioqa.indexer.search.filtering.keys import plain
from bioqa.indexer.search.spelling import american

MOST_SUGGESTIONS = 3
LEAST_SIMILARITY = 0.75
"""Share of the letters that two names have in common."""

_SMALL_WORDS = frozenset("a an and for in of on the".split())  # noqa: SIM905
_WORD = re.compile(r"[a-z0-9]+")


def suggest(name: str, counts: Mapping[str, int]) -> tuple[str, ...]:
    """The names that were probably meant, the likeliest first. ``counts``: documents with each name."""
    typed = _plain_words(name)
    fits = ((_fit(typed, _plain_words(other)), other) for other in counts)
    likely = [(fit, other) for fit, other in fits if fit >= LEAST_SIMILARITY]
    likely.sort(key=lambda item: (-item[0], -counts[item[1]], item[1]))
    return tuple(other for _, other in likely[:MOST_SUGGESTIONS])


def _plain_words(name: str) -> list[str]:
    words = [american(word) for word in _WORD.findall(plain(name))]
    return [word for word in words if word not in _SMALL_WORDS] or words


def _fit(typed: list[str], other: list[str]) -> float:
    """How well a name fits what was typed, from 0 to 1."""
    if not typed or not other:
        return 0.0
    joined, name = " ".join(typed), " ".join(other)
    if joined in _short_forms(other) or name in _short_forms(typed):
        return 1.0
    if _abbreviates(other, typed) or _abbreviates(typed, other):
        return 0.95
    # Who types "trial" means one of the names that contain it.
    contained = 0.8 if {*typed} <= {*other} else 0.0
    return max(contained, OSA.normalized_similarity(joined, name))


def _short_forms(words: list[str]) -> Iterator[str]:
    """The initials of several words; also as a plural."""
    if len(words) > 1:
        initials = "".join(word[0] for word in words)
        yield from (initials, f"{initials}s")


def _abbreviates(short: Iterable[str], words: list[str]) -> bool:
    """Whether each word of an abbreviated title stands for the next word of the full one."""
    short = [*short]
    return len(short) > 1 and len(short) <= len(words) and all(map(_stands_for, short, words))


def _stands_for(short: str, word: str) -> bool:
    """ "natl" stands for "national": its letters are in it, in this order, from the first."""
    letters = iter(word)
    return short[0] == word[0] and all(letter in letters for letter in short)
