"""Submissions compared over HTTP, as the command line and Python do it."""

import gzip
import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from bioqa.app.api import comparing
from bioqa.bioasq.comparison import compare
from bioqa.bioasq.golden import parse_golden
from tests.app.requests import TESTSET, fields, is_problem
from tests.bioasq.entries import DOCUMENT, entry, snippet

COMPARE = "/v1/bioasq/compare"
OTHER = DOCUMENT[:-1] + "7"
GOLDEN = {"questions": [entry(snippet(), id=f"q{n}", documents=[DOCUMENT]) for n in range(4)]}
RIGHT = {"questions": [entry(snippet(), id=f"q{n}", documents=[DOCUMENT]) for n in range(3)]}
WRONG = {
    "questions": [
        entry(snippet(), id="q0", documents=[DOCUMENT]),
        *(entry(id=f"q{n}", documents=[OTHER, DOCUMENT]) for n in range(1, 4)),
    ]
}


def _file(content: object, name: str = "file") -> tuple[str, bytes]:
    return name, json.dumps(content).encode()


def test_it_computes_what_python_does(client: TestClient) -> None:
    sent = {"golden": GOLDEN, "systems": {"right": RIGHT, "wrong": WRONG}, "edition": 5}
    made = client.post(COMPARE, json=sent)
    assert made.status_code == 200
    gold, *systems = (parse_golden(each, "x").responses for each in (GOLDEN, RIGHT, WRONG))
    expected = compare(gold, dict(zip(("right", "wrong"), systems, strict=True)), 5)
    found = made.json()
    assert found["measures"] == expected.rows()
    assert found["per_question"] == expected.question_rows()
    assert (found["baseline"], found["edition"], found["questions"]) == ("right", 5, 4)
    assert (found["resamples"], found["confidence"]) == (expected.resamples, expected.confidence)
    assert found["most_different"] == ["q1", "q2"]
    worse = next(
        row for row in found["measures"] if (row["system"], row["measure"]) == ("wrong", "map_documents")
    )
    assert worse["difference"] < 0
    assert (worse["losses"], worse["shared_questions"]) == (2, 3)


def test_a_form_gives_the_same_and_names_systems_after_their_files(client: TestClient) -> None:
    by_name = client.post(COMPARE, json={"golden": GOLDEN, "systems": {"a": RIGHT, "b": WRONG}}).json()
    packed = "b.json.gz", gzip.compress(json.dumps(WRONG).encode())
    files = [("golden", _file(GOLDEN)), ("submission", _file(RIGHT, "a.json")), ("submission", packed)]
    assert client.post(COMPARE, files=files).json() == by_name
    fifth = client.post(COMPARE, files=files, data={"edition": "5"}).json()
    assert (by_name["edition"], fifth["edition"]) == (9, 5)


def test_trec_runs_and_judgements(client: TestClient) -> None:
    pmid = DOCUMENT.rpartition("/")[2]
    judged = "".join(f"q{n} 0 {pmid} 1\n" for n in range(2)).encode()
    run = "".join(f"q{n} Q0 {pmid} 1 1.0 r\n" for n in range(2)).encode()
    files = [("golden", ("g", judged)), ("submission", ("run.txt", run))]
    made = client.post(COMPARE, files=files).json()
    assert {row["measure"].rpartition("_")[2] for row in made["measures"]} == {"documents"}
    assert made["measures"][3] | {"measure": "map_documents", "value": 1.0} == made["measures"][3]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"golden": None}, "golden"),
        ({"golden": TESTSET}, "golden"),
        ({"systems": None}, "systems"),
        ({"systems": {}}, "systems"),
        ({"systems": [RIGHT]}, "systems"),
        ({"systems": dict.fromkeys("abcdefg", RIGHT)}, "systems"),
        ({"systems": {"a": RIGHT, "b": {"questions": [0]}}}, "systems[1]"),
        ({"edition": 4}, "edition"),
        ({"edition": True}, "edition"),
        ({"edition": 8.0}, "edition"),
        ({"edition": [8]}, "edition"),
    ],
)
def test_what_is_refused(client: TestClient, changes: dict[str, Any], field: str) -> None:
    sent = {"golden": GOLDEN, "systems": {"right": RIGHT, "wrong": WRONG}, **changes}
    assert fields(is_problem(client.post(COMPARE, json=sent), 422)) == [field]


def test_forms_that_are_refused(client: TestClient) -> None:
    golden, system = ("golden", _file(GOLDEN)), ("submission", _file(RIGHT))
    assert fields(is_problem(client.post(COMPARE, files=[golden]), 422)) == ["submission"]
    assert fields(is_problem(client.post(COMPARE, files=[system]), 422)) == ["golden"]
    assert fields(is_problem(client.post(COMPARE, files=[golden, *[system] * 7]), 422)) == ["submission"]


def test_too_many_questions(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "MOST_QUESTIONS", 3)
    sent = {"golden": GOLDEN, "systems": {"right": RIGHT}}
    problem = is_problem(client.post(COMPARE, json=sent), 422)
    assert "more than 3 questions" in problem["errors"][0]["message"]


def test_texts_that_no_response_can_hold_are_shown_otherwise(client: TestClient) -> None:
    odd = entry(snippet(), id="q\ud800", body="\udfff?", documents=[DOCUMENT])
    content = json.dumps({"golden": {"questions": [odd]}, "systems": {"a\ud800": {"questions": [odd]}}})
    made = client.post(COMPARE, content=content.encode(), headers={"Content-Type": "application/json"}).json()
    assert made["baseline"] == made["measures"][0]["system"] == "a\\ud800"
    assert (made["per_question"][0]["question"], made["per_question"][0]["body"]) == ("q\\ud800", "\\udfff?")
