"""Snippets as spans: what the official evaluator merges, measures and intersects.

Ends are inclusive here, as in the evaluator, although the files' ends are exclusive: a span of equal begin
and end has size 1, and two spans that touch in one offset overlap.
"""

from collections.abc import Sequence
from typing import NamedTuple

from bioqa.bioasq.domain import Snippet


class Span(NamedTuple):
    """A snippet without its text; section names lose everything up to their first dot."""

    document: str
    begin_section: str
    end_section: str
    begin: int
    end: int

    @property
    def size(self) -> int:
        """Positions covered; zero or less for the golden snippets whose end comes before their begin."""
        return self.end - self.begin + 1


def merged_spans(snippets: Sequence[Snippet]) -> list[Span]:
    """The snippets' spans in order, those that overlap united at the earliest rank among them.

    Only spans of the same document string and the same two sections can overlap.
    """
    groups: dict[tuple[str, str, str], list[tuple[int, int, int]]] = {}
    for rank, snippet in enumerate(snippets):
        key = (snippet.document, _section(snippet.begin_section), _section(snippet.end_section))
        _insert(groups.setdefault(key, []), rank, snippet.begin, snippet.end)
    ranked = [(rank, Span(*key, begin, end)) for key, group in groups.items() for rank, begin, end in group]
    return [span for _, span in sorted(ranked)]


def _insert(group: list[tuple[int, int, int]], rank: int, begin: int, end: int) -> None:
    """Add one (rank, begin, end) to spans that do not overlap, uniting it with those that it overlaps."""
    place = 0
    while place < len(group):
        other_rank, other_begin, other_end = group[place]
        if begin > other_end or end < other_begin:
            place += 1
            continue
        del group[place]
        rank, begin, end = min(rank, other_rank), min(begin, other_begin), max(end, other_end)
        place = 0
    group.append((rank, begin, end))


def overlap(response: Span, golden: Span) -> int:
    """Shared positions of two spans whose documents the caller has found to agree.

    A response in section "0" counts in the gold's "abstract", not the other way round. With an end before
    its begin the number can be negative, as it is in the official tool.
    """
    same_sections = response[1:3] == golden[1:3]
    if not same_sections and not (response.begin_section == "0" and golden.begin_section == "abstract"):
        return 0
    if response.begin > golden.end or response.end < golden.begin:
        return 0
    return min(response.end, golden.end) - max(response.begin, golden.begin) + 1


def pmid_of(document: str) -> str:
    """The last part of a document's URL, whatever comes before it."""
    return document.rstrip("/").rpartition("/")[2]


def _section(name: str) -> str:
    return name.partition(".")[2] if "." in name else name
