"""Words as the rankers see them.

Cleaning is the "bioclean" of the BioASQ word vectors that McDonald et al. 2018 and Pappas and
Androutsopoulos 2021 used: quotes and slashes are deleted (so ``IL-2/TNF-α`` is one word), as is punctuation;
hyphens and everything outside ASCII stay. Latin letters lose their accents, as in retrieval: who types
Sjogren asks for Sjögren.
"""

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache

from bioqa.system.characters import fold
from bioqa.system.english import STOP_WORDS as STOP_WORDS
from bioqa.system.home import pretended_home

with pretended_home():
    from nltk.stem.snowball import EnglishStemmer

_PUNCTUATION = "\"/\\'.,?;*!%^&_+():<=>@[]{}"
_CLEAN = str.maketrans("", "", _PUNCTUATION)
_DELETED = re.compile(f"[{re.escape(_PUNCTUATION)}]")
_STEMMER = EnglishStemmer()


def words(text: str) -> list[str]:
    """The cleaned words of a text, in order."""
    # Both give the same; translate is faster for ASCII, but seven times slower for other text.
    cleaned = text.translate(_CLEAN) if text.isascii() else _DELETED.sub("", text)
    return fold(cleaned.lower()).split()


END = "\0"
"""Marks the end of a string among words and terms (bioqa.models.text.tokens); removed from texts."""

_TERMS = re.compile(r"[^\W_]+|\0")
_SEPARATORS = {code: " " for code in range(1, 128) if not chr(code).isalnum()}


def terms(text: str) -> list[str]:
    """The words as retrieval sees them: lower-cased runs of letters and digits without accents, stop words
    included."""
    lower = fold(text.lower())
    return lower.translate(_SEPARATORS).split() if lower.isascii() else _TERMS.findall(lower)


_STEMMED = (
    *("s", "e", "y", "ed", "ing", "al", "ful", "ll", "ion", "er", "ator"),
    *("ant", "ent", "ism", "ic", "li", "ci", "ti", "gi"),
)
"""The ends of all terms that Snowball changes. Half of MEDLINE's terms, mostly rare names, have none."""


@lru_cache(maxsize=1 << 18)
def stem(term: str) -> str:
    """The Snowball stem of a term; empty for a stop word."""
    if term in STOP_WORDS:
        return ""
    return str(_STEMMER.stem(term)) if term.endswith(_STEMMED) else term


def stems_without_accents(terms: Sequence[str], numbers: Sequence[int]) -> tuple[dict[str, int], list[int]]:
    """The number of each stem, by its name without accents; and for each number the one that stands for it:
    naïve and naive have one stem, that of the more frequent term."""
    # Stems are stored without names: stemming any one of its terms gives a stem's name back.
    commonest = dict(zip(reversed(numbers), range(len(terms) - 1, -1, -1), strict=True))
    joined = list(range(max(numbers, default=-1) + 1))
    names: dict[str, int] = {}
    for number, position in commonest.items():
        name = stem(fold(terms[position]))
        other = names.setdefault(name, number)
        if other != number:
            first, second = sorted((number, other), key=commonest.__getitem__)
            names[name] = joined[second] = first
    return names, joined


def unknown_id(word: str) -> int:
    """A negative number for a word outside the vocabulary, the same in every process.

    Two unknown words share a number once in four billion pairs. They are not dropped, because features count
    exact matches, and unknown words are the rarest and most telling ones of a question.
    """
    return -1 - zlib.crc32(word.encode("utf-8", "surrogatepass"))
