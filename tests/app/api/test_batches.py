"""Batches over HTTP: handed in, looked at, fetched, refused."""

import gzip
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from bioqa.app.answers.engine import Engine
from bioqa.app.api import batches as api
from bioqa.app.jobs.database import FILE_NAME
from bioqa.app.main import create_app
from bioqa.app.observability.logs import FACTS
from bioqa.app.security import keyfile
from bioqa.app.security.keys import ApiKey, digest
from bioqa.app.settings import Settings
from bioqa.app.web import batches as pages
from bioqa.bioasq.files import parse_testset
from bioqa.bioasq.trec import parse_run
from bioqa.bioasq.validation import validate
from bioqa.system.errors import BioqaError
from tests.app.api.uploading import PATH, upload
from tests.app.jobs.waiting import finished
from tests.app.requests import BODY, TESTSET, fields, is_problem


def test_a_test_set_becomes_the_submission_that_it_is_at_once(batching: TestClient) -> None:
    response = batching.post(PATH, json=TESTSET)
    assert response.status_code == 202
    taken = response.json()
    location = response.headers["location"]
    assert location == taken["location"] == f"{PATH}/{taken['id']}"
    assert (taken["questions"], taken["answered"], taken["failed"], taken["faults"]) == (3, 0, 0, [])
    status = finished(batching, location)
    assert (status["state"], status["answered"], status["remaining"]) == ("done", 3, 0)
    assert status["created"] <= status["started"] <= status["finished"] < status["expires"]
    assert (status["ranker"], status["index"]) == ({"name": "lexical", "hash": "00" * 32}, "sample")
    assert status["kept"] is False
    handed_out = batching.get(status["submission"])
    assert (
        handed_out.headers["content-disposition"] == f'attachment; filename="submission-{taken["id"]}.json"'
    )
    assert validate(handed_out.json(), parse_testset(TESTSET, "test set")) == []
    assert handed_out.headers["content-type"] == "application/json"
    assert handed_out.json() == batching.post("/v1/bioasq", json=TESTSET).json()


def test_options_are_of_all_questions(batching: TestClient) -> None:
    options = {"published_before": "2000", "undated": "true", "weak_snippets": "true", "candidates": "20"}
    response = batching.post(PATH, json=TESTSET, params={**options, "types": ["A", "Journal Article"]})
    assert response.json()["options"] == {
        "published_before": "2000-01-01",
        "undated": True,
        "types": ["A", "Journal Article"],
        "candidates": 20,
        "weak_snippets": True,
    }
    batching.delete(response.headers["location"])
    location = batching.post(PATH, json=TESTSET, params=options).headers["location"]
    status = finished(batching, location)
    at_once = batching.post("/v1/bioasq", json=TESTSET, params=options).json()
    assert batching.get(status["submission"]).json() == at_once
    assert at_once != batching.post("/v1/bioasq", json=TESTSET).json()


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"published_after": "soon"}, "published_after"),
        ({"languages": "Klingon"}, "languages"),
        ({"candidates": "5000"}, "candidates"),
        ({"published_after": "2001", "published_before": "2000"}, "published_after"),
        ({"max_documents": "5"}, "max_documents"),
        ({"syntax": "auto"}, "syntax"),
    ],
)
def test_options_that_cannot_be_used_are_refused(idle: TestClient, parameters: Any, field: str) -> None:
    assert fields(is_problem(idle.post(PATH, json=TESTSET, params=parameters), 422)) == [field]
    assert fields(is_problem(idle.post("/v1/bioasq", json=TESTSET, params=parameters), 422)) == [field]


