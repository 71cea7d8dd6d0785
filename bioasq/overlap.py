"""Spans of snippets, merged and intersected as in the official evaluator.

Ends are inclusive here, as in the evaluator, although the ends in files are exclusive: a span whose begin
equals its end has size 1, and two spans that share one offset overlap.
"""

from collections.abc import Sequence
from typing import NamedTuple

from bioqa.bioasq.domain import Snippet


class Span(NamedTuple):
    """A snippet without its text. Section names are cut up to their first dot ("sections.0" becomes "0")."""

    document: str
    begin_section: str
    end_section: str
    begin: int
    end: int

    @property
    def size(self) -> int:
        """Number of positions; zero or less for golden snippets that end before they begin."""
        return self.end - self.begin + 1


def merged_spans(snippets: Sequence[Snippet]) -> list[Span]:
    """Return the snippets' spans in order; overlapping ones are merged at the earliest rank among them.

    Spans can overlap only if document (as a string) and both sections are the same.
    """
    groups: dict[tuple[str, str, str], list[tuple[int, int, int]]] = {}
    for rank, snippet in enumerate(snippets):
        key = (snippet.document, _section(snippet.begin_section), _section(snippet.end_section))
        _insert(groups.setdefault(key, []), rank, snippet.begin, snippet.end)
    ranked = [(rank, Span(*key, begin, end)) for key, group in groups.items() for rank, begin, end in group]
    return [span for _, span in sorted(ranked)]


def _insert(group: list[tuple[int, int, int]], rank: int, begin: int, end: int) -> None:
    """Add (rank, begin, end) to a group of disjoint spans, merging it with those that it overlaps."""
    position = 0
    while position < len(group):
        other_rank, other_begin, other_end = group[position]
        if begin > other_end or end < other_begin:
            position += 1
            continue
        del group[position]
        rank, begin, end = min(rank, other_rank), min(begin, other_begin), max(end, other_end)
        position = 0  # the merged span may overlap spans that the smaller one did not
    group.append((rank, begin, end))


def overlap(response: Span, golden: Span) -> int:
    """Number of positions that two spans share; the caller has compared their documents.

    A response in section "0" matches gold in "abstract", but not the reverse. If a span ends before it
    begins, the number can be negative, as in the official tool.
    """
    same_sections = response[1:3] == golden[1:3]
    if not same_sections and not (response.begin_section == "0" and golden.begin_section == "abstract"):
        return 0
    if response.begin > golden.end or response.end < golden.begin:
        return 0
    return min(response.end, golden.end) - max(response.begin, golden.begin) + 1


def pmid_of(document: str) -> str:
    """Return the last part of a document's URL, whatever comes before it."""
    return document.rstrip("/").rpartition("/")[2]


def _section(name: str) -> str:
    return name.partition(".")[2] if "." in name else name
