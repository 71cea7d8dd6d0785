"""The judged questions in bench/data: their form, and the figures of their card."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[2] / "bench" / "data"
KINDS = {"harm", "treatment", "yesno", "which", "number", "mechanism", "cause", "diagnosis"}
VOICES = {"clinician", "researcher", "lay"}


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = json.loads((DATA / "ordinary-questions.json").read_text(encoding="utf-8"))
    return read


def test_questions_have_all_keys_and_are_there_once(questions: list[dict[str, Any]]) -> None:
    for question in questions:
        assert question.keys() == {"id", "body", "kind", "voice", "seed", "answer", "judged"}
        assert question["kind"] in KINDS
        assert question["voice"] in VOICES
        assert question["answer"]
    for key in ("id", "body", "seed"):
        assert len({question[key] for question in questions}) == len(questions)


def test_judgments_are_places_with_grades_and_no_text(questions: list[dict[str, Any]]) -> None:
    for question in questions:
        places = set()
        for judged in question["judged"]:
            assert judged.keys() == {"pmid", "section", "begin", "end", "grade"}
            assert re.fullmatch(r"[1-9]\d*", judged["pmid"])
            assert judged["section"] in {"title", "abstract"}
            assert 0 <= judged["begin"] < judged["end"]
            assert judged["grade"] in {0, 1, 2}
            places.add((judged["pmid"], judged["section"], judged["begin"]))
        assert len(places) == len(question["judged"])


def test_every_question_is_answered_by_its_seed(questions: list[dict[str, Any]]) -> None:
    for question in questions:
        assert {"pmid": question["seed"], "grade": 2} in [
            {"pmid": judged["pmid"], "grade": judged["grade"]} for judged in question["judged"]
        ]


def test_the_card_has_the_figures_of_the_file(questions: list[dict[str, Any]]) -> None:
    card = (DATA / "README.md").read_text(encoding="utf-8")
    assert f"{len(questions)} questions" in card
    for key in ("kind", "voice"):
        for value, count in Counter(question[key] for question in questions).items():
            assert f"{value} ({count})" in card
    grades = Counter(judged["grade"] for question in questions for judged in question["judged"])
    for grade, count in grades.items():
        assert f"| {grade} | {count:,} |" in card
