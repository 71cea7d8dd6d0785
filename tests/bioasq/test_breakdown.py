"""Parts of a comparison: each is a mean over the right questions."""

from dataclasses import replace

import pytest

from bioqa.bioasq.breakdown import by_gold, by_type, curves, differences
from bioqa.bioasq.comparison import compare
from bioqa.bioasq.measures import document_measures, evaluate, per_question
from tests.bioasq.comparing import TYPES, golden, system

GOLD = golden()
SYSTEMS = {"a": system(GOLD, 0.3, 1), "b": system(GOLD, 0.5, 2)}
COMPARISON = compare(GOLD, SYSTEMS, 8, resamples=100)


def test_groups_by_type_are_official_measures_of_their_questions() -> None:
    groups = by_type(COMPARISON, "documents")
    assert [group.name for group in groups] == list(TYPES)
    for group in groups:
        gold = [each for each in GOLD if each.question.type == group.name]
        assert group.questions == len(gold) == 6
        assert group.means == {
            name: pytest.approx(evaluate(gold, answers, 8).documents.map) for name, answers in SYSTEMS.items()
        }


def test_groups_by_gold_hold_every_question_once() -> None:
    groups = by_gold(COMPARISON, "snippets")
    assert sum(group.questions for group in groups) == len(GOLD)
    few = next(group for group in groups if group.name == "2–3")
    gold = [each for each in GOLD if len(each.documents) in (2, 3)]
    assert few.questions == len(gold) > 0
    assert few.means["b"] == pytest.approx(evaluate(gold, SYSTEMS["b"], 8).snippets.f1)


def test_groups_hold_what_all_systems_answered() -> None:
    found = compare(GOLD, {"a": SYSTEMS["a"], "b": SYSTEMS["b"][4:]}, 8, resamples=100)
    assert sum(group.questions for group in by_type(found, "documents")) == len(GOLD) - 4


def test_questions_without_a_type_are_a_group() -> None:
    gold = [replace(each, question=replace(each.question, type=None)) for each in GOLD]
    (group,) = by_type(compare(gold, SYSTEMS, 8, resamples=100), "documents")
    assert (group.name, group.questions) == ("no type", len(GOLD))


def test_differences_are_sorted_and_complete() -> None:
    found = differences(COMPARISON, COMPARISON.systems[1], "documents")
    ours, theirs = (per_question(GOLD, SYSTEMS[name], 8) for name in ("b", "a"))
    assert sorted(place for place, _ in found) == list(range(len(GOLD)))
    assert [value for _, value in found] == sorted((value for _, value in found), reverse=True)
    for place, value in found:
        assert value == (ours[place].documents.average_precision - theirs[place].documents.average_precision)


def test_curves_end_at_the_measures_of_the_whole_lists() -> None:
    for curve in curves(COMPARISON):
        official = evaluate(GOLD, SYSTEMS[curve.system], 8).documents
        assert curve.points[-1] == pytest.approx((official.recall, official.precision))
        first = [
            document_measures(gold.documents, answer.documents[:3], 8)
            for gold, answer in zip(GOLD, SYSTEMS[curve.system], strict=True)
        ]
        assert curve.points[2] == pytest.approx(
            (
                sum(each.recall for each in first) / len(GOLD),
                sum(each.precision for each in first) / len(GOLD),
            )
        )
        recalls = [recall for recall, _ in curve.points]
        assert recalls == sorted(recalls)
