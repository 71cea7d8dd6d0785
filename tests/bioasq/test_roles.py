"""Files in the wrong place, and those that only look odd."""

from dataclasses import replace

import pytest

from bioqa.bioasq.domain import Question, Response
from bioqa.bioasq.golden import parse_golden
from bioqa.bioasq.roles import check_golden, check_pair, check_submission
from bioqa.system.errors import BioqaError
from tests.bioasq.comparing import golden, system

GOLD = golden(20)
ANSWERS = system(GOLD, 0.4, 1)


def test_a_test_set_is_neither_gold_nor_answers() -> None:
    read = parse_golden({"questions": [{"id": "a", "body": "?", "type": "list"}]}, "file")
    with pytest.raises(BioqaError, match=r"^file: is a test set, not a golden file"):
        check_golden(read.responses, "file")
    with pytest.raises(BioqaError, match=r"^file: is a test set, not a submission"):
        check_submission(read, "file")


def test_empty_answers_are_answers_and_gold_for_one_question_is_gold() -> None:
    empty = {"id": "a", "documents": [], "snippets": []}
    check_submission(parse_golden({"questions": [empty]}, "file"), "file")
    check_submission(parse_golden({"questions": []}, "file"), "file")
    check_golden([Response(Question("a", "?"), (), ()), GOLD[0]], "file")
    with pytest.raises(BioqaError, match="has no questions"):
        check_golden([], "file")


def test_swapped_files_are_recognised() -> None:
    with pytest.raises(BioqaError, match=r"^x and y: are swapped"):
        check_pair(ANSWERS, GOLD, "x", "y")
    # Also where golden lists are long, as in the first years.
    long = [replace(each, documents=tuple(map(str, range(10 + place)))) for place, each in enumerate(GOLD)]
    with pytest.raises(BioqaError, match="are swapped"):
        check_pair(ANSWERS, long, "x", "y")


def test_files_in_their_places_pass() -> None:
    check_pair(GOLD, ANSWERS, "x", "y")
    check_pair(GOLD, GOLD, "x", "y")
    check_pair(ANSWERS, ANSWERS, "x", "y")
    # Whatever a system returns.
    check_pair(GOLD, [replace(each, documents=each.documents * 30) for each in ANSWERS], "x", "y")
    check_pair(GOLD, [replace(each, documents=()) for each in ANSWERS], "x", "y")
    # Ten golden documents for each of a few questions are no sign.
    check_pair(ANSWERS[:9], GOLD, "x", "y")


def test_files_of_different_questions_are_told() -> None:
    with pytest.raises(BioqaError, match=r"^x and y: have no question in common"):
        check_pair(GOLD[:10], ANSWERS[10:], "x", "y")
