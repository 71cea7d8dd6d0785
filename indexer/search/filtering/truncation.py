"""Truncated words, as in PubMed: ``cardi*`` is every word that begins so.

An index has stems: "vaccin" for vaccination, vaccinated and vaccine. ``vaccinat*`` is longer than that stem.
So beside the stems that begin so, the stems of the beginning with usual endings are looked for.
"""

import re
from collections.abc import Iterator

from bioqa.indexer.search.filtering.keys import plain

LEAST = 4
"""Letters and digits before the asterisk, as PubMed wants them: fewer would be half of an index."""

LONGEST = 100
"""Letters and digits before the asterisk. Engines refuse the automata of much longer ones."""

MOST = 20
"""Truncated words in one query."""

_TRUNCATED = re.compile(r"[^*]*[^\W_]\*")
_UNMISTAKABLE = re.compile(rf"[^\W\d_]{{{LEAST},}}\*")
_ENDINGS = (
    "s", "e", "es", "ed", "ing", "ings", "y", "ies", "ied", "ly", "er", "ers", "or", "ors", "ion",
    "ions", "ional", "ive", "ively", "ivity", "al", "als", "ally", "ality", "ate", "ates", "ated",
    "ating", "ation", "ations", "ational", "ator", "ators", "ative", "ant", "ants", "ance", "ances",
    "ancy", "ent", "ents", "ence", "ences", "ency", "able", "ably", "ability", "abilities", "ible",
    "ibility", "ic", "ical", "ically", "icity", "ism", "isms", "ity", "ities", "ize", "ized", "izes",
    "izing", "ization", "izations", "ment", "ments", "ement", "ements", "ness", "ous", "ously", "ful",
    "fully",
)  # fmt: skip
"""What the stemmer takes off, alone or in part."""


def is_truncated(word: str) -> bool:
    """Whether a word of a query ends with an asterisk; one inside is part of a name: HLA-B*27."""
    return bool(_TRUNCATED.fullmatch(word))


def is_unmistakable(word: str) -> bool:
    """Whether it is so beyond doubt, where nothing else shows that a text is a query."""
    return bool(_UNMISTAKABLE.fullmatch(word))


def pieces(word: str) -> list[str]:
    """The words that a truncated word consists of, as an index has them, of which the last is the beginning:
    "anti" and "inflamm" of "anti-inflamm*"."""
    return plain(word.removesuffix("*")).split()


def completions(beginning: str) -> list[str]:
    """The beginning as it may go on to a whole word whose stem is shorter than itself: "vaccinat" to
    "vaccination", as "at" begins "ation"."""
    return [beginning, *dict.fromkeys(_completions(beginning))]


def _completions(beginning: str) -> Iterator[str]:
    for ending in _ENDINGS:
        for begun in range(min(len(ending), len(beginning) - 2)):
            # Not "ing" of an "i" alone: the stem of "carding" is "card".
            if beginning.endswith(ending[:begun]) and (begun != 1 or not ending.startswith("ing")):
                yield beginning + ending[begun:]