def test_a_key_is_one_batch_with_its_options(batching: TestClient) -> None:
    def sent(**parameters: str) -> Any:
        return batching.post(PATH, json=TESTSET, params=parameters, headers={"Idempotency-Key": "o-1"})

    location = sent(literal="true").headers["location"]
    assert sent(literal="1").headers["location"] == location
    assert fields(is_problem(sent(), 422)) == ["Idempotency-Key"]
    finished(batching, location)


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_the_same_batch_as_its_json(batching: TestClient, packed: bool) -> None:
    key = {"Idempotency-Key": f'"file {packed}"'.replace(" ", "-")}
    content = json.dumps(TESTSET, indent=3).encode()
    first = batching.post(PATH, files=upload(gzip.compress(content) if packed else content), headers=key)
    again = batching.post(PATH, json=TESTSET, headers=key)
    assert (first.status_code, again.status_code) == (202, 200)
    assert first.headers["location"] == again.headers["location"]
    assert finished(batching, first.headers["location"])["answered"] == 3


def test_a_key_is_one_batch_in_quotes_or_not_and_refuses_other_contents(batching: TestClient) -> None:
    def sent(key: str, testset: object = TESTSET, **parameters: str) -> Any:
        return batching.post(PATH, json=testset, params=parameters, headers={"Idempotency-Key": key})

    location = sent("k-1").headers["location"]
    finished(batching, location)
    assert sent('"k-1"').headers["location"] == location
    assert sent("k-2").headers["location"] != location
    other = {"questions": TESTSET["questions"][:2]}
    for refused in (sent("k-1", other), sent("k-1", ranker="lexical")):
        problem = is_problem(refused, 422)
        assert fields(problem) == ["Idempotency-Key"]
        assert "another test set" in problem["detail"]
    assert batching.delete(location).status_code == 204
    assert sent("k-1", other).status_code == 202


@pytest.mark.parametrize("key", ["", "a b", '"', '"a"b"', "x" * 256, "\xe9", "a,b\t"])
def test_what_is_no_key_is_refused(idle: TestClient, key: str) -> None:
    sent = idle.post(PATH, json=TESTSET, headers={b"Idempotency-Key": key.encode("latin-1")})
    assert fields(is_problem(sent, 422)) == ["Idempotency-Key"]


def test_wrong_questions_are_told_in_their_place_and_the_others_answered(batching: TestClient) -> None:
    questions = [
        {"id": "a", "body": BODY, "type": "yesno"},
        {"id": "b", "body": "x" * 301, "type": "yesno"},
        {"body": "Whose?"},
        17,
        {"id": "a", "body": "Twice?"},
        {"id": "e", "body": BODY},
    ]
    response = batching.post(PATH, json={"questions": questions})
    assert response.status_code == 202
    told = response.json()["faults"]
    assert [(fault["field"], fault["id"]) for fault in told] == [
        ("questions[1].body", "b"),
        ("questions[2].id", None),
        ("questions[3]", None),
        ("questions[4].id", None),
    ]
    status = finished(batching, response.headers["location"])
    assert (status["answered"], status["failed"], status["faults"]) == (2, 4, told)
    entries = batching.get(status["submission"]).json()["questions"]
    assert validate({"questions": entries}) == []
    assert [entry["id"] for entry in entries] == ["a", "b", "e"]
    shortened = {"id": "b", "body": "x" * 300, "type": "yesno"}
    assert entries[1] == {**shortened, "documents": [], "snippets": []}
    assert len(entries[0]["documents"]) == len(entries[2]["documents"]) == 10


def test_a_run_has_the_rankers_scores(batching: TestClient) -> None:
    location = batching.post(PATH, json=TESTSET).headers["location"]
    finished(batching, location)
    response = batching.get(f"{location}/submission", params={"format": "trec"})
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.headers["content-disposition"].endswith('.txt"')
    lines = parse_run(response.text, "run")
    assert {line.tag for line in lines} == {"lexical"}
    answer = batching.post("/v1/search", json={"body": BODY}).json()["documents"]
    of_first = [line for line in lines if line.question == "a"]
    assert [line.document for line in of_first] == [d["pmid"] for d in answer]
    assert [line.score for line in of_first] == pytest.approx([d["score"] for d in answer], rel=1e-5)
    assert fields(is_problem(batching.get(f"{location}/submission?format=xml"), 422)) == ["format"]


