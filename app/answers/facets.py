"""Counts over the candidates of a question: by year, publication type, language, journal and MeSH heading."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from bioqa.indexer.medline.packed import summary
from bioqa.indexer.search.records import Described
from bioqa.system.schema import DESCRIBED_BY_DOCSTRINGS

MAX_VALUES = 25
"""Values of a facet, the most frequent; the rest are in no answer."""


@dataclass(frozen=True, slots=True)
class Counted:
    value: str
    documents: int


@dataclass(frozen=True, slots=True)
class CountedYear:
    year: int
    documents: int


Counts = tuple[Counted, ...]
"""The most frequent first; ties in alphabetical order."""


@dataclass(frozen=True, slots=True)
class Facets:
    """Numbers of documents among the best ones."""

    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    documents: int
    """That are counted."""
    years: tuple[CountedYear, ...]
    """In order; years without any are missing."""
    undated: int
    types: Counts
    """Here and below, the 25 most frequent."""
    languages: Counts
    """MEDLINE's codes."""
    journals: Counts
    """By NLM's abbreviation."""
    headings: Counts
    free_full_text: int
    retracted: int


def facets_of(records: Iterable[Described]) -> Facets:
    years: Counter[int] = Counter()
    types: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    journals: Counter[str] = Counter()
    headings: Counter[str] = Counter()
    number = undated = free = retracted = 0
    for published, metadata in records:
        number += 1
        if published is None:
            undated += 1
        else:
            years[published.year] += 1
        said = summary(metadata)
        types.update(said.types)
        languages.update(said.languages)
        journals.update(filter(None, (said.journal,)))
        headings.update(said.headings)
        free += bool(said.pmcid)
        retracted += said.retracted
    return Facets(
        documents=number,
        years=tuple(CountedYear(*item) for item in sorted(years.items())),
        undated=undated,
        types=_most_frequent(types),
        languages=_most_frequent(languages),
        journals=_most_frequent(journals),
        headings=_most_frequent(headings),
        free_full_text=free,
        retracted=retracted,
    )


def _most_frequent(counts: Counter[str]) -> Counts:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Counted(*item) for item in ordered[:MAX_VALUES])
