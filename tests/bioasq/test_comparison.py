"""Comparisons: the official measures, and statistics that plain code confirms."""

import json
import math
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from bioqa.bioasq.comparison import NAMES, Comparison, compare
from bioqa.bioasq.domain import Response
from bioqa.bioasq.measures import EDITIONS, GMAP_EPSILON, evaluate, per_question
from bioqa.system.errors import BioqaError
from tests.bioasq.comparing import golden, system

GOLD = golden()
SYSTEMS = {"a": system(GOLD, 0.3, 1), "b": system(GOLD, 0.5, 2), "c": system(GOLD, 0.32, 3)}


def compared(edition: int = 8, **changes: Any) -> Comparison:
    return compare(GOLD, SYSTEMS, edition, **{"resamples": 1000, **changes})


@pytest.mark.parametrize("edition", EDITIONS)
def test_values_are_the_official_ones_to_the_last_digit(edition: int) -> None:
    found = compared(edition)
    for each in found.systems:
        official = evaluate(GOLD, SYSTEMS[each.name], edition)
        assert each.measures == official
        assert {score.measure: score.value for score in each.scores} == official.official()
        for score in each.scores:
            assert score.low <= score.value <= score.high
            assert score.low < score.high


def test_a_question_without_gold_counts_as_in_the_official_means() -> None:
    gold = [replace(GOLD[0], documents=(), snippets=()), *GOLD[1:]]
    for edition, counted in ((8, len(gold)), (9, len(gold) - 1)):
        found = compare(gold, SYSTEMS, edition, resamples=100)
        official = evaluate(gold, SYSTEMS["b"], edition).official()
        b = found.systems[1]
        assert {score.measure: score.value for score in b.scores} == official
        assert (
            {each.questions for each in b.scores} == {each.questions for each in b.differences} == {counted}
        )


def small(count: int = 8) -> Comparison:
    """So few questions that p is exact."""
    return compare(GOLD[:count], {name: each[:count] for name, each in SYSTEMS.items()}, 8)


def test_differences_wins_and_p_by_plain_code() -> None:
    found = small()
    ours, theirs = (per_question(GOLD[:8], SYSTEMS[name][:8], 8) for name in ("b", "a"))
    differences = [
        o.documents.average_precision - t.documents.average_precision
        for o, t in zip(ours, theirs, strict=True)
    ]
    b = found.systems[1].difference("map_documents")
    assert b is not None
    assert b.value == pytest.approx(sum(differences) / 8)
    assert (b.wins, b.ties, b.losses) == (
        sum(each > 1e-12 for each in differences),
        sum(abs(each) <= 1e-12 for each in differences),
        sum(each < -1e-12 for each in differences),
    )
    reached = [
        abs(sum(sign * each for sign, each in zip(signs, differences, strict=True)))
        >= abs(sum(differences)) - 1e-9
        for signs in product((1, -1), repeat=8)
    ]
    assert b.p == pytest.approx(sum(reached) / len(reached))
    assert b.low <= b.value <= b.high


def test_p_of_gmap_is_that_of_exchanged_gmaps() -> None:
    """The logarithms that are tested, and the GMAPs themselves, order all exchanges alike."""
    found = small().systems[1].difference("gmap_snippets")
    ours, theirs = (
        [each.snippets.average_precision + GMAP_EPSILON for each in per_question(GOLD[:8], SYSTEMS[name], 8)]
        for name in ("b", "a")
    )

    def difference(signs: tuple[bool, ...]) -> float:
        pairs = [(o, t) if kept else (t, o) for o, t, kept in zip(ours, theirs, signs, strict=True)]
        return math.prod(o for o, _ in pairs) ** (1 / 8) - math.prod(t for _, t in pairs) ** (1 / 8)

    observed = difference((True,) * 8)
    reached = [abs(difference(s)) >= abs(observed) * (1 - 1e-9) for s in product((True, False), repeat=8)]
    assert found is not None
    assert found.value == pytest.approx(observed)
    assert found.p == pytest.approx(sum(reached) / len(reached))


def test_p_is_corrected_for_the_number_of_systems() -> None:
    found = compared()
    for measure in (f"{name}_{kind}" for name in NAMES for kind in ("documents", "snippets")):
        tested = [d for each in found.systems if (d := each.difference(measure))]
        low, high = sorted(tested, key=lambda each: each.p)
        assert low.p_holm == pytest.approx(min(1.0, 2 * low.p))
        assert high.p_holm == pytest.approx(max(low.p_holm, high.p))


