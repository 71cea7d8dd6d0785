"""Submissions validated and evaluated over HTTP, as the command line does it."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.engine import Engine
from bioqa.app.api import evaluation
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from tests.app.conftest import Run
from tests.app.requests import BODY, TESTSET, fields, is_problem
from tests.bioasq.entries import DOCUMENT, entry, snippet

VALIDATE, EVALUATE = "/v1/bioasq/validate", "/v1/bioasq/evaluate"
GOLDEN = {
    "questions": [entry(snippet(), snippet(offsetInBeginSection=30, offsetInEndSection=45)), entry(id="q2")]
}
SYSTEM = {"questions": [entry(snippet(offsetInBeginSection=12, offsetInEndSection=27), body="x")]}


def file(content: object) -> tuple[str, bytes]:
    return "file", json.dumps(content).encode()


@pytest.fixture
def submission(client: TestClient) -> dict[str, Any]:
    made: dict[str, Any] = client.post("/v1/bioasq", json=TESTSET).json()
    return made


def test_our_own_submission_is_valid(client: TestClient, submission: dict[str, Any]) -> None:
    for sent in (
        client.post(VALIDATE, json={"submission": submission}),
        client.post(VALIDATE, json={"submission": submission, "testset": TESTSET}),
        client.post(VALIDATE, json={"submission": submission, "testset": None}),
        client.post(VALIDATE, files={"submission": file(submission), "testset": file(TESTSET)}),
        client.post(VALIDATE, files={"submission": ("f", gzip.compress(json.dumps(submission).encode()))}),
    ):
        assert (sent.status_code, sent.json()) == (200, {"valid": True, "faults": [], "more": False})


def test_faults_are_those_that_the_command_prints(
    client: TestClient, command: Run, submission: dict[str, Any], tmp_path: Path
) -> None:
    submission["questions"][0]["documents"].append("https://example.org/1")
    submission["questions"][1]["id"] = "unknown\ud800"
    paths = [tmp_path / "submission", tmp_path / "testset"]
    for path, each in zip(paths, (submission, TESTSET), strict=True):
        path.write_text(json.dumps(each))
    printed = json.loads(command("validate", paths[0], "--testset", paths[1], "--json").out)
    content = json.dumps({"submission": submission, "testset": TESTSET}).encode()
    answer = client.post(VALIDATE, content=content, headers={"Content-Type": "application/json"}).json()
    assert answer == {"valid": False, "faults": printed, "more": False}
    assert len(printed) > 3


@pytest.mark.parametrize(
    "wrong", [None, 3, "x", [], {}, {"questions": None}, {"questions": []}, {"questions": [0]}]
)
def test_any_json_is_a_submission_with_faults(client: TestClient, wrong: object) -> None:
    for sent in (
        client.post(VALIDATE, json={"submission": wrong}),
        client.post(VALIDATE, files={"submission": file(wrong)}),
    ):
        answer = sent.json()
        assert (sent.status_code, answer["valid"], len(answer["faults"])) == (200, False, 1)


def test_a_file_that_is_no_json_is_a_submission_with_a_fault(client: TestClient) -> None:
    answer = client.post(VALIDATE, files={"submission": ("f", b"{nonsense")}).json()
    assert answer["valid"] is False
    assert "not JSON" in answer["faults"][0]["message"]


def test_only_so_many_faults_are_told(client: TestClient) -> None:
    answer = client.post(VALIDATE, json={"submission": {"questions": [0] * 1001}}).json()
    assert (len(answer["faults"]), answer["more"], answer["valid"]) == (1000, True, False)
    answer = client.post(VALIDATE, json={"submission": {"questions": [0] * 1000}}).json()
    assert (len(answer["faults"]), answer["more"]) == (1000, False)


@pytest.mark.parametrize("edition", [2, 3, 5, 8, 9])
def test_measures_are_those_that_the_command_prints(
    client: TestClient, command: Run, edition: int, tmp_path: Path
) -> None:
    paths = [tmp_path / "golden", tmp_path / "system"]
    for path, content in zip(paths, (GOLDEN, SYSTEM), strict=True):
        path.write_text(json.dumps(content))
    printed = json.loads(command("evaluate", *paths, "--edition", edition, "--json").out)
    sent = {"golden": GOLDEN, "submission": SYSTEM, "editions": [edition]}
    answer = client.post(EVALUATE, json=sent).json()
    assert answer["measures"] == [printed]
    assert printed["missing"] == ["q2"]
    assert 0 < printed["mf1_snippets"] < 1


def test_without_a_wish_the_editions_of_today_and_of_the_papers_are_measured(client: TestClient) -> None:
    by_json = client.post(EVALUATE, json={"golden": GOLDEN, "submission": SYSTEM})
    by_form = client.post(EVALUATE, files={"golden": file(GOLDEN), "submission": file(SYSTEM)})
    assert [measures["edition"] for measures in by_json.json()["measures"]] == [5, 8, 9]
    assert by_form.json() == by_json.json()
    chosen = client.post(
        EVALUATE, files={"golden": file(GOLDEN), "submission": file(SYSTEM)}, data={"editions": "9,2"}
    )
    assert [measures["edition"] for measures in chosen.json()["measures"]] == [9, 2]


def test_irregularities_are_told(client: TestClient) -> None:
    golden = {"questions": [entry(documents=None), entry(snippet(beginSection="sections.0"), type=...)]}
    told = client.post(EVALUATE, json={"golden": golden, "submission": SYSTEM}).json()["irregularities"]
    assert told["golden"]["null in place of a list"] == 1
    assert told["golden"]["question id seen before"] == 1
    assert told["submission"] == {}


@pytest.mark.parametrize(
    ("changes", "field", "word"),
    [
        ({"golden": ...}, "golden", "missing"),
        ({"submission": ...}, "submission", "missing"),
        ({"golden": None}, "golden", "must be an object"),
        ({"golden": {"questions": [{"id": 3}]}}, "golden", "question number 1 (id 3): id"),
        ({"submission": {"questions": [entry(snippet(document=...))]}}, "submission", "document: is missing"),
        ({"editions": []}, "editions", "must be some of 2, 3, 5, 8, 9"),
        ({"editions": [8, 8]}, "editions", "each once"),
        ({"editions": [7]}, "editions", "2, 3, 5"),
        ({"editions": [True]}, "editions", "2, 3, 5"),
        ({"editions": ["8"]}, "editions", "2, 3, 5"),
        ({"editions": 8}, "editions", "2, 3, 5"),
        ({"editions": {}}, "editions", "2, 3, 5"),
    ],
)
def test_what_cannot_be_measured_is_named(
    client: TestClient, changes: dict[str, object], field: str, word: str
) -> None:
    asked = {"golden": GOLDEN, "submission": SYSTEM} | changes
    problem = is_problem(client.post(EVALUATE, json={k: v for k, v in asked.items() if v is not ...}), 422)
    assert fields(problem) == [field]
    assert word in problem["detail"]


def test_files_in_the_wrong_place_are_named(client: TestClient) -> None:
    test_set = {"questions": [{"id": "q1", "type": "list", "body": "?"}]}
    other = {"questions": [entry(id="other")]}
    for golden, system, field, words in (
        (test_set, SYSTEM, "golden", "is a test set, not a golden file"),
        (GOLDEN, test_set, "submission", "is a test set, not a submission"),
        (GOLDEN, other, "golden", "have no question in common"),
    ):
        problem = is_problem(client.post(EVALUATE, json={"golden": golden, "submission": system}), 422)
        assert fields(problem) == [field]
        assert words in problem["detail"]


@pytest.mark.parametrize("path", [VALIDATE, EVALUATE])
def test_bodies_that_cannot_be_read_are_refused(client: TestClient, path: str) -> None:
    for content, status in ((b"{", 400), (b"[" * 100_000, 400), (b"3", 422), (b"{}", 422)):
        sent = client.post(path, content=content, headers={"Content-Type": "application/json"})
        is_problem(sent, status)
    is_problem(client.post(path, content=b"{}", headers={"Content-Type": "text/plain"}), 415)
    assert fields(is_problem(client.post(path, data={"submission": "text"}, files={"x": b""}), 422)) == [
        "golden" if path == EVALUATE else "submission"
    ]


def test_files_of_a_form_that_are_no_json_are_named(client: TestClient) -> None:
    broken = {"submission": file(SYSTEM), "golden": ("f", b"{"), "testset": ("f", b"{")}
    assert fields(is_problem(client.post(EVALUATE, files=broken), 422)) == ["golden"]
    assert fields(is_problem(client.post(VALIDATE, files=broken), 422)) == ["testset"]
    for editions in ("8,x", "8,", "9" * 5000, "\u0669"):
        sent = client.post(
            EVALUATE,
            files={"golden": file(GOLDEN), "submission": file(SYSTEM)},
            data={"editions": editions},
        )
        assert fields(is_problem(sent, 422)) == ["editions"]


def test_numbers_and_texts_that_no_answer_can_hold(client: TestClient) -> None:
    huge = {"questions": [entry(snippet(offsetInEndSection=10**400))]}
    for asked in ({"golden": GOLDEN, "submission": huge}, {"golden": huge, "submission": SYSTEM}):
        assert "an offset is beyond" in is_problem(client.post(EVALUATE, json=asked), 422)["detail"]
    odd = {"golden": {"questions": [entry(), entry(id="q\ud800")]}, "submission": SYSTEM, "editions": [8]}
    sent = client.post(
        EVALUATE, content=json.dumps(odd).encode(), headers={"Content-Type": "application/json"}
    )
    assert sent.json()["measures"][0]["missing"] == ["q\\ud800"]


def test_what_would_take_minutes_is_refused(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(gold: int, ours: int) -> dict[str, object]:
        golden, system = (
            {
                "questions": [
                    entry(*(snippet(offsetInBeginSection=n, offsetInEndSection=n + 1) for n in range(count)))
                ]
            }
            for count in (gold, ours)
        )
        return {"golden": golden, "submission": system, "editions": [8]}

    monkeypatch.setattr(evaluation, "MOST_COMPARISONS", 700)
    assert client.post(EVALUATE, json=asked(20, 10)).status_code == 200
    problem = is_problem(client.post(EVALUATE, json=asked(20, 11)), 422)
    assert "bioqa evaluate" in problem["detail"]
    spread = {"questions": [entry(*(snippet(document=f"{DOCUMENT}{n}") for n in range(200)))]}
    assert client.post(EVALUATE, json={"golden": spread, "submission": spread}).status_code == 200


def test_files_have_a_limit_of_their_own(engine: Engine) -> None:
    app = create_app(Settings(max_body_bytes=1000, max_upload_bytes=5000), engine)
    client = TestClient(app, raise_server_exceptions=False)
    spaces = " " * 3000
    assert client.post(VALIDATE, json={"submission": spaces}).status_code == 200
    for path in (VALIDATE, EVALUATE):
        is_problem(client.post(path, json={"submission": spaces + spaces}), 413)
    is_problem(client.post("/v1/search", json={"body": BODY, "x": spaces}), 413)
