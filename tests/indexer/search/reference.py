"""What conditions mean, said of documents themselves: what both back ends are compared with."""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import assert_never

from bioqa.bioasq.domain import Document
from bioqa.indexer.search.filtering.conditions import (
    AllOf,
    AnyOf,
    Condition,
    HasBeginning,
    HasKey,
    HasPhrase,
    HasPmid,
    HasWords,
    Place,
    Published,
    Without,
)
from bioqa.indexer.search.filtering.keys import keys
from bioqa.indexer.search.filtering.truncation import completions
from bioqa.indexer.search.tantivy.schema import analyzer

_analyzer = analyzer()

Placed = Sequence[tuple[int, str]]
"""Words as they are indexed, with their positions in the text."""


def accepts(condition: Condition, document: Document) -> bool:
    """Whether the document meets the condition."""
    match condition:
        case HasKey():
            return not {*condition.keys()}.isdisjoint(keys(document))
        case HasPmid(pmid):
            return document.pmid == str(pmid)
        case HasWords(place, text):
            wanted = {word for _, word in _words(text)}
            return wanted <= {word for part in _texts(document, place) for _, word in _words(part)}
        case HasBeginning(place, beginning):
            words = {word for part in _texts(document, place) for _, word in _words(part)}
            others = {*_analyzer.analyze(" ".join(completions(beginning)))}
            return not words.isdisjoint(others) or any(word.startswith(beginning) for word in words)
        case HasPhrase(place, text):
            return any(_stands_in(_words(text), _words(part)) for part in _texts(document, place))
        case Published(after, before, undated):
            day = document.published
            return undated if day is None else (after or date.min) <= day and (before is None or day < before)
        case AllOf(parts):
            return all(accepts(part, document) for part in parts)
        case AnyOf(parts):
            return any(accepts(part, document) for part in parts)
        case Without(part):
            return not accepts(part, document)
    assert_never(condition)


def newest(documents: Iterable[Document]) -> list[Document]:
    """By date, those without one last; then by PMID, the highest first."""
    return sorted(documents, key=lambda d: (d.published or date.min, int(d.pmid)), reverse=True)


def _texts(document: Document, place: Place) -> list[str]:
    return [document.title] if place == "title" else [document.title, document.abstract]


def _words(text: str) -> Placed:
    split = re.findall(r"[^\W_]+", text)
    return [(n, word) for n, each in enumerate(split) for word in _analyzer.analyze(each)]


def _stands_in(phrase: Placed, text: Placed) -> bool:
    if not phrase:
        return True
    first = phrase[0][0]
    there = set(text)
    return any(
        all((begin + position - first, word) in there for position, word in phrase) for begin, _ in text
    )
