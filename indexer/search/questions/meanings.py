"""What abbreviations mean: which of the meanings that citations define a question has."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from bioqa.indexer.search.defined import long_key, short_key
from bioqa.indexer.search.evidence import Definition, Evidence

LEAST_DEFINED = 3
"""Definitions of an abbreviation that count as usage."""

SURE = 0.8
"""Share of the definitions that a long form must have to be taken without regard to the context."""

LIKELY = 0.5
"""How probable one of several meanings must be: more than all others together."""

FITTING = 0.3
"""How well documents that have the long form must fit the context, compared to those that have the
abbreviation: MMR is mismatch repair, but not beside "vaccine"."""

USUAL = 0.5
"""Share of a long form's definitions that its abbreviation must have: breast cancer is BC. BRCA, of which
some say that it means breast cancer, is something else."""

MOST_MEANINGS = 8
"""Of one abbreviation, whose fit to the context is looked up."""

MOST_SPELLINGS = 4
"""Of one long form, whose fit is looked up."""

ALIKE = 85.0
"""Likeness, in per cent of their letters, from which on two long forms say the same in other words:
randomized controlled trials, and randomised control trials."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """An abbreviation and its long form."""

    short: str
    long: str
    dominant: bool
    """Whether the abbreviation nearly always has this long form."""


def of_abbreviation(
    short: str, found: Sequence[Definition], context: str, evidence: Evidence
) -> Meaning | None:
    """The meaning that an abbreviation has beside these words; None if that is not clear.

    By Bayes' rule, a meaning is the more probable, the more documents define it, and the better documents
    with its long form fit the context: BM25 is a sum of logarithms of odds. The fit is that of the best
    documents, and of the many documents of a frequent phrase some fit anything, so their number counts
    against it.
    """
    meanings = together(found)
    total = sum(each.documents for each in meanings)
    meanings = [each for each in meanings if each.documents > 1][:MOST_MEANINGS]
    if total < LEAST_DEFINED or not meanings:
        return None
    alone, fits = _fits(short, meanings, found, context, evidence)
    having = evidence.counts([each.long for each in meanings])
    best_fit = max(fits)
    odds = [
        each.documents * math.exp(fit - best_fit) / math.sqrt(max(count, each.documents))
        for each, fit, count in zip(meanings, fits, having, strict=True)
    ]
    most = max(odds)
    number = odds.index(most)
    meant = meanings[number]
    fitting = fits[number] >= FITTING * alone
    if meant.documents < LEAST_DEFINED or not fitting or most <= LIKELY * sum(odds):
        return None
    return Meaning(meant.short, meant.long, meant.documents >= SURE * total)


def _fits(
    short: str, meanings: Sequence[Definition], found: Sequence[Definition], context: str, evidence: Evidence
) -> tuple[float, list[float]]:
    """How well the context fits documents with the abbreviation; and those with each long form, in the
    spelling that fits best."""
    written = [
        [each.long for each in found if long_key(each.long) == long_key(meaning.long)][:MOST_SPELLINGS]
        for meaning in meanings
    ]
    alone, *fits = evidence.fit([short, *(long for longs in written for long in longs)], context)
    rest = iter(fits)
    return alone, [max(next(rest) for _ in longs) for longs in written]


def is_usual(meaning: Meaning, of_longs: Iterable[Definition]) -> bool:
    """Whether the long form is usually abbreviated so, by the definitions of long forms."""
    long, short = long_key(meaning.long), short_key(meaning.short)
    shorts = [(short_key(each.short), each.documents) for each in of_longs if long_key(each.long) == long]
    own = sum(documents for key, documents in shorts if key == short)
    return own >= USUAL * sum(documents for _, documents in shorts)


def of_long_form(key: str, known: Iterable[Definition], of_shorts: Iterable[Definition]) -> Meaning | None:
    """The abbreviation of a long form; None if it has none that is usual.

    Either the long form has nearly always this one, or this one has nearly always the long form."""
    groups: dict[str, list[Definition]] = {}
    for each in known:
        if long_key(each.long) == key:
            groups.setdefault(short_key(each.short), []).append(each)
    found = sorted(map(_sum, groups.values()), key=lambda each: (-each.documents, each.short))
    total = sum(each.documents for each in found)
    for each in found:
        of_short = short_key(each.short)
        uses = [other for other in of_shorts if short_key(other.short) == of_short]
        alike = max(each.documents, sum(use.documents for use in uses if _contains(each.long, use.long)))
        dominant = alike >= SURE * sum(use.documents for use in uses)
        if each.documents >= LEAST_DEFINED and (each.documents >= SURE * total or dominant):
            return Meaning(each.short, each.long, dominant)
    return None


def together(found: Iterable[Definition]) -> list[Definition]:
    """Definitions that say the same become one; the most frequent first, and its words for all."""
    groups: dict[str, list[Definition]] = {}
    for each in found:
        groups.setdefault(long_key(each.long), []).append(each)
    meanings: list[list[Definition]] = []
    for one in sorted(map(_sum, groups.values()), key=_order):
        for others in meanings:
            if _says_the_same(others[0].long, one.long):
                others.append(one)
                break
        else:
            meanings.append([one])
    counted = [
        first._replace(documents=sum(each.documents for each in (first, *rest))) for first, *rest in meanings
    ]
    return sorted(counted, key=_order)


def _order(each: Definition) -> tuple[int, str]:
    return -each.documents, each.long


def _sum(group: Sequence[Definition]) -> Definition:
    usual = max(group, key=lambda each: (each.documents, each.long))
    return usual._replace(documents=sum(each.documents for each in group))


def _says_the_same(long: str, other: str) -> bool:
    return _contains(long, other) or fuzz.ratio(long_key(long), long_key(other)) >= ALIKE


def _contains(long: str, other: str) -> bool:
    """ "Breast cancer gene" is no other meaning of BRCA than "breast cancer"."""
    return long in other or other in long