def test_an_id_that_no_run_can_hold_is_told(batching: TestClient) -> None:
    testset = {"questions": [{"id": "a b", "body": BODY}]}
    location = batching.post(PATH, json=testset).headers["location"]
    assert finished(batching, location)["state"] == "done"
    assert batching.get(f"{location}/submission").status_code == 200
    problem = is_problem(batching.get(f"{location}/submission?format=trec"), 422)
    assert fields(problem) == ["format"]
    assert "white space" in problem["detail"]


def test_unfinished_batches_wait_in_line_and_have_no_submission(idle: TestClient) -> None:
    location = idle.post(PATH, json=TESTSET).headers["location"]
    status = idle.get(location).json()
    assert (status["state"], status["submission"], status["seconds_left"]) == ("queued", None, None)
    response = idle.get(f"{location}/submission")
    assert "3 of 3 questions are left" in is_problem(response, 409)["detail"]
    assert int(response.headers["retry-after"]) > 0
    cancelled = idle.delete(location)
    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
    response = idle.get(f"{location}/submission")
    assert "cancelled" in is_problem(response, 409)["detail"]
    assert "retry-after" not in response.headers
    assert idle.delete(location).status_code == 204
    for gone in (idle.get(location), idle.get(f"{location}/submission"), idle.delete(location)):
        is_problem(gone, 404)


def test_too_many_unfinished_batches_are_refused_for_now(idle: TestClient) -> None:
    locations = [idle.post(PATH, json=TESTSET).headers["location"] for _ in range(3)]
    refused = idle.post(PATH, json=TESTSET)
    is_problem(refused, 429)
    assert int(refused.headers["retry-after"]) > 0
    idle.delete(locations[0])
    assert idle.post(PATH, json=TESTSET).status_code == 202


def test_the_list_has_pages_from_the_newest_on(idle: TestClient) -> None:
    made = [idle.post(PATH, json=TESTSET).json()["id"] for _ in range(3)]
    first = idle.get(PATH, params={"limit": 2}).json()
    assert [batch["id"] for batch in first["batches"]] == made[:0:-1]
    assert "faults" not in first["batches"][0]
    rest = idle.get(PATH, params={"limit": 2, "before": first["next"]}).json()
    assert ([batch["id"] for batch in rest["batches"]], rest["next"]) == (made[:1], None)
    for wrong in ("limit=0", "limit=101", "limit=x", "before=0", "before=99999999999999999999"):
        assert fields(is_problem(idle.get(f"{PATH}?{wrong}"), 422)) == [wrong.split("=")[0]]


@pytest.mark.parametrize(
    ("testset", "field"),
    [
        ([], "the test set"),
        ({}, "questions"),
        ({"questions": []}, "questions"),
        ({"questions": [{"id": str(n), "body": "x"} for n in range(7)]}, "questions"),
        ({"questions": [{"id": "a", "body": ""}]}, "questions[0].body"),
    ],
)
def test_what_asks_nothing_is_refused(idle: TestClient, testset: object, field: str) -> None:
    assert fields(is_problem(idle.post(PATH, json=testset), 422)) == [field]
    assert fields(is_problem(idle.post(PATH, files=upload(json.dumps(testset).encode())), 422)) == [field]
    assert idle.get(PATH).json()["batches"] == []


def test_bodies_that_cannot_be_read_are_refused(idle: TestClient) -> None:
    for content in (b"{", b"", b'{"questions": NaN}', b"\xff", b"[" * 9_000):
        sent = idle.post(PATH, content=content, headers={"Content-Type": "application/json"})
        assert "the body" in is_problem(sent, 400)["detail"]
        assert fields(is_problem(idle.post(PATH, files=upload(content)), 422)) == ["file"]
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        is_problem(idle.post(PATH, content=b"{}", headers={"Content-Type": kind}), 415)


