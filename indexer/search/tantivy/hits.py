"""The best documents of a query, with all that tie at the cut-off, among all documents or those that pass.

tantivy finds the best of all documents by skipping most of those that match: the more documents, the greater
the share that it skips. With a filter it skips none, and scores every document that matches and passes. So
if many documents of a large index pass, the best of all are searched, and those that pass are picked from
them. Only if they are too few does the filter become a part of the query. The answer is the same.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tantivy

from bioqa.indexer.search.tantivy.schema import numbers

MAX_TIES = 10_000
"""Limit on the documents fetched beyond the cut-off to sort ties by PMID."""

LARGE = 200_000
"""Documents of an index in which filtering afterwards is tried."""

PASSING = 0.3
"""Share of the documents that must pass for it. Of 942,000 documents in three segments, picking from the best
400 takes 4.5 ms, filtering 10 if six in ten pass, 5 if one in ten does."""

PICKED_FROM = 4
"""How many times as many documents as are asked for are searched: enough if a third of them passes."""

MOST_PICKED_FROM = 2000
"""To check more of them takes as long as filtering."""


class Hit(NamedTuple):
    score: float
    pmid: int
    address: Any


def best(searcher: Any, query: Any, size: int, order_by: str | None = None) -> list[Hit]:
    """The best ``size`` documents and more: all that tie with the last one are among them.

    tantivy sorts ties by their position in the index. So they are fetched up to ``MAX_TIES``, to be
    sorted and cut. ``order_by``: a field whose value takes the score's place.
    """
    limit = size + 20
    while True:
        hits = searcher.search(query, limit=limit, count=False, order_by_field=order_by).hits
        if len(hits) < limit or hits[-1][0] < hits[size - 1][0] or limit >= size + MAX_TIES:
            break
        limit = min(4 * limit, size + MAX_TIES)
    pmids = numbers(searcher, "pmid", [address for _, address in hits])
    return [Hit(score, pmid, address) for (score, address), pmid in zip(hits, pmids, strict=True)]


def worth_picking(size: int, passing: Callable[[], int], documents: int) -> bool:
    """``passing``: counts how many of an index's documents pass, at most; only asked of large ones."""
    large = documents >= LARGE and PICKED_FROM * size <= MOST_PICKED_FROM
    return large and passing() >= PASSING * documents


def pick(searcher: Any, schema: Any, matching: Any, passing: Any, size: int) -> list[Hit] | None:
    """The best ``size`` documents of those that pass, and all that tie with the last one; None if too few of
    the best of all documents pass."""
    searched = PICKED_FROM * size
    hits = best(searcher, matching, searched)
    if len(hits) > searched:
        # Of the last score that was reached, some documents may be missing.
        hits = [hit for hit in hits if hit.score >= hits[searched - 1].score]
    passed = _that_pass(searcher, schema, passing, hits)
    return passed if len(passed) >= size or len(hits) < searched else None


def both(matching: Any, passing: Any) -> Any:
    """What matches and passes. Passing changes no score."""
    make, occur = tantivy.Query, tantivy.Occur
    return make.boolean_query([(occur.Must, matching), (occur.Must, make.const_score_query(passing, 0.0))])


def _that_pass(searcher: Any, schema: Any, passing: Any, hits: Sequence[Hit]) -> list[Hit]:
    """Those of some documents that pass, in their order."""
    if not hits:
        return []
    those = tantivy.Query.term_set_query(schema, "pmid", [hit.pmid for hit in hits])
    passed = searcher.search(both(those, passing), limit=len(hits), count=False).hits
    addresses = {_place(address) for _, address in passed}
    return [hit for hit in hits if _place(hit.address) in addresses]


def _place(address: Any) -> tuple[int, int]:
    return address.segment_ord, address.doc
