"""Which filters leave nothing of what a question finds, and what could be asked for instead."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bioqa.app.settings import MAX_CANDIDATES
from bioqa.indexer.medline.packed import RecordSummary, summary
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.filtering.conditions import AllOf, AnyOf, Condition, HasKey
from bioqa.indexer.search.filtering.filters import Filters
from bioqa.indexer.search.filtering.keys import KeyKind
from bioqa.indexer.search.filtering.suggesting import suggest
from bioqa.indexer.search.wording import Wording
from bioqa.system.schema import DESCRIBED_BY_DOCSTRINGS

MAX_COUNTED = 20
"""Filters that are tried: each is a search."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Names to ask for instead of one that no document of the index has."""

    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    value: str
    """The name that was asked for."""
    instead: tuple[str, ...]
    """Names that documents have which would be found without the filter, the likeliest first."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A filter, and how many documents would be found without it."""

    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    filter: str
    """The option's name; restriction for a part of the question."""
    condition: str
    """What it asks for."""
    documents: int
    """That would be found without it."""
    suggestions: tuple[Suggestion, ...] = ()
    """For types, journals and headings that no document of the index has."""


def without_each(index: SearchIndex, words: str | Wording | None, filters: Filters) -> tuple[LeftOut, ...]:
    """How many documents each filter alone keeps from being found, the one that keeps most first.

    If none does so alone, several do together: then each has zero. Empty if nothing is found without filters.
    """
    parts = [*filters.parts()][:MAX_COUNTED]
    if not index.count(words):
        return ()
    left_out = [
        _leave_out(index, words, name, condition, _all_but(position, [part for _, part in parts]))
        for position, (name, condition) in enumerate(parts)
    ]
    return tuple(sorted(left_out, key=lambda part: -part.documents))


def _leave_out(
    index: SearchIndex, words: str | Wording | None, name: str, condition: Condition, others: Filters
) -> LeftOut:
    documents = index.count(words, others)
    suggestions = tuple(_suggestions(index, words, condition, others)) if documents else ()
    return LeftOut(name, str(condition), documents, suggestions)


def _suggestions(
    index: SearchIndex, words: str | Wording | None, condition: Condition, others: Filters
) -> Iterator[Suggestion]:
    """Suggestions for the names of a filter that no document of the index has: names that the best documents
    have which are found without it."""
    unknown = [named for named in _names(condition) if not index.count(None, Filters(restriction=named))]
    if not unknown:
        return
    summaries = [summary(record.metadata) for record in index.describe(words, MAX_CANDIDATES, others)]
    for named in unknown:
        counts = Counter(name for record in summaries for name in _values(named.kind, record))
        if instead := suggest(named.value, counts):
            yield Suggestion(named.value, instead)


def _names(condition: Condition) -> Iterator[HasKey]:
    """The types, journals and headings that a filter asks for, at most twenty."""
    named = condition.parts if isinstance(condition, AnyOf) else (condition,)
    for part in named[:MAX_COUNTED]:
        if isinstance(part, HasKey) and part.kind in _SUGGESTED:
            yield part


_SUGGESTED = (KeyKind.TYPE, KeyKind.JOURNAL, KeyKind.HEADING, KeyKind.MAJOR_HEADING)


def _values(kind: KeyKind, record: RecordSummary) -> frozenset[str]:
    if kind is KeyKind.TYPE:
        return record.types
    if kind is KeyKind.JOURNAL:
        return frozenset({record.journal} - {""})
    return record.headings


def _all_but(position: int, conditions: Sequence[Condition]) -> Filters:
    return Filters(restriction=AllOf((*conditions[:position], *conditions[position + 1 :])))
