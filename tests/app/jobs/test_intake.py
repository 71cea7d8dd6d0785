import pytest

from bioqa.app.http.errors import FieldError
from bioqa.app.jobs.intake import TestSetLimits, content_hash, entries
from bioqa.app.jobs.records import Entry

GOOD = {"id": "a", "type": "list", "body": " Which? ", "concepts": [1]}


def taken(*questions: object) -> list[Entry]:
    return entries({"questions": list(questions)}, TestSetLimits(10, 20))


def test_right_questions_are_taken_as_they_are() -> None:
    assert taken(GOOD, {"id": "b", "body": "x"}) == [
        Entry("a", " Which? ", "list", "questions[0]"),
        Entry("b", "x", None, "questions[1]"),
    ]


@pytest.mark.parametrize(
    ("question", "kept", "field", "word"),
    [
        ({"id": "b"}, Entry("b", ""), "questions[1].body", "is missing"),
        ({"id": "b", "body": "  "}, Entry("b", "  "), "questions[1].body", "white space"),
        (
            {"id": "b", "body": "y" * 21},
            Entry("b", "y" * 20),
            "questions[1].body",
            "at most 20 characters, not 21",
        ),
        ({"id": "b", "body": 7, "type": "list"}, Entry("b", "", "list"), "questions[1].body", "string"),
        ({"id": "b", "body": "x\ud800"}, Entry("b", ""), "questions[1].body", "surrogate"),
        ({"id": "b", "body": "x", "type": "YesNo"}, Entry("b", "x"), "questions[1].type", "yesno"),
        ({"id": "b", "body": "x", "type": []}, Entry("b", "x"), "questions[1].type", "yesno"),
        ({"body": "x"}, Entry(None, "x"), "questions[1].id", "is missing"),
        ({"id": "", "body": "x"}, Entry(None, "x"), "questions[1].id", "1"),
        ({"id": "\udfff", "body": "x"}, Entry(None, "x"), "questions[1].id", "surrogate"),
        ({"id": 5, "body": "x"}, Entry(None, "x"), "questions[1].id", "string"),
        ({"id": "a", "body": "x"}, Entry(None, "x"), "questions[1].id", "duplicate question id"),
        (None, Entry(None, ""), "questions[1]", "must be an object, not null"),
        ([], Entry(None, ""), "questions[1]", "must be an object, not a list"),
    ],
)
def test_a_wrong_question_is_told_in_its_place_and_spoils_no_other(
    question: object, kept: Entry, field: str, word: str
) -> None:
    first, wrong, last = taken(GOOD, question, {"id": "c", "body": "x"})
    assert first.fault is last.fault is None
    assert (wrong.id, wrong.body, wrong.type) == (kept.id, kept.body, kept.type)
    assert wrong.field == field
    assert wrong.fault is not None
    assert word in wrong.fault


def test_of_two_questions_with_one_id_the_first_keeps_it_though_it_is_wrong() -> None:
    first, second, other = taken({"id": "a", "body": ""}, {"id": "a", "body": "x"}, {"id": "b", "body": "x"})
    assert (first.id, second.id, other.id) == ("a", None, "b")
    assert None not in (first.fault, second.fault)


@pytest.mark.parametrize(
    ("data", "field", "word"),
    [
        ([], "the test set", "must be an object with the key questions, not a list"),
        ({}, "questions", "must be a list, but is missing"),
        ({"questions": {}}, "questions", "must be a list, but is an object"),
        ({"questions": []}, "questions", "must be 1 to 10, not 0"),
        ({"questions": [GOOD] * 11}, "questions", "must be 1 to 10, not 11"),
        ({"questions": [1]}, "questions[0]", "must be an object, not 1"),
        ({"questions": [{"id": "a"}, 2]}, "questions[0].body", "is missing (and 1 more"),
    ],
)
def test_what_holds_no_question_to_answer_is_refused(data: object, field: str, word: str) -> None:
    with pytest.raises(FieldError) as caught:
        entries(data, TestSetLimits(10, 20))
    assert caught.value.problem.field == field
    assert word in caught.value.problem.message


def test_the_content_is_what_is_asked_not_how_it_is_written() -> None:
    reordered = {"body": " Which? ", "type": "list", "id": "a"}
    assert content_hash(taken(GOOD), None) == content_hash(taken(reordered), None)
    others = [taken({**GOOD, "body": "Which?"}), taken(GOOD, 3), taken({**GOOD, "type": "yesno"})]
    hashes = {content_hash(each, None) for each in (taken(GOOD), *others)} | {content_hash(taken(GOOD), "x")}
    assert len(hashes) == 5


def test_what_is_stored_of_a_refused_question_is_short() -> None:
    long = "x" * 1_000_000
    kept = taken(
        {"id": long, "body": long}, {"id": "a", "body": long}, {"id": 7, "body": long}, GOOD | {"id": "b"}
    )
    assert [entry.id for entry in kept] == [None, "a", None, "b"]
    fields = ["questions[0].body", "questions[1].body", "questions[2].id"]
    assert [entry.field for entry in kept if entry.fault] == fields
    for entry in kept:
        assert len(entry.body) <= 20
        assert len(entry.fault or "") < 300
