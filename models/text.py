"""Words as the rankers see them.

Cleaning is the "bioclean" of the BioASQ word vectors that McDonald et al. 2018 and Pappas and
Androutsopoulos 2021 used: quotes and slashes go (so ``IL-2/TNF-α`` is one word), punctuation goes, hyphens
and everything outside ASCII stay.
"""

import zlib
from functools import lru_cache

from nltk.stem.snowball import EnglishStemmer

_CLEAN = str.maketrans("", "", "\"/\\'.,?;*!%^&_+():<=>@[]{}")
_STEMMER = EnglishStemmer()

STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "above",
        "after",
        "again",
        "against",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "below",
        "between",
        "both",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "down",
        "during",
        "each",
        "few",
        "for",
        "from",
        "further",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "hers",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "itself",
        "may",
        "me",
        "might",
        "more",
        "most",
        "must",
        "my",
        "no",
        "nor",
        "not",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "our",
        "ours",
        "out",
        "over",
        "own",
        "same",
        "she",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "theirs",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "until",
        "up",
        "upon",
        "us",
        "very",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "whether",
        "which",
        "while",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "within",
        "without",
        "would",
        "you",
        "your",
        "yours",
    ]
)
"""English function words, question words included."""


def words(text: str) -> list[str]:
    """The cleaned words of a text, in order."""
    return text.translate(_CLEAN).lower().split()


class _Separators(dict[int, int]):
    """For ``str.translate``: letters and digits of any script stay, everything else becomes a space."""

    def __missing__(self, character: int) -> int:
        self[character] = kept = character if chr(character).isalnum() else 32
        return kept


_SEPARATORS = _Separators()


def terms(text: str) -> list[str]:
    """The words as retrieval sees them: lower-cased runs of letters and digits, stop words included."""
    return text.translate(_SEPARATORS).lower().split()


@lru_cache(maxsize=1 << 18)
def stem(term: str) -> str:
    """The Snowball stem; nothing for a stop word."""
    return "" if term in STOP_WORDS else str(_STEMMER.stem(term))


def unknown_id(word: str) -> int:
    """A negative number for a word outside the vocabulary, the same in every process.

    Two unknown words share a number once in four billion pairs; an exact match of unknown words counts for
    the features, so dropping them instead would lose the rarest and most telling words of a question.
    """
    return -1 - zlib.crc32(word.encode("utf-8", "surrogatepass"))
