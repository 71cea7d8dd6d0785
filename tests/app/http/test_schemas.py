"""What requests may hold, and how answers are written."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bioqa.app.answers.answering import Answerer, SearchOptions
from bioqa.app.http.schemas import SearchRequest, TestSet, search_answer, stored_document
from bioqa.bioasq.domain import Question
from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.files import parse_testset
from tests.app.conftest import document
from tests.app.requests import BODY

VALUES: st.SearchStrategy[object] = st.sampled_from(
    ["a", "b", "", " ", None, 3, "yesno", "x\ud800", [], "What is it?"]
)


ENTRIES = st.one_of(
    st.fixed_dictionaries({}, optional={"id": VALUES, "type": VALUES, "body": VALUES}), VALUES
)


@settings(max_examples=150, deadline=None)
@given(entries=st.lists(ENTRIES, max_size=2))
def test_http_takes_the_test_sets_that_files_may_hold_and_no_others(entries: list[object]) -> None:
    data = {"questions": entries}

    def by_file() -> tuple[Question, ...] | None:
        try:
            return parse_testset(data, "file")
        except BioqaError:
            return None

    def by_http() -> tuple[Question, ...] | None:
        try:
            questions = tuple(asked.question() for asked in TestSet.model_validate(data).questions)
        except ValueError:
            return None
        return questions if len({q.id for q in questions}) == len(questions) else None

    assert by_http() == by_file()


@pytest.mark.parametrize("value", [10.0, 10])
def test_a_whole_number_is_a_number_however_json_writes_it(value: object) -> None:
    assert SearchRequest.model_validate({"body": "x", "max_documents": value}).max_documents == 10


def test_an_answer_is_written_with_everything_it_has(answerer: Answerer) -> None:
    answer = answerer.answer(Question("q", BODY, "yesno"), SearchOptions(3, 2))
    written = search_answer(answer, "mine")
    assert (written.id, written.type, written.body) == ("mine", "yesno", BODY)
    assert [d.score for d in written.documents] == [d.score for d in answer.documents]
    offsets = [(s.beginSection, s.offsetInBeginSection, s.offsetInEndSection) for s in written.snippets]
    assert offsets == [(s.sentence.section, s.sentence.begin, s.sentence.end) for s in answer.sentences]
    assert written.timings_ms.total == round(answer.timings_ms.total, 3)
    assert (written.degraded, written.degraded_reason) == (False, None)
    degraded = search_answer(replace(answer, degraded="the ranker failed"))
    assert (degraded.id, degraded.degraded, degraded.degraded_reason) == (None, True, "the ranker failed")


def test_a_document_is_written_as_it_is_stored() -> None:
    stored = document(1, "A title.", "One. Two.")
    written = stored_document(stored)
    assert (written.pmid, written.document) == (stored.pmid, stored.url)
    assert [(s.section, s.begin, s.end) for s in written.sentences] == [
        ("title", 0, 8),
        ("abstract", 0, 4),
        ("abstract", 5, 9),
    ]
