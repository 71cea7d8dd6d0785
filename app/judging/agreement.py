"""How far judges agree: by pairs, and all together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from bioqa.app.judging.judgments import Judgments
from bioqa.app.judging.sheet import Item, Sheet
from bioqa.bioasq.kappa import cohen_kappa, fleiss_kappa, observed_agreement

KINDS = ("documents", "sentences")


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two judges, on the items of one kind that both have judged."""

    first: str
    second: str
    items: int
    observed: float | None
    """Share of items with the same grade; None without items."""
    kappa: float | None
    """Cohen's; None where it is not defined."""


@dataclass(frozen=True, slots=True)
class KindAgreement:
    kind: str
    pairs: tuple[PairAgreement, ...]
    mean_kappa: float | None
    """Mean of the pairs' kappas that are defined."""
    fleiss: float | None
    """Fleiss' kappa, of the items that all have judged; None for fewer than three judges."""
    judged_by_all: int


@dataclass(frozen=True, slots=True)
class Progress:
    """What one judge has judged, of the sheet's items of each kind."""

    judge: str
    documents: int
    sentences: int


@dataclass(frozen=True, slots=True)
class Agreement:
    documents: int
    """On the sheet, as sentences."""
    sentences: int
    judges: tuple[Progress, ...]
    kinds: tuple[KindAgreement, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def agreement_of(sheet: Sheet, judgments: Judgments) -> Agreement:
    # Who took back every grade judges nothing.
    by_judge = {judge: grades for judge, grades in judgments.by_judge.items() if grades}
    of_kinds = {kind: {judge: _of_kind(grades, kind) for judge, grades in by_judge.items()} for kind in KINDS}
    documents = _count(sheet.items.values())
    return Agreement(
        documents=documents,
        sentences=len(sheet.items) - documents,
        judges=tuple(
            Progress(judge, len(of_kinds["documents"][judge]), len(of_kinds["sentences"][judge]))
            for judge in by_judge
        ),
        kinds=tuple(_agreement(kind, grades) for kind, grades in of_kinds.items()),
    )


def _agreement(kind: str, by_judge: Mapping[str, Mapping[Item, int]]) -> KindAgreement:
    pairs = tuple(_pair(by_judge, *names) for names in combinations(by_judge, 2))
    kappas = [pair.kappa for pair in pairs if pair.kappa is not None]
    shared = _shared([*by_judge.values()]) if len(by_judge) > 1 else []
    grades = [[of_judge[item] for of_judge in by_judge.values()] for item in shared]
    return KindAgreement(
        kind,
        pairs,
        sum(kappas) / len(kappas) if kappas else None,
        fleiss_kappa(grades) if len(by_judge) > 2 else None,
        len(shared),
    )


def _pair(by_judge: Mapping[str, Mapping[Item, int]], first: str, second: str) -> PairAgreement:
    ours, theirs = by_judge[first], by_judge[second]
    grades = [(ours[item], theirs[item]) for item in _shared([ours, theirs])]
    return PairAgreement(first, second, len(grades), observed_agreement(grades), cohen_kappa(grades))


def _shared(of_judges: Sequence[Mapping[Item, int]]) -> list[Item]:
    return [item for item in of_judges[0] if all(item in grades for grades in of_judges)]


def _of_kind(grades: Mapping[Item, int], kind: str) -> dict[Item, int]:
    wanted = kind == "documents"
    return {item: grade for item, grade in grades.items() if (item.sentence is None) == wanted}


def _count(items: Iterable[Item]) -> int:
    return sum(item.sentence is None for item in items)
