"""Agreement of judges beyond chance: Cohen's kappa for two, Fleiss' for more.

Cohen, A coefficient of agreement for nominal scales, 1960; Fleiss, Measuring nominal scale agreement among
many raters, 1971. Grades are categories: a difference of two is no worse than one of one.
"""

from collections import Counter
from collections.abc import Sequence


def observed_agreement(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Share of items to which both judges gave the same grade; None without items."""
    return sum(first == second for first, second in pairs) / len(pairs) if pairs else None


def cohen_kappa(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Cohen's kappa of two judges, of the grades that they gave to the same items.

    None if it is not defined: without items, and if both gave all items one and the same grade.
    """
    observed = observed_agreement(pairs)
    if observed is None:
        return None
    first, second = Counter(first for first, _ in pairs), Counter(second for _, second in pairs)
    expected = sum(first[grade] * second[grade] for grade in first) / len(pairs) ** 2
    return _beyond_chance(observed, expected)


def fleiss_kappa(items: Sequence[Sequence[int]]) -> float | None:
    """Fleiss' kappa: ``items`` has the grades of each item, by equally many judges, at least two.

    None if it is not defined: without items, and if all grades are the same. Raises ValueError for items with
    different numbers of grades, or with fewer than two.
    """
    if not items:
        return None
    judges = len(items[0])
    if judges < 2 or any(len(grades) != judges for grades in items):
        raise ValueError("each item needs the grades of the same judges, two or more")
    agreeing = sum(count * (count - 1) for grades in items for count in Counter(grades).values())
    totals = Counter(grade for grades in items for grade in grades)
    ratings = len(items) * judges
    expected = sum((count / ratings) ** 2 for count in totals.values())
    return _beyond_chance(agreeing / (ratings * (judges - 1)), expected)


def _beyond_chance(observed: float, expected: float) -> float | None:
    # By chance alone they would agree on everything: there is nothing to measure.
    return (observed - expected) / (1 - expected) if expected < 1 else None
