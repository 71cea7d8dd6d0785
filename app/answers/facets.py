"""Counts over the candidates of a question: by year, publication type, language, journal and MeSH heading."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Standing

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


def facets_of(documents: Iterable[Document]) -> Facets:
    years: Counter[int] = Counter()
    types: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    journals: Counter[str] = Counter()
    headings: Counter[str] = Counter()
    number = undated = free = retracted = 0
    for document in documents:
        metadata = document.metadata
        number += 1
        if document.published is None:
            undated += 1
        else:
            years[document.published.year] += 1
        types.update(set(metadata.types))
        languages.update(set(metadata.languages))
        journals.update(filter(None, (metadata.journal.abbreviation,)))
        headings.update({heading.name for heading in metadata.headings})
        free += bool(metadata.pmcid)
        retracted += metadata.standing is Standing.RETRACTED
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
