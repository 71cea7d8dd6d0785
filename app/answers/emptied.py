"""Which filters leave nothing of what a question finds."""

from collections.abc import Sequence
from dataclasses import dataclass

from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.filtering.conditions import AllOf, Condition
from bioqa.indexer.search.filtering.filters import Filters
from bioqa.indexer.search.wording import Wording
from bioqa.system.schema import DESCRIBED_BY_DOCSTRINGS

MAX_COUNTED = 20
"""Filters that are tried: each is a search."""


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


def without_each(index: SearchIndex, words: str | Wording | None, filters: Filters) -> tuple[LeftOut, ...]:
    """How many documents each filter alone keeps from being found, the one that keeps most first.

    If none does so alone, several do together: then each has zero. Empty if nothing is found without filters.
    """
    parts = [*filters.parts()][:MAX_COUNTED]
    if not index.count(words):
        return ()
    left_out = [
        LeftOut(name, str(condition), index.count(words, _all_but(position, [part for _, part in parts])))
        for position, (name, condition) in enumerate(parts)
    ]
    return tuple(sorted(left_out, key=lambda part: -part.documents))


def _all_but(position: int, conditions: Sequence[Condition]) -> Filters:
    return Filters(restriction=AllOf((*conditions[:position], *conditions[position + 1 :])))
