"""What requests may hold, and how answers are written."""

from dataclasses import replace

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.question import Options
from bioqa.app.api.embeddings import EmbeddingsRequest
from bioqa.app.api.rerank import RerankRequest
from bioqa.app.http.schemas import AskedQuestion, SearchRequest, TestSet, search_answer, stored_document
from bioqa.bioasq.domain import Question
from bioqa.bioasq.files import parse_testset
from bioqa.models.answers.confidence import Confidence
from bioqa.system.errors import BioqaError
from bioqa.system.language import Language
from tests.app.conftest import document
from tests.app.requests import BODY
from tests.app.withdrawn import NOTICE, RETRACTED, marked

VALUES: st.SearchStrategy[object] = st.sampled_from(
    ["a", "b", "", " ", None, 3, "yesno", "x\ud800", [], "What is it?"]
)


ENTRIES = st.one_of(
    st.fixed_dictionaries({}, optional={"id": VALUES, "type": VALUES, "body": VALUES}), VALUES
)


@settings(max_examples=150)
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
    answer = answerer.answer(Question("q", BODY, "yesno"), Options(max_documents=3, max_snippets=2))
    written = search_answer(answer, "mine")
    assert (written.id, written.type, written.body) == ("mine", "yesno", BODY)
    assert [d.score for d in written.documents] == [d.score for d in answer.documents]
    offsets = [(s.beginSection, s.offsetInBeginSection, s.offsetInEndSection) for s in written.snippets]
    assert offsets == [
        (s.sentence.section, s.sentence.begin, s.sentence.end) for s in answer.ranked_sentences
    ]
    assert written.timings_ms.total == round(answer.timings_ms.total, 3)
    assert (written.degraded, written.degraded_reason) == (False, None)
    degraded = search_answer(replace(answer, degraded="the ranker failed"))
    assert (degraded.id, degraded.degraded, degraded.degraded_reason) == (None, True, "the ranker failed")


def test_an_answer_says_what_is_withdrawn(withdrawing: Answerer) -> None:
    withdrawn = search_answer(withdrawing.answer(Question("", BODY)))
    retracted = next(d for d in withdrawn.documents if d.pmid == RETRACTED)
    assert (retracted.standing, [notice.text for notice in retracted.notices]) == ("retracted", [NOTICE])
    assert (retracted.notices[0].kind, retracted.notices[0].pmid) == ("RetractionIn", "90000002")
    assert retracted.citation.endswith(f"Retracted. {NOTICE}")
    standings = {d.document: d.standing for d in withdrawn.documents}
    assert [s.standing for s in withdrawn.snippets] == [standings[s.document] for s in withdrawn.snippets]
    assert {"retracted", "concern", "sound"} <= set(standings.values())


def test_a_document_is_written_as_it_is_stored() -> None:
    stored = document(1, "A title.", "One. Two.")
    written = stored_document(stored)
    assert (written.standing, written.notices, written.citation) == ("sound", [], "A title. PMID: 90000001.")
    withdrawn = stored_document(marked(stored))
    assert (withdrawn.standing, withdrawn.notices[0].text) == ("retracted", NOTICE)
    assert (written.pmid, written.document) == (stored.pmid, stored.url)
    assert [(s.section, s.begin, s.end) for s in written.sentences] == [
        ("title", 0, 8),
        ("abstract", 0, 4),
        ("abstract", 5, 9),
    ]


MODELS: dict[str, type[BaseModel]] = {
    "SearchRequest": SearchRequest,
    "RerankRequest": RerankRequest,
    "EmbeddingsRequest": EmbeddingsRequest,
    "AskedQuestion": AskedQuestion,
}
REQUIRED: dict[str, dict[str, object]] = {
    "SearchRequest": {"body": BODY},
    "RerankRequest": {"query": BODY, "documents": ["metformin", {"text": "statin"}]},
    "EmbeddingsRequest": {"input": ["metformin", "statin"]},
    "AskedQuestion": {"id": "a", "body": BODY},
}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_null_in_any_optional_field_is_its_default(application: FastAPI, name: str) -> None:
    schema = application.openapi()["components"]["schemas"][name]
    optional = MODELS[name].model_fields.keys() - set(schema["required"])
    assert optional
    asked = MODELS[name].model_validate(REQUIRED[name])
    for field in optional:
        given = MODELS[name].model_validate({**REQUIRED[name], field: None})
        assert given == asked, field
        assert {"type": "null"} in schema["properties"][field]["anyOf"], field


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/search", "SearchRequest"),
        ("/v1/rerank", "RerankRequest"),
        ("/v1/embeddings", "EmbeddingsRequest"),
    ],
)
def test_null_is_a_default_over_http_too(client: TestClient, path: str, name: str) -> None:
    nulls = dict.fromkeys(MODELS[name].model_fields) | REQUIRED[name]
    assert client.post(path, json=nulls).status_code == 200


@pytest.mark.parametrize(("path", "field"), [("validate", "testset"), ("evaluate", "editions")])
def test_null_is_a_default_of_files_too(client: TestClient, path: str, field: str) -> None:
    # Without a document it would be no golden file.
    document = "http://www.ncbi.nlm.nih.gov/pubmed/1"
    file = {"questions": [{"id": "a", "body": BODY, "documents": [document], "snippets": []}]}
    body = {"submission": file, "golden": file, field: None}
    assert client.post(f"/v1/bioasq/{path}", json=body).status_code == 200


def test_confidence_is_written_with_its_words(answerer: Answerer) -> None:
    answer = answerer.answer(Question("q", BODY))
    weak = Confidence(0.04, "unlikely", Language("fr", "French"))
    written = search_answer(replace(answer, confidence=weak)).model_dump()["confidence"]
    assert written == {
        "probability": 0.04,
        "level": "unlikely",
        "language": {"code": "fr", "name": "French"},
        "caution": weak.caution,
    }
    assert search_answer(replace(answer, confidence=Confidence(0.9, "likely"))).model_dump()[
        "confidence"
    ] == {
        "probability": 0.9,
        "level": "likely",
        "language": None,
        "caution": "",
    }
    assert search_answer(replace(answer, confidence=None)).confidence is None
