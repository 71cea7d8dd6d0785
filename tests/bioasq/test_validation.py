"""Every fault named, with its question and field, and none where there is none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.domain import Question
from bioqa.bioasq.validation import Fault, validate
from tests.bioasq import entries
from tests.bioasq.entries import DOCUMENT, snippet

OTHER = "http://www.ncbi.nlm.nih.gov/pubmed/90000002"
TESTSET = (Question("q1", "Where is iron stored?", "factoid"), Question("q2", "Is zinc a metal?", "yesno"))


def entry(*snippets: object, **changes: object) -> dict[str, object]:
    return entries.entry(*snippets, **({"documents": [DOCUMENT, OTHER]} | changes))


def at(begin: int, end: int, **changes: object) -> dict[str, object]:
    return snippet(offsetInBeginSection=begin, offsetInEndSection=end, text="x" * (end - begin), **changes)


def many(count: int) -> list[object]:
    return [at(20 * number, 20 * number + 5) for number in range(count)]


@pytest.mark.parametrize(
    "question",
    [
        entry(snippet()),
        entry(),
        entry(documents=[]),
        entry(snippet(), documents=...),
        entry(snippets=...),
        entry(type=...),
        entry(body=...),
        entry(exact_answer=["ferritin"], ideal_answer=None, concepts=[]),
        entry(*many(10), documents=[f"{DOCUMENT[:-1]}{number}" for number in range(10)]),
        entry(
            at(0, 5), at(5, 9), at(0, 5, document=OTHER), at(0, 5, beginSection="title", endSection="title")
        ),
        entry(snippet(text="β\u00a0\u2009\n is stored.")),
    ],
)
def test_no_fault(question: dict[str, object]) -> None:
    assert validate({"questions": [question]}) == []


@pytest.mark.parametrize(
    ("question", "field", "message"),
    [
        (entry(type="essay"), "type", 'must be one of yesno, factoid, list, summary, not "essay"'),
        (entry(type=None), "type", "must be a string, not null"),
        (entry(body=5), "body", "must be a string, not 5"),
        (entry(body="\ud800"), "body", "holds half a character"),
        (entry(documents=..., snippets=...), "documents", "is missing, and so is snippets"),
        (entry(documents=None), "documents", "must be a list, which may be empty, not null"),
        (entry(snippets=None), "snippets", "must be a list, which may be empty, not null"),
        (entry(documents=DOCUMENT), "documents", "must be a list, which may be empty, not "),
        (entry(documents=[f"{DOCUMENT}{n}" for n in range(11)]), "documents", "at most 10, not 11"),
        (entry(*many(11)), "snippets", "must hold at most 10, not 11"),
        (entry(documents=[DOCUMENT, None]), "documents[1]", "must be a string, not null"),
        (entry(documents=["90000001"]), "documents[0]", 'a PMID, not "90000001"'),
        (entry(documents=["https" + DOCUMENT[4:]]), "documents[0]", "must be http://www.ncbi.nlm"),
        (entry(documents=[DOCUMENT, OTHER, DOCUMENT]), "documents[2]", "duplicate document"),
        (entry([]), "snippets[0]", "must be an object, not a list"),
        (entry(snippet(score=0.5)), "snippets[0].score", "is an unknown key"),
        (entry(snippet(text=...)), "snippets[0].text", "is missing"),
        (entry(snippet(document=...)), "snippets[0].document", "is missing"),
        (entry(snippet(offsetInEndSection=...)), "snippets[0].offsetInEndSection", "is missing"),
        (entry(snippet(document=7)), "snippets[0].document", "must be a string, not 7"),
        (entry(snippet(), documents=[OTHER]), "snippets[0].document", "is not among the question's"),
        (entry(snippet(text=None)), "snippets[0].text", "must be a string, not null"),
        (
            entry(snippet(text="Iron is stored")),
            "snippets[0].text",
            "has 14 characters, but the offsets span 15",
        ),
        (entry(snippet(text="Iron is st\udfffred.")), "snippets[0].text", "holds half a character"),
        (entry(snippet(endSection="title")), "snippets[0].endSection", 'same as beginSection, "abstract"'),
        (
            entry(snippet(offsetInBeginSection=True)),
            "snippets[0].offsetInBeginSection",
            "an integer, not true",
        ),
        (entry(snippet(offsetInEndSection=25.0)), "snippets[0].offsetInEndSection", "an integer, not 25.0"),
        (entry(snippet(offsetInEndSection="25")), "snippets[0].offsetInEndSection", 'integer, not "25"'),
        (
            entry(snippet(offsetInBeginSection=-2, offsetInEndSection=13)),
            "snippets[0].offsetInBeginSection",
            "must be from 0 to 2147483647, not -2",
        ),
        (
            entry(snippet(offsetInEndSection=9)),
            "snippets[0].offsetInEndSection",
            "must be greater than offsetInBeginSection, 10, not 9",
        ),
        (entry(snippet(), snippet()), "snippets[1]", "repeats snippets[0]"),
        (entry(at(10, 20), at(0, 11)), "snippets[1]", "overlaps with snippets[0]"),
        (entry(at(0, 50), at(60, 70), at(10, 20)), "snippets[2]", "overlaps with snippets[0]"),
    ],
)
def test_one_fault(question: dict[str, object], field: str, message: str) -> None:
    (fault,) = validate({"questions": [question]})
    assert (fault.question, fault.field) == ("q1", field)
    assert message in fault.message


@pytest.mark.parametrize("section", ["sections.0", "", "Abstract", None, 1, []])
def test_a_wrong_section_name(section: object) -> None:
    faults = validate({"questions": [entry(snippet(beginSection=section, endSection=section))]})
    assert [fault.field for fault in faults] == ["snippets[0].beginSection", "snippets[0].endSection"]


@pytest.mark.parametrize(
    ("data", "field", "message"),
    [
        (None, "", "must be an object with the key questions, not null"),
        ([], "", "must be an object with the key questions, not a list"),
        ({}, "questions", "is missing"),
        ({"questions": {}}, "questions", "must be a list, not an object"),
        ({"questions": []}, "questions", "must hold at least one question"),
    ],
)
def test_a_file_that_is_no_submission(data: object, field: str, message: str) -> None:
    assert validate(data) == [Fault("", field, message)]


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        ("q", Fault("question number 2", "", 'must be an object, not "q"')),
        (entry(id=""), Fault("question number 2", "id", 'must be a string that is not empty, not ""')),
        (entry(id=...), Fault("question number 2", "id", "must be a string that is not empty, not null")),
        (entry(id="q1"), Fault("q1", "id", "duplicate question id")),
    ],
)
def test_ids(question: object, fault: Fault) -> None:
    assert validate({"questions": [entry(), question]}) == [fault]


def test_against_a_testset() -> None:
    second = entry(id="q2", body="Is zinc a metal?", type="yesno")
    assert validate({"questions": [second, entry()]}, TESTSET) == []
    assert validate({"questions": [entry()]}, TESTSET) == [
        Fault("", "questions", "must be as many as in the test set, 2, not 1"),
        Fault("q2", "id", "is in the test set but not here"),
    ]
    assert validate({"questions": [entry(), entry(id="q3")]}, TESTSET) == [
        Fault("q3", "id", "is not in the test set"),
        Fault("q2", "id", "is in the test set but not here"),
    ]
    assert validate({"questions": [entry(body="Where?", type="list"), second]}, TESTSET) == [
        Fault("q1", "body", 'must be the test set\'s, "Where is iron stored?", not "Where?"'),
        Fault("q1", "type", 'must be the test set\'s, "factoid", not "list"'),
    ]


def test_all_faults_at_once() -> None:
    bad = snippet(score=1, offsetInEndSection=None, beginSection="sections.0", document="1")
    faults = validate({"questions": [entry(bad, documents=None), 7, entry(id="q1", type="essay")]}, TESTSET)
    assert [(fault.question, fault.field) for fault in faults] == [
        ("q1", "documents"),
        ("q1", "snippets[0].score"),
        ("q1", "snippets[0].document"),
        ("q1", "snippets[0].beginSection"),
        ("q1", "snippets[0].endSection"),
        ("q1", "snippets[0].offsetInEndSection"),
        ("question number 2", ""),
        ("q1", "id"),
        ("q1", "type"),
        ("q1", "type"),
        ("", "questions"),
        ("q2", "id"),
    ]


def test_faults_can_be_shown_whatever_the_file_holds() -> None:
    data = {"questions": [entry(snippet(**{"\ud800": 1}), id="\udfff", type="\ud800")]}
    faults = validate(data)
    assert [fault.field for fault in faults] == ["id", "type", "type", r"snippets[0].\ud800"]
    assert str(faults[0]).startswith(r"\udfff: id: holds half a character")
    for fault in faults:
        str(fault).encode()
    assert str(Fault("", "questions", "is missing")) == "questions: is missing"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.sampled_from([DOCUMENT, OTHER, "abstract", "title", "q1", "q2", 10**40]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*entry(), *snippet(), "questions"]) | st.text(), inner, max_size=6)
    ),
    max_leaves=30,
)
mutated = st.one_of(
    st.builds(
        lambda key, value: entry(snippet(**{key: value})), st.sampled_from([*snippet(), "x"]), json_values
    ),
    st.builds(
        lambda key, value: entry(snippet(), **{key: value}), st.sampled_from([*entry(), "x"]), json_values
    ),
)


@given(json_values | mutated)
def test_no_json_value_makes_it_raise(value: Any) -> None:
    for data in (value, {"questions": value}, {"questions": [value, entry()]}):
        for testset in (None, TESTSET):
            for fault in validate(data, testset):
                assert fault.message
                json.dumps([fault.question, fault.field, fault.message], ensure_ascii=False).encode()


def test_long_lists_take_no_quadratic_time() -> None:
    question = entry(*[at(20 * number, 20 * number + 5) for number in range(20_000)])
    question["documents"] = [f"{DOCUMENT}{number}" for number in range(20_000)] + [DOCUMENT]
    faults = validate({"questions": [question]})
    assert [fault.field for fault in faults] == ["documents", "snippets"]
