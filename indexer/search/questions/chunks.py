"""The words of a question, their parts, and the ways to write and to join these."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

from bioqa.indexer.search.spelling import spelt_otherwise
from bioqa.indexer.search.stopwords import STOP_WORDS
from bioqa.system.characters import GREEK, GREEK_NAMES

MAX_PARTS = 5
"""Parts of a hyphened word that are joined in all ways, of which there are 2 to the power of the parts less
one; a word with more parts is taken as it is."""

MOST_SPELLINGS = 8
"""Spellings of several parts together: each part multiplies them."""

_STOP = frozenset(STOP_WORDS)
_CHUNK = re.compile(r"(?!(?<=[^\W\d_]')s\b)[^\W_]+(?:-[^\W_]+)*")
"""Without the s of a possessive, which is no word of its own."""
_CAPITALS = re.compile("(?!AND|OR|NOT)[A-Z]{2,4}")
"""A short word in capitals, but no operator."""
_PART = re.compile(r"[Ͱ-Ͽ]|[^\W_Ͱ-Ͽ]+")
_JOINED = re.compile(rf"([A-Za-z]{{2,}})([0-9]{{1,4}})|([A-Z]{{2}}[A-Z0-9]*)({'|'.join(GREEK)})")


@dataclass(slots=True)
class Chunk:
    """A word of the question, perhaps with hyphens."""

    text: str
    begin: int
    end: int
    parts: tuple[str, ...] = field(init=False)
    stop: bool = field(init=False)
    """Whether it is a stop word."""

    def __post_init__(self) -> None:
        self.parts = tuple(_parts(self.text))
        self.stop = self.text.lower() in _STOP


def cut(text: str) -> list[Chunk]:
    """Cut a text into its words."""
    chunks = [Chunk(match.group(), match.start(), match.end()) for match in _CHUNK.finditer(text)]
    if not text.isupper():
        # "Treatment of ALL" in capitals means leukaemia.
        for chunk in chunks[1:]:
            chunk.stop &= not _CAPITALS.fullmatch(chunk.text)
    return chunks


def _parts(chunk: str) -> Iterator[str]:
    """ "TNFα" and "TNF-α" have two parts, as have "IL6" and "IL-6"."""
    for text in chunk.split("-"):
        for part in _PART.findall(text):
            joined = _JOINED.fullmatch(part)
            yield from filter(None, joined.groups()) if joined else (part,)


def spellings(part: str) -> list[str]:
    """The part itself first, then other ways to write it, some of which may be no words."""
    lower = part.lower()
    ways = [part, *spelt_otherwise(lower)]
    if letter_or_name := GREEK.get(lower) or GREEK_NAMES.get(lower):
        ways.append(letter_or_name)
    return ways


def joins(parts: Sequence[str]) -> Iterator[tuple[tuple[str, ...], ...]]:
    """All ways to join neighbouring parts; the first joins none, the last all."""
    for joined_to_last in product((False, True), repeat=len(parts) - 1):
        runs = [[parts[0]]]
        for part, joined in zip(parts[1:], joined_to_last, strict=True):
            if joined:
                runs[-1].append(part)
            else:
                runs.append([part])
        yield tuple(map(tuple, runs))


def run_spellings(run: Sequence[str]) -> list[str]:
    """One word of several parts, each in all its spellings."""
    if len(run) == 1:
        return spellings(run[0])
    return ["".join(texts) for texts in islice(product(*map(spellings, run)), MOST_SPELLINGS)]
