"""Test sets in, submissions out."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.domain import PUBMED_URL, Question, Response, Snippet
from bioqa.bioasq.files import (
    parse_golden,
    parse_testset,
    read_golden,
    read_submission,
    read_testset,
    submission_dict,
    write_submission,
)
from bioqa.bioasq.validation import validate
from bioqa.system.errors import BioqaError

QUESTIONS = (
    Question("5a9d8ffe1d1251d03b000001", "Which gene is mutated in Zürich's syndrome?\u2009", "factoid"),
    Question("0", "Is zinc a metal?", "yesno"),
    Question("free text id", "What is ferritin?"),
)
TESTSET = {
    "questions": [
        {"id": "5a9d8ffe1d1251d03b000001", "type": "factoid", "body": QUESTIONS[0].body, "x": [None]},
        {"id": "0", "type": "yesno", "body": QUESTIONS[1].body},
        {"id": "free text id", "type": None, "body": QUESTIONS[2].body},
    ],
    "note": "ignored",
}


@pytest.mark.parametrize("name", ["BioASQ-task14bPhaseA-testset1", "set.json", "set.json.gz"])
def test_a_testset_is_read_in_order(tmp_path: Path, name: str) -> None:
    raw = json.dumps(TESTSET).encode()
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    assert read_testset(tmp_path / name) == QUESTIONS


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "t: must be an object with the key questions, not a list"),
        ({"question": []}, "t: questions: must be a list, but is missing"),
        ({"questions": {}}, "t: questions: must be a list, but is an object"),
        ({"questions": []}, "t: questions: must hold at least one question"),
        ({"questions": [3]}, "t: question number 1: must be an object, not 3"),
        ({"questions": [{"body": "b"}]}, "number 1 (id null): id: must be a string that is not empty"),
        ({"questions": [{"id": "", "body": "b"}]}, 'number 1 (id ""): id: must be a string that'),
        ({"questions": [{"id": 5, "body": "b"}]}, "number 1 (id 5): id: must be a string, not 5"),
        ({"questions": [{"id": "a"}]}, 'number 1 (id "a"): body: must be a question, but is missing'),
        ({"questions": [{"id": "a", "body": None}]}, "body: must be a question, but is missing"),
        ({"questions": [{"id": "a", "body": " \n"}]}, "body: must be a question, but is empty"),
        ({"questions": [{"id": "a", "body": ["b"]}]}, "body: must be a string, not a list"),
        ({"questions": [{"id": "a", "body": "b\ud800"}]}, "body: holds half a character"),
        ({"questions": [{"id": "a\udfff", "body": "b"}]}, "id: holds half a character"),
        (
            {"questions": [{"id": "a", "body": "b", "type": "yes/no"}]},
            'type: must be one of yesno, factoid, list, summary, not "yes/no"',
        ),
        ({"questions": [{"id": "a", "body": "b", "type": 1}]}, "type: must be a string, not 1"),
        (
            {"questions": [{"id": "a", "body": "b"}, {"id": "a", "body": "c"}]},
            'number 2 (id "a"): id: duplicate question id',
        ),
    ],
)
def test_a_bad_testset_is_refused_with_file_question_and_field(data: object, message: str) -> None:
    with pytest.raises(BioqaError) as caught:
        parse_testset(data, "t")
    assert str(caught.value).startswith("t: ")
    assert message in str(caught.value)


def response(question: Question = QUESTIONS[0]) -> Response:
    document = PUBMED_URL + "90000001"
    text = "β-Zinc binds.\u00a0"
    return Response(question, (document,), (Snippet(document, text, "abstract", "abstract", 5, 19),))


def test_a_submission_has_bioasq_s_keys_and_no_others() -> None:
    document = PUBMED_URL + "90000001"
    assert submission_dict([response()]) == {
        "questions": [
            {
                "id": QUESTIONS[0].id,
                "type": "factoid",
                "body": QUESTIONS[0].body,
                "documents": [document],
                "snippets": [
                    {
                        "document": document,
                        "text": "β-Zinc binds.\u00a0",
                        "beginSection": "abstract",
                        "endSection": "abstract",
                        "offsetInBeginSection": 5,
                        "offsetInEndSection": 19,
                    }
                ],
            }
        ]
    }


def test_a_question_without_type_gets_no_type() -> None:
    submission = submission_dict([Response(QUESTIONS[2], (), ())])
    assert submission == {
        "questions": [{"id": "free text id", "body": "What is ferritin?", "documents": [], "snippets": []}]
    }


@pytest.mark.parametrize("name", ["submission", "submission.json", "ünïcode name"])
def test_a_submission_is_written_whole_in_utf_8_and_read_again(tmp_path: Path, name: str) -> None:
    responses = tuple(response(question) for question in QUESTIONS)
    write_submission(tmp_path / name, responses)
    assert "β-Zinc binds.\u00a0" in (tmp_path / name).read_bytes().decode("utf-8")
    assert read_submission(tmp_path / name).responses == responses
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_half_a_character_is_refused_with_its_place_and_the_old_file_kept(tmp_path: Path) -> None:
    path = tmp_path / "submission"
    write_submission(path, [response()])
    before = path.read_bytes()
    document = PUBMED_URL + "90000001"
    bad = Response(QUESTIONS[1], (), (Snippet(document, "a\ud800", "title", "title", 0, 2),))
    with pytest.raises(BioqaError, match=r'question "0": snippets\[0\]: text: holds half a character'):
        write_submission(path, [response(), bad])
    assert path.read_bytes() == before


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


@st.composite
def answers(draw: st.DrawFn) -> tuple[tuple[Question, ...], tuple[Response, ...]]:
    """A test set and an answer to it by the rules: what the product may write."""
    ids = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    kinds = st.sampled_from([None, "yesno", "factoid", "list", "summary"])
    questions = tuple(Question(identifier, draw(texts), draw(kinds)) for identifier in ids)
    return questions, tuple(draw(answer(question)) for question in questions)


@st.composite
def answer(draw: st.DrawFn, question: Question) -> Response:
    pmids = draw(st.lists(st.integers(1, 99_999_999), max_size=10, unique=True))
    places = {(PUBMED_URL + str(pmid), section): 0 for pmid in pmids for section in ("title", "abstract")}
    snippets = []
    for key in draw(st.lists(st.sampled_from(sorted(places)), max_size=10)) if places else []:
        text, begin = draw(texts), places[key] + draw(st.integers(0, 3))
        snippets.append(Snippet(key[0], text, key[1], key[1], begin, begin + len(text)))
        places[key] = begin + len(text)
    return Response(question, tuple(PUBMED_URL + str(pmid) for pmid in pmids), tuple(snippets))


@given(answers())
def test_what_is_written_is_read_back_and_has_no_fault(
    case: tuple[tuple[Question, ...], tuple[Response, ...]],
) -> None:
    questions, responses = case
    raw = json.dumps(submission_dict(responses), ensure_ascii=False, allow_nan=False).encode()
    data = json.loads(raw)
    assert data == submission_dict(responses)
    assert parse_golden(data, "s").responses == responses
    assert validate(data, questions) == []


@pytest.mark.parametrize(("name", "questions", "snippets"), [("dev", 347, 2004), ("test", 312, 1505)])
def test_real_golden_files(shared: Path, name: str, questions: int, snippets: int) -> None:
    golden = read_golden(shared / "data" / "bioasq" / f"{name}.json.gz")
    assert len(golden.responses) == questions
    assert sum(len(response.snippets) for response in golden.responses) == snippets
    assert {"snippet ends before it begins", "null in place of a list"}.isdisjoint(golden.irregularities)
