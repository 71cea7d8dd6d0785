"""Golden files with everything that real ones get wrong."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.domain import Question, Response, Snippet
from bioqa.bioasq.golden import Irregularity, is_document_url, parse_golden
from bioqa.system.errors import BioqaError
from tests.bioasq.entries import DOCUMENT, entry, snippet


def test_a_regular_file_has_no_irregularities() -> None:
    concepts = {"concepts": ["x"], "triples": [{"s": None}], "ideal_answer": ["In ferritin."]}
    golden = parse_golden({"questions": [entry(snippet(), **concepts)], "version": 2}, "g")
    text = Snippet(DOCUMENT, "Iron is stored.", "abstract", "abstract", 10, 25)
    question = Question("q1", "Where is iron stored?", "factoid")
    assert golden.responses == (Response(question, (DOCUMENT,), (text,)),)
    assert golden.irregularities == {}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (entry(snippet(offsetInEndSection=3)), {Irregularity.END_BEFORE_BEGIN: 1}),
        (entry(snippet(offsetInEndSection=26)), {Irregularity.LENGTH: 1}),
        (entry(snippet(text=" Iron is stored")), {Irregularity.OUTER_SPACE: 1}),
        (entry(snippet(text="Iron is\nstored.")), {Irregularity.LINE_BREAK: 1}),
        (entry(snippet(text="Iron is st\ud800red.")), {Irregularity.LONE_SURROGATE: 1}),
        (
            entry(snippet(beginSection="sections.0", endSection="sections.0")),
            {Irregularity.SECTION_NAME: 1},
        ),
        (entry(snippet(beginSection="title")), {Irregularity.TWO_SECTIONS: 1}),
        (entry(snippet(), documents=[]), {Irregularity.UNLISTED_DOCUMENT: 1}),
        (entry(snippet(), documents=[DOCUMENT] * 3), {Irregularity.DUPLICATE_DOCUMENT: 2}),
        (entry(documents=["90000001"]), {Irregularity.DOCUMENT_FORM: 1}),
        (entry(documents=None), {Irregularity.NULL_LIST: 1}),
        (entry(documents=None, snippets=None), {Irregularity.NULL_LIST: 2}),
        (entry(snippets=...), {Irregularity.MISSING_LIST: 1}),
        (entry(snippet(), None), {Irregularity.NULL_ITEM: 1}),
        (entry(documents=[None, DOCUMENT]), {Irregularity.NULL_ITEM: 1}),
        (entry(snippet(), snippet()), {Irregularity.DUPLICATE_SNIPPET: 1}),
        (entry(snippet(score=1.5)), {Irregularity.UNKNOWN_KEY: 1}),
        (entry(snippet(text=None)), {Irregularity.NO_TEXT: 1, Irregularity.LENGTH: 1}),
        (
            entry(snippet(offsetInBeginSection=-1, offsetInEndSection=14)),
            {Irregularity.NEGATIVE_OFFSET: 1},
        ),
        (entry(type=...), {Irregularity.NO_TYPE: 1}),
        (entry(type="essay"), {Irregularity.NO_TYPE: 1}),
        (entry(body=...), {Irregularity.NO_BODY: 1}),
    ],
    ids=lambda value: "+".join(kind.name for kind in value) if "id" not in value else "",
)
def test_an_irregularity_is_survived_and_counted(
    question: dict[str, object], expected: dict[str, int]
) -> None:
    golden = parse_golden({"questions": [question]}, "g")
    assert len(golden.responses) == 1
    assert golden.irregularities == expected


def test_questions_of_one_id_are_all_kept() -> None:
    golden = parse_golden({"questions": [entry(), entry()]}, "g")
    assert [response.question.id for response in golden.responses] == ["q1", "q1"]
    assert golden.irregularities == {Irregularity.DUPLICATE_QUESTION: 1}


def test_what_stands_in_the_file_is_not_changed() -> None:
    text = " A\u00a0B\u2009C\n"
    data = {"questions": [entry(snippet(text=text, beginSection="sections.0"), documents=[DOCUMENT] * 2)]}
    (response,) = parse_golden(data, "g").responses
    assert response.documents == (DOCUMENT, DOCUMENT)
    assert response.snippets[0].text == text
    assert (response.snippets[0].begin_section, response.snippets[0].end_section) == (
        "sections.0",
        "abstract",
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "g: must be an object with the key questions, not a list"),
        ({}, "g: questions: must be a list, but is missing"),
        ({"questions": None}, "g: questions: must be a list, but is null"),
        ({"questions": ["q"]}, 'g: question number 1: must be an object, not "q"'),
        ({"questions": [entry(), entry(id=...)]}, "question number 2 (id null): id: must be a string"),
        ({"questions": [entry(id="")]}, 'question number 1 (id ""): id: must be a string'),
        ({"questions": [entry(id=7)]}, "question number 1 (id 7): id: must be a string, not 7"),
        ({"questions": [entry(body=[])]}, '(id "q1"): body: must be a string, not a list'),
        ({"questions": [entry(documents="d")]}, '(id "q1"): documents: must be a list, not "d"'),
        ({"questions": [entry(documents=[1])]}, '(id "q1"): documents[0]: must be a string, not 1'),
        ({"questions": [entry("s")]}, '(id "q1"): snippets[0]: must be an object, not "s"'),
        ({"questions": [entry(snippet(document=None))]}, "snippets[0]: document: is missing"),
        (
            {"questions": [entry(snippet(), snippet(offsetInEndSection="9"))]},
            'snippets[1]: offsetInEndSection: must be an integer, but is "9"',
        ),
        (
            {"questions": [entry(snippet(offsetInBeginSection=True))]},
            "snippets[0]: offsetInBeginSection: must be an integer, but is true",
        ),
        (
            {"questions": [entry(snippet(offsetInBeginSection=...))]},
            "snippets[0]: offsetInBeginSection: must be an integer, but is missing",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(data: object, message: str) -> None:
    with pytest.raises(BioqaError) as caught:
        parse_golden(data, "g")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("document", "good"),
    [
        (DOCUMENT, True),
        ("https" + DOCUMENT[4:], False),
        ("http://pubmed.ncbi.nlm.nih.gov/90000001", False),
        ("90000001", False),
        ("http://www.ncbi.nlm.nih.gov/pubmed/", False),
        ("http://www.ncbi.nlm.nih.gov/pubmed/0123", False),
        ("http://www.ncbi.nlm.nih.gov/pubmed/١٢", False),
        ("http://www.ncbi.nlm.nih.gov/pubmed/12\n", False),
        ("http://www.ncbi.nlm.nih.gov/pubmed/12/", False),
        ("", False),
    ],
)
def test_is_document_url(document: str, good: bool) -> None:
    assert is_document_url(document) is good


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*entry(), *snippet(), "questions", "score"]),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@given(json_values)
def test_any_json_is_read_or_refused(value: Any) -> None:
    for data in (value, {"questions": value}, {"questions": [value]}):
        refused = None
        try:
            golden = parse_golden(data, "g")
        except BioqaError as error:
            refused = str(error)
        if refused is None:
            assert all(response.question.id for response in golden.responses)
        else:
            assert refused.startswith("g: ")
