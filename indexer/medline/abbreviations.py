"""Abbreviations that a text defines: "non-small cell lung cancer (NSCLC)".

A. Schwartz and M. Hearst, A simple algorithm for identifying abbreviation definitions in biomedical text,
Pacific Symposium on Biocomputing 2003: the letters and digits of the abbreviation, from its last to its
first, must be found in the words before the parenthesis, the first one at the beginning of a word.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from bioqa.system.characters import normalise

MAX_CHARACTERS = 120
"""Looked at before the parenthesis."""

_DEFINED = re.compile(r"\(([A-Za-zα-ω][A-Za-z0-9α-ω-]{1,9})[);,]")
_BETWEEN = re.compile(r"[()\[\].;:]")
"""What no long form has."""


class Abbreviation(NamedTuple):
    short: str
    """As written."""
    long: str
    """In lower case."""


def definitions(text: str) -> Iterator[Abbreviation]:
    """Yield the abbreviations that a text defines, in order."""
    if "(" not in text:
        return
    text = normalise(text)
    for match in _DEFINED.finditer(text):
        short = match.group(1)
        if short.islower() or short[-1] == "-":
            continue
        before = text[max(0, match.start() - MAX_CHARACTERS) : match.start()].rstrip().lower()
        long = _long_form(short.lower(), before)
        if (
            len(long) >= len(short) + 2
            and len(long.split()) <= min(len(short) + 5, 2 * len(short))
            and not _BETWEEN.search(long)
        ):
            yield Abbreviation(short, long)


def _long_form(short: str, before: str) -> str:
    """The shortest end of ``before`` that has the characters of ``short`` in order; empty if none has."""
    at = len(before)
    for character in reversed(short.replace("-", "")):
        at = before.rfind(character, 0, at)
        if at < 0:
            return ""
    first = short[0]
    while at > 0 and before[at - 1].isalnum():
        at = before.rfind(first, 0, at)
    return before[at:] if at >= 0 else ""