def test_forms_without_the_one_file_are_refused(idle: TestClient) -> None:
    content = json.dumps(TESTSET).encode()
    wrong: Sequence[dict[str, Any]] = (
        {"files": {"other": ("x", content)}},
        {"files": [("file", ("x", content)), ("file", ("y", content))]},
        {"files": {"more": ("x", b"1")}, "data": {"file": "text"}},
    )
    for parts in wrong:
        assert fields(is_problem(idle.post(PATH, **parts), 422)) == ["file"]


def test_the_ranker_is_checked_wherever_it_is_named(idle: TestClient) -> None:
    content = json.dumps(TESTSET).encode()
    for sent in (
        idle.post(PATH, json=TESTSET, params={"ranker": "other"}),
        idle.post(PATH, files=upload(content), data={"ranker": "other"}),
        idle.post(PATH, files=upload(content), data={"ranker": "lexical"}, params={"ranker": "x"}),
    ):
        assert fields(is_problem(sent, 422)) == ["ranker"]
    taken = idle.post(PATH, files=upload(content), data={"ranker": "lexical"}, params={"ranker": "lexical"})
    assert taken.status_code == 202


@pytest.mark.parametrize("identifier", ["nothing", "%00", "\u0669", "a" * 64])
def test_what_was_never_handed_in_is_not_there(idle: TestClient, identifier: str) -> None:
    is_problem(idle.get(f"{PATH}/{identifier}"), 404)


def test_a_broken_file_of_batches_is_a_problem_for_now_and_nothing_else(
    engine: Engine, tmp_path: Path
) -> None:
    app = create_app(Settings(data_dir=tmp_path), engine)
    client = TestClient(app, raise_server_exceptions=False)
    for path in tmp_path.iterdir():
        path.unlink()
    (tmp_path / FILE_NAME).write_bytes(b"nonsense" * 1000)
    for response in (client.post(PATH, json=TESTSET), client.get(PATH), client.delete(f"{PATH}/x")):
        is_problem(response, 503)
        assert int(response.headers["retry-after"]) > 0
    assert client.post("/v1/search", json={"body": BODY}).status_code == 200


def test_a_folder_that_cannot_be_used_is_told_at_the_start(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BioqaError, match="cannot be created"):
        create_app(Settings(data_dir=tmp_path / "file"), engine)


def test_what_became_invalid_in_the_file_is_not_handed_out(engine: Engine, tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path), engine)
    with TestClient(app, raise_server_exceptions=False) as client:
        location = client.post(PATH, json=TESTSET).headers["location"]
        finished(client, location)
        with app.state.batches._database.writing() as connection:
            connection.execute(
                "UPDATE questions SET answer = replace(answer, '\"documents\": []', '\"documents\": [1]')"
            )
        assert "would be invalid" in is_problem(client.get(f"{location}/submission"), 409)["detail"]
        assert client.get(location).json()["state"] == "failed"


@pytest.fixture
def shared(engine: Engine, tmp_path: Path) -> Iterator[Mapping[str, TestClient]]:
    """Clients of one service: each of a key of that name, and root's, which is an administrator's."""
    path = tmp_path / "keys"
    for name in ("ada", "bob", "root"):
        keyfile.add(path, ApiKey(name, digest(name), role="admin" if name == "root" else None))
    app = create_app(Settings(api_keys_file=path, max_batches=8), engine)
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(
                TestClient(app, raise_server_exceptions=False, headers={"X-API-Key": name})
            )
            for name in ("ada", "bob", "root")
        }


def test_a_batch_is_its_keys_alone_and_administrators(shared: Mapping[str, TestClient]) -> None:
    ada, bob, root = shared["ada"], shared["bob"], shared["root"]
    taken = ada.post(PATH, json=TESTSET)
    location, identifier = taken.headers["location"], taken.json()["id"]
    assert taken.json()["owner"] == "ada"
    finished(ada, location)
    for method, path in (
        ("GET", location),
        ("GET", f"{location}/submission"),
        ("DELETE", location),
        ("GET", f"/batches/{identifier}"),
        ("POST", f"/batches/{identifier}/cancel"),
        ("POST", f"/batches/{identifier}/remove"),
    ):
        others = bob.request(method, path)
        unknown = bob.request(method, path.replace(identifier, "0" * 32))
        assert is_problem(others, 404) == is_problem(unknown, 404), "no word of whether there is one"
    assert bob.get(PATH).json()["batches"] == []
    assert identifier not in bob.get("/batches").text
    for client in (ada, root):
        assert [batch["id"] for batch in client.get(PATH).json()["batches"]] == [identifier]
        assert identifier in client.get("/batches").text
        assert client.get(f"{location}/submission").status_code == 200
    assert root.delete(location).status_code == 204
    is_problem(ada.get(location), 404)


