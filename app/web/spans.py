"""A text as spans that are set alike: question words emphasised, and the record's own markup."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bioqa.system.characters import fold

TAGS = ("b", "i", "sub", "sup")
"""From the outermost to the innermost."""

_WORD = re.compile(r"[^\W_]+")


class TextPart(NamedTuple):
    """Something to set otherwise: ``text[begin:end]``. ``kind`` is a tag, or ``ASKED``."""

    begin: int
    end: int
    kind: str


ASKED = "asked"


@dataclass(frozen=True, slots=True)
class TextSpan:
    text: str
    asked: bool = False
    """A word of the question."""
    tags: tuple[str, ...] = ()


def spans(text: str, begin: int, end: int, parts: Iterable[TextPart]) -> tuple[TextSpan, ...]:
    """Split ``text[begin:end]`` at the bounds of parts, which may overlap and extend beyond."""
    changes: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for part in parts:
        first, last = max(part.begin, begin), min(part.end, end)
        if first < last:
            changes[first][part.kind] += 1
            changes[last][part.kind] -= 1
    return tuple(_spans(text, begin, end, changes))


def _spans(text: str, begin: int, end: int, changes: dict[int, Counter[str]]) -> Iterator[TextSpan]:
    set_in: Counter[str] = Counter()
    done = begin
    for position in sorted({*changes, end}):
        if position > done:
            yield TextSpan(text[done:position], set_in[ASKED] > 0, tuple(t for t in TAGS if set_in[t] > 0))
            done = position
        set_in.update(changes.get(position, {}))


class AskedWords:
    """The words of a question, in whatever inflection they occur."""

    def __init__(self, *texts: str) -> None:
        # nltk takes half a second to import, which no start of a command should wait for.
        from bioqa.models.text.words import stem, terms

        self._stem = stem
        self._stems = {stem(term) for text in texts for term in terms(text) if len(term) > 1} - {""}
        self._initials = {stem[0] for stem in self._stems}

    def in_text(self, text: str) -> Sequence[TextPart]:
        """Where they occur in a text, in order."""
        return [
            TextPart(*word.span(), ASKED)
            for word in _WORD.finditer(text)
            if self._is_asked(fold(word[0].lower()))
        ]

    def _is_asked(self, word: str) -> bool:
        # Stemming changes only the ends of words, and is slow.
        return word[:1] in self._initials and self._stem(word) in self._stems
