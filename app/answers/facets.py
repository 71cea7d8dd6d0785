"""Counts over the candidates of a question: by year, publication type, language, journal and MeSH heading."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from bioqa.indexer.medline.packed import summary
from bioqa.indexer.search.records import Described

MAX_VALUES = 25
"""Values of a facet, the most frequent; the rest are in no answer."""

Counts = tuple[tuple[str, int], ...]
"""Values with their numbers of documents, the most frequent first; ties in alphabetical order."""


@dataclass(frozen=True, slots=True)
class Facets:
    documents: int
    """Candidates that are counted."""
    years: tuple[tuple[int, int], ...]
    """Years with their numbers of documents, in order; years without any are missing."""
    undated: int
    types: Counts
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
        years=tuple(sorted(years.items())),
        undated=undated,
        types=_most_frequent(types),
        languages=_most_frequent(languages),
        journals=_most_frequent(journals),
        headings=_most_frequent(headings),
        free_full_text=free,
        retracted=retracted,
    )


def _most_frequent(counts: Counter[str]) -> Counts:
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_VALUES])
