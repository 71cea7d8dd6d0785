"""Systems compared on the same questions: official measures, intervals, differences and their significance.

A measure's value is the official one, over the questions that the system answered. Differences are over the
questions that both systems answered: the official tool leaves out unanswered questions, so the values
themselves compare only if the same ones were answered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from bioqa.bioasq.domain import Response
from bioqa.bioasq.measures import GMAP_EPSILON, ItemMeasures, Measures, QuestionMeasures, means, per_question
from bioqa.bioasq.significance import (
    CONFIDENCE,
    RESAMPLES,
    SEED,
    Floats,
    holm,
    interval,
    randomisation_p,
    resampled_means,
)
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import show

Kind = Literal["documents", "snippets"]
KINDS: tuple[Kind, ...] = ("documents", "snippets")
NAMES = ("mprec", "mrec", "mf1", "map", "gmap")
"""The official measures of each kind, in the order of the columns below."""

FEWEST_RESAMPLES = 100
MOST_RESAMPLES = 1_000_000

_TIE = 1e-12
"""Difference of one question's values up to which they are equal: sums may be rounded differently."""


@dataclass(frozen=True, slots=True)
class SystemScore:
    """A measure of one system, with its bootstrap interval."""

    measure: str
    """The official tool's name, such as ``map_documents``."""
    value: float
    low: float
    high: float
    questions: int
    """In the mean."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A system's measure minus the baseline's, over the ``questions`` that both answered.

    ``p``: two-tailed, of approximate randomisation; ``p_holm``: corrected for the number of systems that are
    compared with the baseline. Wins, ties and losses count questions.
    """

    measure: str
    value: float
    low: float
    high: float
    p: float
    p_holm: float
    wins: int
    ties: int
    losses: int
    questions: int


