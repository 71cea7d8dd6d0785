"""Correcting a word that no document has, from the words that documents have.

Words like it are looked for in documents that fit the rest of the question: the index's terms are stems, and
the stem of a misspelt word may be far from that of the right one ("mutatoins", "mutat"). Of the words at the
smallest distance the one is taken that most of these documents have.
"""

import re
from collections import Counter
from collections.abc import Iterable

from rapidfuzz.distance import OSA

from bioqa.bioasq.domain import Document
from bioqa.indexer.search.evidence import Evidence
from bioqa.system.characters import fold, normalise

LEAST_CHARACTERS = 5
"""Shorter words have too many neighbours."""

MOST_CHARACTERS = 30
"""Longer ones are sequences and addresses. Each beginning of a word is searched for."""

FAR_CHARACTERS = 8
"""From this length on, two edits are allowed if one is not enough."""

DOCUMENTS = 60
"""Documents whose words are looked at."""

_WORD = re.compile(r"[a-z]{4,}")


def correctable(word: str) -> bool:
    """Whether a word looks like one of the language, rather than a name of letters and digits."""
    return (
        word.isascii()
        and word.isalpha()
        and LEAST_CHARACTERS <= len(word) <= MOST_CHARACTERS
        and (word[1:].islower() or (word.isupper() and len(word) > 6))
    )


def correct(word: str, context: str, evidence: Evidence) -> str | None:
    """The word that was probably meant, in the same case; None if there is none.

    ``context``: the other words of the question."""
    lower = word.lower()
    alike = _alike(lower, evidence.near(lower, context, DOCUMENTS))
    if not alike and len(lower) >= FAR_CHARACTERS:
        alike = _alike(lower, evidence.farther(lower, context, DOCUMENTS))
    if not alike:
        return None
    best = min(alike, key=lambda other: (alike[other], other))
    return best.capitalize() if word[0].isupper() else best


def _alike(word: str, documents: Iterable[Document]) -> dict[str, tuple[int, int]]:
    """Words near this one, with their distance and the negative number of documents that have them."""
    most = 2 if len(word) >= FAR_CHARACTERS else 1
    having: Counter[str] = Counter()
    for document in documents:
        text = fold(normalise(f"{document.title} {document.abstract}").lower())
        having.update({w for w in _WORD.findall(text) if abs(len(w) - len(word)) <= most})
    # Of a misspelt plural, or of a name without its apostrophe ("alzimers"), documents may have the singular.
    written = [word, word[:-1]] if most == 2 and word.endswith("s") else [word]
    distances = {
        other: min(OSA.distance(form, other, score_cutoff=most) for form in written) for other in having
    }
    return {
        other: (distance, -having[other])
        for other, distance in distances.items()
        # Two edits, of which one changes the first letter, make another word.
        if distance <= 1 or (distance <= most and other[0] == word[0])
    }