def test_the_same_numbers_every_run_whatever_else_is_compared() -> None:
    first = compared()
    assert json.dumps(first.rows()) == json.dumps(compared().rows())
    alone = compare(GOLD, {"a": SYSTEMS["a"], "c": SYSTEMS["c"]}, 8, resamples=1000)
    ours, theirs = first.systems[2], alone.systems[1]
    assert ours.scores == theirs.scores
    assert [replace(each, p_holm=0.0) for each in ours.differences] == [
        replace(each, p_holm=0.0) for each in theirs.differences
    ]
    assert compared(seed=1).rows() != first.rows()


def test_the_baseline_comes_first_and_has_no_differences() -> None:
    found = compared(baseline="c")
    assert [each.name for each in found.systems] == ["c", "a", "b"]
    assert found.baseline.differences == ()
    # Seen from the other side, the difference has the other sign and the same p.
    forth, back = (
        compared().systems[2].difference("map_documents"),
        found.systems[1].difference("map_documents"),
    )
    assert forth is not None
    assert back is not None
    assert (back.value, back.wins, back.losses, back.p) == (-forth.value, forth.losses, forth.wins, forth.p)


def test_differences_are_of_the_questions_that_both_answered() -> None:
    found = compare(GOLD, {"a": SYSTEMS["a"][4:], "b": SYSTEMS["b"][:-2]}, 8, resamples=100)
    a, b = found.systems
    assert (a.measures.missing, b.measures.missing) == (4, 2)
    assert {each.questions for each in b.differences} == {len(GOLD) - 6}
    shared = GOLD[4:-2]
    means = [evaluate(shared, SYSTEMS[name], 8).documents.map for name in ("b", "a")]
    of_map = b.difference("map_documents")
    assert of_map is not None
    assert of_map.value == pytest.approx(means[0] - means[1])


def test_a_system_without_snippets_is_compared_by_documents_alone() -> None:
    run = system(GOLD, 0.4, 9, snippets=False)
    found = compare(GOLD, {"a": SYSTEMS["a"], "run": run}, 8, resamples=100)
    assert found.systems[1].kinds == ("documents",)
    measures = {f"{name}_documents" for name in NAMES}
    assert {each.measure for each in found.systems[1].scores} == measures
    assert {each.measure for each in found.systems[1].differences} == measures


def test_rows_are_those_of_a_data_frame() -> None:
    found = compared()
    rows, of_questions = found.rows(), found.question_rows()
    assert len(rows) == 3 * 10
    assert len(of_questions) == 3 * len(GOLD)
    assert len({tuple(row) for row in rows}) == len({tuple(row) for row in of_questions}) == 1
    assert all(row["difference"] is None for row in rows if row["system"] == "a")
    assert of_questions[0]["question"] == "q0"
    assert of_questions[0]["type"] == "yesno"


def test_the_questions_that_differ_most() -> None:
    found = compared()
    places = found.most_different(5)

    def distance(place: int) -> float:
        values = [per_question(GOLD, SYSTEMS[name], 8)[place] for name in SYSTEMS]
        return max(
            abs(each.documents.average_precision - values[0].documents.average_precision)
            + abs(each.snippets.f1 - values[0].snippets.f1)
            for each in values[1:]
        )

    assert [distance(place) for place in places] == pytest.approx(
        sorted(map(distance, range(len(GOLD))), reverse=True)[:5]
    )
    assert compare(GOLD, {"a": SYSTEMS["a"]}, 8).most_different(5) == []


def test_duplicate_questions_count_as_in_the_official_means() -> None:
    gold: list[Response] = [*GOLD, GOLD[0]]
    found = compare(gold, {"a": SYSTEMS["a"], "b": SYSTEMS["b"]}, 8, resamples=100)
    assert found.systems[1].measures == evaluate(gold, SYSTEMS["b"], 8)
    assert len(found.question_rows()) == 2 * len(gold)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"baseline": "x"}, '"x" is none of the systems: a, b, c'),
        ({"resamples": 99}, "99 is not between 100 and 1,000,000"),
        ({"resamples": 10**9}, "is not between"),
        ({"seed": -1}, "-1 is negative"),
        ({"edition": 7}, "edition 7 is unknown"),
    ],
)
def test_what_cannot_be_compared(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BioqaError, match=words):
        compared(**changes)
    with pytest.raises(BioqaError, match="no system"):
        compare(GOLD, {}, 8)