@dataclass(frozen=True, slots=True)
class ComparedSystem:
    """A system's results. ``per_question`` has an entry for each golden question: None if it lacks that."""

    name: str
    responses: Mapping[str, Response]
    """By question id; the first of several."""
    measures: Measures
    per_question: tuple[QuestionMeasures | None, ...]
    kinds: tuple[Kind, ...]
    """What it has any of: TREC runs have no snippets, for example."""
    scores: tuple[SystemScore, ...]
    differences: tuple[Difference, ...] = ()
    """From the baseline; none for the baseline itself."""

    def score(self, measure: str) -> SystemScore | None:
        return next((score for score in self.scores if score.measure == measure), None)

    def difference(self, measure: str) -> Difference | None:
        return next((difference for difference in self.differences if difference.measure == measure), None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The baseline first, the others in the order given."""

    edition: int
    golden: tuple[Response, ...]
    systems: tuple[ComparedSystem, ...]
    resamples: int
    seed: int
    confidence: float

    @property
    def baseline(self) -> ComparedSystem:
        return self.systems[0]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each system and measure, for a data frame; None where the baseline has no value."""
        return [
            {
                "system": system.name,
                "measure": score.measure,
                "value": score.value,
                "low": score.low,
                "high": score.high,
                "questions": score.questions,
                **_difference_row(system.difference(score.measure)),
            }
            for system in self.systems
            for score in system.scores
        ]

    def question_rows(self) -> list[dict[str, Any]]:
        """A row for each system and question that it answered, for a data frame."""
        return [
            {
                "system": system.name,
                "question": measured.id,
                "type": gold.question.type,
                "body": gold.question.body,
                **measured.row(),
            }
            for system in self.systems
            for gold, measured in zip(self.golden, system.per_question, strict=True)
            if measured is not None
        ]

    def most_different(self, count: int) -> list[int]:
        """Places in ``golden`` of the questions on which some system differs most from the baseline.

        By the sum of the absolute differences in average precision of documents and F1 of snippets.
        """
        distances = [
            max((_distance(system, self.baseline, position) for system in self.systems[1:]), default=0.0)
            for position in range(len(self.golden))
        ]
        ordered = sorted(range(len(distances)), key=lambda position: -distances[position])
        return [position for position in ordered if distances[position] > _TIE][:count]


def compare(
    golden: Sequence[Response],
    systems: Mapping[str, Sequence[Response]],
    edition: int,
    *,
    baseline: str | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Measure systems, by name, and compare each with ``baseline``, or with the first.

    Raises BioqaError if there is no system, or none of the baseline's name, for an unknown edition, and for
    numbers of resamples that are too small or too large.
    """
    if not systems:
        raise BioqaError("there is no system to measure")
    if baseline is not None and baseline not in systems:
        raise BioqaError(f"the baseline {show(baseline)} is none of the systems: {', '.join(systems)}")
    if not FEWEST_RESAMPLES <= resamples <= MOST_RESAMPLES:
        raise BioqaError(f"resamples: {resamples} is not between {FEWEST_RESAMPLES} and {MOST_RESAMPLES:,}")
    if seed < 0:
        raise BioqaError(f"seed: {seed} is negative")
    order = sorted(systems, key=lambda name: name != baseline) if baseline else list(systems)
    sampler = _Sampler(resamples, seed)
    measured = [_measure(name, golden, systems[name], edition, sampler) for name in order]
    compared = [measured[0], *(_compare(other, measured[0], sampler) for other in measured[1:])]
    return Comparison(edition, tuple(golden), tuple(_correct(compared)), resamples, seed, CONFIDENCE)


@dataclass(frozen=True, slots=True)
class _Values:
    """A system's values of one kind, of the golden questions at ``places`` that count."""

    system: str
    kind: Kind
    places: tuple[int, ...]
    matrix: Floats
    """[places, NAMES] of values whose means are the measures; for GMAP, the logarithms."""

    @classmethod
    def of(cls, system: ComparedSystem, kind: Kind, places: Sequence[int] | None = None) -> "_Values":
        """The values of the questions that it answered, or of those at ``places`` among them."""
        wanted = range(len(system.per_question)) if places is None else places
        values = {position: measured for position in wanted if (measured := system.per_question[position])}
        items: dict[int, ItemMeasures] = {
            position: getattr(measures, kind) for position, measures in values.items()
        }
        if system.measures.edition == 9:
            items = {position: item for position, item in items.items() if item.gold}
        rows = [_row(item) for item in items.values()]
        matrix = np.array(rows, dtype=np.float64).reshape(-1, len(NAMES))
        return cls(system.name, kind, tuple(items), matrix)


class _Sampler:
    """Bootstrap samples; those of the same values are drawn once."""

    def __init__(self, resamples: int, seed: int) -> None:
        self.resamples = resamples
        self.seed = seed
        self._drawn: dict[tuple[str, Kind, tuple[int, ...]], Floats] = {}

    def __call__(self, values: _Values) -> Floats:
        """[resamples, NAMES]: the measures of each sample; equal draws for as many questions."""
        key = (values.system, values.kind, values.places)
        if key not in self._drawn:
            self._drawn[key] = _as_measures(resampled_means(values.matrix, self.resamples, self.seed))
        return self._drawn[key]


def _measure(
    name: str, golden: Sequence[Response], system: Sequence[Response], edition: int, sampler: _Sampler
) -> ComparedSystem:
    responses: dict[str, Response] = {}
    for response in system:
        responses.setdefault(response.question.id, response)
    items = per_question(golden, system, edition)
    measures = means(items, [r.question.id for r in golden if r.question.id not in responses], edition)
    # In golden order, as per_question's own list is.
    in_order = iter(items)
    aligned = tuple(next(in_order) if r.question.id in responses else None for r in golden)
    kinds: tuple[Kind, ...] = tuple(
        kind
        for kind in KINDS
        if any(getattr(response, kind) for response in golden)
        and any(getattr(response, kind) for response in system)
    )
    of_system = ComparedSystem(name, responses, measures, aligned, kinds, ())
    scores = [score for kind in kinds for score in _scores(of_system, kind, sampler)]
    return replace(of_system, scores=tuple(scores))


def _scores(system: ComparedSystem, kind: Kind, sampler: _Sampler) -> list[SystemScore]:
    values = _Values.of(system, kind)
    if not values.places:
        return []
    low, high = interval(sampler(values))
    official = system.measures.official()
    return [
        SystemScore(
            measure, official[measure], float(low[position]), float(high[position]), len(values.places)
        )
        for position, measure in enumerate(f"{name}_{kind}" for name in NAMES)
    ]


def _compare(system: ComparedSystem, baseline: ComparedSystem, sampler: _Sampler) -> ComparedSystem:
    differences = [
        difference
        for kind in KINDS
        if kind in system.kinds and kind in baseline.kinds
        for difference in _differences(system, baseline, kind, sampler)
    ]
    return replace(system, differences=tuple(differences))


def _differences(
    system: ComparedSystem, baseline: ComparedSystem, kind: Kind, sampler: _Sampler
) -> list[Difference]:
    pairs = zip(system.per_question, baseline.per_question, strict=True)
    shared = [position for position, (ours, theirs) in enumerate(pairs) if ours and theirs]
    ours, theirs = (_Values.of(responses, kind, shared) for responses in (system, baseline))
    if not ours.places:
        return []
    differences = ours.matrix - theirs.matrix
    # The samples are of the same questions on both sides.
    low, high = interval(sampler(ours) - sampler(theirs))
    # The columns of GMAP are logarithms. Exchanging values keeps the sum of the two means, and with it, the
    # larger the difference of the logarithms, the larger that of the GMAPs: both have the same p.
    p = randomisation_p(differences, sampler.resamples, sampler.seed)
    values = _as_measures(ours.matrix.mean(axis=0)) - _as_measures(theirs.matrix.mean(axis=0))
    wins, losses = ((side > _TIE).sum(axis=0) for side in (differences, -differences))
    return [
        Difference(
            f"{name}_{kind}",
            value=float(values[position]),
            low=float(low[position]),
            high=float(high[position]),
            p=float(p[position]),
            p_holm=float(p[position]),
            wins=int(wins[position]),
            ties=int(len(differences) - wins[position] - losses[position]),
            losses=int(losses[position]),
            questions=len(differences),
        )
        for position, name in enumerate(NAMES)
    ]


def _correct(systems: Sequence[ComparedSystem]) -> list[ComparedSystem]:
    """Correct each measure's p for the number of systems that were compared by it."""
    corrected: dict[tuple[str, str], float] = {}
    for measure in {difference.measure for system in systems for difference in system.differences}:
        tested = [(s.name, difference) for s in systems if (difference := s.difference(measure))]
        adjusted = holm([difference.p for _, difference in tested])
        corrected |= {(name, measure): p for (name, _), p in zip(tested, adjusted, strict=True)}
    return [
        replace(
            system,
            differences=tuple(
                replace(difference, p_holm=corrected[system.name, difference.measure])
                for difference in system.differences
            ),
        )
        for system in systems
    ]


def _row(item: ItemMeasures) -> tuple[float, ...]:
    smallest = np.finfo(np.float64).tiny
    logarithm = float(np.log(max(item.average_precision + GMAP_EPSILON, smallest)))
    return item.precision, item.recall, item.f1, item.average_precision, logarithm


def _as_measures(averages: Floats) -> Floats:
    """[…, NAMES] Means of values as measures: GMAP out of its logarithm."""
    shown_as = averages.copy()
    shown_as[..., -1] = np.exp(averages[..., -1])
    return shown_as


def _distance(system: ComparedSystem, baseline: ComparedSystem, position: int) -> float:
    ours, theirs = system.per_question[position], baseline.per_question[position]
    if ours is None or theirs is None:
        return 0.0
    distance = abs(ours.documents.average_precision - theirs.documents.average_precision)
    if "snippets" in system.kinds and "snippets" in baseline.kinds:
        distance += abs(ours.snippets.f1 - theirs.snippets.f1)
    return distance


def _difference_row(difference: Difference | None) -> dict[str, float | int | None]:
    fields = ("value", "low", "high", "p", "p_holm", "wins", "ties", "losses", "questions")
    names = ("difference", "difference_low", "difference_high", *fields[3:8], "shared_questions")
    return {
        name: None if difference is None else getattr(difference, field)
        for name, field in zip(names, fields, strict=True)
    }