def test_every_address_of_a_batch_is_guarded() -> None:
    """A route that takes a batch's id without asking whose it is would show it to all."""
    batch_routes = [
        route
        for route in [*api.router.routes, *pages.router.routes]
        if isinstance(route, APIRoute) and "/batches/{id}" in route.path
    ]
    assert len(batch_routes) >= 6
    for route in batch_routes:
        assert any(each.call is api._requested_batch for each in route.dependant.dependencies), route.path


def test_the_same_idempotency_key_of_two_keys_is_two_batches(shared: Mapping[str, TestClient]) -> None:
    sent = {"Idempotency-Key": "k"}
    made = [shared[name].post(PATH, json=TESTSET, headers=sent) for name in ("ada", "bob", "ada")]
    assert [each.status_code for each in made] == [202, 202, 200]
    assert made[0].json()["id"] == made[2].json()["id"] != made[1].json()["id"]


def test_one_key_cannot_take_all_places(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "keys"
    for name in ("ada", "bob"):
        keyfile.add(path, ApiKey(name, digest(name)))
    # Not started, so that none is ever finished.
    client = TestClient(create_app(Settings(api_keys_file=path, max_batches=8), engine))
    ada = [client.post(PATH, json=TESTSET, headers={"X-API-Key": "ada"}).status_code for _ in range(4)]
    assert ada == [202, 202, 429, 429]
    assert client.post(PATH, json=TESTSET, headers={"X-API-Key": "bob"}).status_code == 202


def test_the_log_names_the_batch_also_to_who_may_not_see_it(
    shared: Mapping[str, TestClient], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "bioqa.access"):
        taken = shared["ada"].post(PATH, json=TESTSET)
        shared["bob"].get(taken.headers["location"])
        shared["bob"].get(f"{PATH}/{'0' * 32}")
        shared["bob"].get("/info")
    identifier = taken.json()["id"]
    logged = [getattr(record, FACTS) for record in caplog.records if record.name == "bioqa.access"]
    # A formatter that another test set up leaves out what is None.
    assert [(line.get("key"), line["status"], line.get("batch")) for line in logged] == [
        ("ada", 202, identifier),
        ("bob", 404, identifier),
        ("bob", 404, None),
        ("bob", 200, None),
    ]


def test_a_deleted_file_of_batches_is_begun_anew_and_a_damaged_one_seen(
    engine: Engine, tmp_path: Path
) -> None:
    with TestClient(create_app(Settings(data_dir=tmp_path), engine)) as client:
        gone = client.post(PATH, json=TESTSET).headers["location"]
        finished(client, gone)
        for path in tmp_path.glob(f"{FILE_NAME}*"):
            path.unlink()
        is_problem(client.get(gone), 404)
        assert finished(client, client.post(PATH, json=TESTSET).headers["location"])["state"] == "done"
        assert client.get("/readyz").status_code == 200
        (tmp_path / FILE_NAME).write_bytes(b"nonsense" * 1000)
        for path in tmp_path.glob(f"{FILE_NAME}-*"):
            path.unlink()
        unready = client.get("/readyz")
        assert unready.status_code == 503
        assert "batches" in unready.json()["reasons"][0]
        assert str(tmp_path) not in unready.text
        failures = client.get("/metrics").text
        assert re.search(r'bioqa_background_failures_total{task="batches database"} [1-9]', failures)
