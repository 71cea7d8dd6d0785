"""A comparison taken apart: by question, by type, by the amount of gold, and by depth.

Groups hold the questions that every system answered, so that their values compare.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bioqa.bioasq.comparison import ComparedSystem, Comparison, Kind
from bioqa.bioasq.domain import DEPTH, Response
from bioqa.bioasq.golden import TYPES
from bioqa.bioasq.measures import ItemMeasures, QuestionMeasures

GOLD_BINS = ((1, 1), (2, 3), (4, 6), (7, 10), (11, None))
"""Numbers of golden documents that are shown together."""

OTHER_TYPE = "no type"


@dataclass(frozen=True, slots=True)
class GroupMeans:
    """Means over some questions, by system."""

    name: str
    questions: int
    means: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """Mean (recall, precision) of a system's first 1, 2, …, DEPTH documents."""

    system: str
    points: tuple[tuple[float, float], ...]


def main_value(kind: Kind, items: ItemMeasures) -> float:
    """The value that BioASQ ranks systems by: average precision of documents, F1 of snippets."""
    return items.average_precision if kind == "documents" else items.f1


def differences(comparison: Comparison, system: ComparedSystem, kind: Kind) -> list[tuple[int, float]]:
    """Each golden question's place with the difference from the baseline, the highest first.

    Only of questions that both answered and that have gold of this kind.
    """
    groups = []
    for position, (ours, theirs) in enumerate(
        zip(system.per_question, comparison.baseline.per_question, strict=True)
    ):
        if ours and theirs and getattr(ours, kind).gold:
            difference = main_value(kind, getattr(ours, kind)) - main_value(kind, getattr(theirs, kind))
            groups.append((position, difference))
    return sorted(groups, key=lambda group: -group[1])


def by_type(comparison: Comparison, kind: Kind) -> list[GroupMeans]:
    """Means of each question type that occurs."""
    names = {response.question.type for response in comparison.golden}
    return [
        *_groups(comparison, kind, [(name, _of_type(name)) for name in TYPES if name in names]),
        *_groups(comparison, kind, [(OTHER_TYPE, lambda gold, _: gold.question.type not in TYPES)]),
    ]


def by_gold(comparison: Comparison, kind: Kind) -> list[GroupMeans]:
    """Means of the questions with so many golden documents."""
    return _groups(comparison, kind, [(_bin_name(*ends), _in_bin(*ends)) for ends in GOLD_BINS])


def curves(comparison: Comparison) -> list[PrecisionRecall]:
    """Precision and recall of documents at each depth."""
    places = _shared_questions(comparison, "documents")
    return [
        PrecisionRecall(
            system.name,
            tuple(
                (sum(r for r, _ in at_depth) / len(places), sum(p for _, p in at_depth) / len(places))
                for depth in range(1, DEPTH + 1)
                if (at_depth := [_at_depth(comparison.golden[p], system, depth) for p in places])
            ),
        )
        for system in comparison.systems
        if "documents" in system.kinds
    ]


def _at_depth(gold: Response, system: ComparedSystem, depth: int) -> tuple[float, float]:
    """Recall and precision of the first documents; of a shorter list, of all its documents."""
    relevant = set(gold.documents)
    first = [*dict.fromkeys(system.responses[gold.question.id].documents)][:depth]
    hits = sum(document in relevant for document in first)
    return hits / len(relevant), hits / len(first) if first else 0.0


_Belongs = Callable[[Response, QuestionMeasures], bool]


def _groups(comparison: Comparison, kind: Kind, wanted: Sequence[tuple[str, _Belongs]]) -> list[GroupMeans]:
    places = _shared_questions(comparison, kind)
    first = comparison.baseline.per_question
    groups = []
    for name, belongs in wanted:
        chosen = [p for p in places if (m := first[p]) is not None and belongs(comparison.golden[p], m)]
        if chosen:
            means = {
                system.name: sum(_value(system, kind, position) for position in chosen) / len(chosen)
                for system in comparison.systems
                if kind in system.kinds
            }
            groups.append(GroupMeans(name, len(chosen), means))
    return groups


def _value(system: ComparedSystem, kind: Kind, position: int) -> float:
    measured = system.per_question[position]
    assert measured is not None  # _shared
    return main_value(kind, getattr(measured, kind))


def _shared_questions(comparison: Comparison, kind: Kind) -> list[int]:
    """Places of the questions with gold that all systems answered."""
    return [
        position
        for position, measured in enumerate(zip(*(s.per_question for s in comparison.systems), strict=True))
        if all(measured) and getattr(measured[0], kind).gold
    ]


def _of_type(name: str) -> _Belongs:
    return lambda gold, _: gold.question.type == name


def _in_bin(least: int, most: int | None) -> _Belongs:
    return lambda _, measured: least <= measured.documents.gold <= (most or measured.documents.gold)


def _bin_name(least: int, most: int | None) -> str:
    if most is None:
        return f"{least} or more"
    return str(least) if least == most else f"{least}–{most}"
