"""What abbreviations mean: which of the meanings that citations define a question has.

An index gives at most ``evidence.MOST_FORMS`` definitions of an abbreviation or a long form, the most
frequent ones, so comparing each with each costs milliseconds, however many all of MEDLINE has.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
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
"""Meanings of one abbreviation whose fit to the context is looked up."""

MOST_SPELLINGS = 4
"""Spellings of one long form whose fit is looked up."""

MOST_SHORTS = 8
"""Abbreviations of one long form that are looked at; BioASQ's questions need two."""

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


Groups = Mapping[str, Sequence[Definition]]


def by_short(definitions: Iterable[Definition]) -> Groups:
    """Definitions by the key of their abbreviation."""
    return _group(definitions, lambda definition: short_key(definition.short))


def by_long(definitions: Iterable[Definition]) -> Groups:
    """Definitions by the key of their long form."""
    return _group(definitions, lambda definition: long_key(definition.long))


def _group(definitions: Iterable[Definition], key: Callable[[Definition], str]) -> Groups:
    groups: dict[str, list[Definition]] = {}
    for definition in definitions:
        groups.setdefault(key(definition), []).append(definition)
    return groups


def of_abbreviation(
    short: str, definitions: Sequence[Definition], context: str, evidence: Evidence
) -> Meaning | None:
    """The meaning that an abbreviation has beside these words; None if that is not clear.

    ``definitions``: all of the abbreviation. By Bayes' rule, the odds of a meaning m beside the context c are
    P(m) P(c | m). P(m) is estimated by the number of documents that define it so. BM25 is a sum of logarithms
    of odds (Robertson and Zaragoza 2009, section 3), so exp(fit) stands for P(c | m). The fit is that of the
    best documents, and of the many documents of a frequent phrase some fit anything, so it is divided by the
    square root of their number.
    """
    meanings = together(definitions)
    total = sum(meaning.documents for meaning in meanings)
    meanings = [meaning for meaning in meanings if meaning.documents > 1][:MOST_MEANINGS]
    if total < LEAST_DEFINED or not meanings:
        return None
    alone, fits = _fits(short, meanings, definitions, context, evidence)
    having = evidence.counts([meaning.long for meaning in meanings])
    # Only the differences of fits matter; of the difference to the best one, exp does not overflow.
    best_fit = max(fits)
    odds = [
        meaning.documents * math.exp(fit - best_fit) / math.sqrt(max(count, meaning.documents))
        for meaning, fit, count in zip(meanings, fits, having, strict=True)
    ]
    most = max(odds)
    number = odds.index(most)
    meaning = meanings[number]
    fitting = fits[number] >= FITTING * alone
    if meaning.documents < LEAST_DEFINED or not fitting or most <= LIKELY * sum(odds):
        return None
    return Meaning(meaning.short, meaning.long, meaning.documents >= SURE * total)


def _fits(
    short: str,
    meanings: Sequence[Definition],
    definitions: Sequence[Definition],
    context: str,
    evidence: Evidence,
) -> tuple[float, list[float]]:
    """How well the context fits documents with the abbreviation; and those with each long form, in the
    spelling that fits best."""
    spellings = by_long(definitions)
    longs = [
        [spelling.long for spelling in spellings[long_key(meaning.long)]][:MOST_SPELLINGS]
        for meaning in meanings
    ]
    # In one call, as an engine may answer all in one request.
    texts = [*dict.fromkeys([short, *(long for of_meaning in longs for long in of_meaning)])]
    fits = dict(zip(texts, evidence.fit(texts, context), strict=True))
    return fits[short], [max(fits[long] for long in of_meaning) for of_meaning in longs]


def is_usual(meaning: Meaning, of_long: Iterable[Definition]) -> bool:
    """Whether the long form is usually abbreviated so. ``of_long``: the definitions of the long form."""
    short = short_key(meaning.short)
    shorts = [(short_key(definition.short), definition.documents) for definition in of_long]
    own = sum(documents for key, documents in shorts if key == short)
    return own >= USUAL * sum(documents for _, documents in shorts)


def usual_shorts(of_long: Iterable[Definition]) -> list[Definition]:
    """The abbreviations that a long form may usually have, by its definitions; the most frequent first."""
    groups = map(_sum, by_short(of_long).values())
    usual = [group for group in groups if group.documents >= LEAST_DEFINED]
    return sorted(usual, key=lambda group: (-group.documents, group.short))[:MOST_SHORTS]


def of_long_form(of_long: Sequence[Definition], of_shorts: Groups) -> Meaning | None:
    """The abbreviation of a long form; None if it has none that is usual.

    Either the long form has nearly always this one, or this one has nearly always the long form. ``of_long``:
    the definitions of the long form; ``of_shorts``: those of its ``usual_shorts``, by their keys."""
    total = sum(definition.documents for definition in of_long)
    for usual in usual_shorts(of_long):
        uses = of_shorts.get(short_key(usual.short), ())
        alike = max(usual.documents, sum(use.documents for use in uses if _contains(usual.long, use.long)))
        dominant = alike >= SURE * sum(use.documents for use in uses)
        if usual.documents >= SURE * total or dominant:
            return Meaning(usual.short, usual.long, dominant)
    return None


def together(definitions: Iterable[Definition]) -> list[Definition]:
    """Definitions that say the same become one; the most frequent first, and its words for all."""
    groups = {key: _sum(group) for key, group in by_long(definitions).items()}
    meanings: list[tuple[str, list[Definition]]] = []
    for key, one in sorted(groups.items(), key=lambda item: _order(item[1])):
        for other_key, others in meanings:
            if _contains(others[0].long, one.long) or fuzz.ratio(other_key, key, score_cutoff=ALIKE):
                others.append(one)
                break
        else:
            meanings.append((key, [one]))
    counted = [
        same[0]._replace(documents=sum(definition.documents for definition in same)) for _, same in meanings
    ]
    return sorted(counted, key=_order)


def _order(definition: Definition) -> tuple[int, str]:
    return -definition.documents, definition.long


def _sum(group: Sequence[Definition]) -> Definition:
    usual = max(group, key=lambda definition: (definition.documents, definition.long))
    return usual._replace(documents=sum(definition.documents for definition in group))


def _contains(long: str, other: str) -> bool:
    """ "Breast cancer gene" is no other meaning of BRCA than "breast cancer"."""
    return long in other or other in long
