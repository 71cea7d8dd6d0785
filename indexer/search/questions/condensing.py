"""Long questions, such as a pasted abstract: answered by the words that carry them.

The time and memory of ranking grow with a question's words. Of a long question only those are kept that say
most about it, by the index's own statistics: the highest tf × idf (Spärck Jones 1972), as "more like this" of
search engines chooses them.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

LONG_CHARACTERS = 1000
LONG_TERMS = 64
"""A question with no more is answered as it was asked. BioASQ's longest has 31."""

MOST_TERMS = 32
"""Kept of a long question. Relevant abstracts of development questions, asked whole, find the other relevant
documents as well by 32 terms as by all of them (recall@100 .898 and .900, MAP .502 and .493, 100 abstracts);
16 lose recall (.865), 64 lose MAP (.447).
"""

LONGEST_WORD = 64
"""Characters. What is longer is taken for several words, as each costs time."""

_WORD = re.compile(rf"\S{{1,{LONGEST_WORD}}}")
_TERM = re.compile(r"[^\W_]+")


def is_long(question: str) -> bool:
    return len(question) > LONG_CHARACTERS or len(_TERM.findall(question)) > LONG_TERMS


def words_of(question: str) -> list[str]:
    """What white space separates, with its punctuation."""
    return _WORD.findall(question)


def condense(
    words: Sequence[str], terms: Sequence[Sequence[str]], having: Mapping[str, int], total: int
) -> str:
    """The words with the highest tf × idf, in the question's order, separated by spaces.

    ``terms``: those of the index in each word, of which ``MOST_TERMS`` are kept; ``having``: how many of the
    index's ``total`` documents have a term. A word weighs as much as its best term, and terms that no
    document has weigh nothing. Of words with equal terms the first stands for all.
    """
    frequencies = Counter(term for of_word in terms for term in of_word)

    def weight(term: str) -> float:
        documents = having.get(term, 0)
        idf = math.log1p((max(total, documents) - documents + 0.5) / (documents + 0.5))
        return frequencies[term] * idf if documents else 0.0

    first: dict[tuple[str, ...], int] = {}
    for position, of_word in enumerate(terms):
        if of_word:
            first.setdefault(tuple(of_word), position)
    ordered = sorted(first.items(), key=lambda item: (-max(map(weight, item[0])), item[1]))
    kept, left = [], MOST_TERMS
    for of_word, position in ordered:
        # Not the words alone are counted: one with hyphens can have many terms.
        if len(of_word) <= left:
            kept.append(position)
            left -= len(of_word)
    # Of nothing but stop words something must remain, as a question is never empty.
    return " ".join(words[position] for position in sorted(kept) or range(min(MOST_TERMS, len(words))))
