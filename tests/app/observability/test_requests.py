"""Each request: its identifier, its line in the log, and that no secret is in any line."""

import http.client
import json
import logging
import re
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import uvicorn
from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.engine import Engine
from bioqa.app.main import create_app
from bioqa.app.observability.requests import route_of
from bioqa.app.security import keyfile
from bioqa.app.security.keys import ApiKey, digest, new_secret
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.ranking import Ranking
from bioqa.system.secret import Secret
from tests.app.engines import local
from tests.app.observability.conftest import Lines
from tests.app.rankers import LexicalRanker
from tests.app.requests import BODY, is_problem

ACCESS = "bioqa.access"


def test_an_access_line_has_these_facts_and_no_others(client: TestClient, lines: Lines) -> None:
    response = client.post(
        "/v1/search?note=private", json={"body": BODY}, headers={"X-Request-ID": "r.1-a_B"}
    )
    assert response.headers["x-request-id"] == "r.1-a_B"
    (line,) = lines.of(ACCESS)
    assert line.pop("ms") > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT.*\+00:00", line.pop("time"))
    assert line == {
        "level": "info",
        "logger": ACCESS,
        "message": "POST /v1/search 200",
        "request_id": "r.1-a_B",
        "method": "POST",
        "route": "/v1/search",
        "status": 200,
        "client": "testclient",
    }


@pytest.mark.parametrize(
    "given", [None, "", "a b", "x" * 129, "<script>", 'a"b', "caf\u00e9", "a\x00b", "../etc", "a,b"]
)
def test_an_identifier_that_cannot_be_used_is_replaced(client: TestClient, given: str | None) -> None:
    headers = {} if given is None else {b"X-Request-ID": given.encode("latin-1")}
    made = {client.get("/healthz", headers=headers).headers["x-request-id"] for _ in range(2)}
    assert len(made) == 2
    assert all(re.fullmatch(r"[0-9a-f]{32}", each) for each in made)


@pytest.mark.parametrize(
    ("method", "path", "status", "route"),
    [
        ("GET", "/v1/documents/90000001", 200, "/v1/documents/{pmid}"),
        ("GET", "/v1/documents/1", 404, "/v1/documents/{pmid}"),
        ("GET", "/nowhere/private", 404, "other"),
        ("DELETE", "/v1/search", 405, "/v1/search"),
        ("POST", "/v1/search", 422, "/v1/search"),
        ("BREW", "/v1/search", 405, "/v1/search"),
    ],
)
def test_every_answer_has_a_line_that_names_the_route_and_not_the_address(
    client: TestClient, lines: Lines, method: str, path: str, status: int, route: str
) -> None:
    response = client.request(method, path)
    assert response.status_code == status
    (line,) = lines.of(ACCESS)
    assert (line["route"], line["status"], line["method"]) == (
        route,
        status,
        method if method != "BREW" else "other",
    )
    assert response.headers["x-request-id"] == line["request_id"]
    assert "private" not in "".join(lines.texts)


def test_every_operation_is_its_own_route(engine: Engine, lines: Lines) -> None:
    # A router that is included with a prefix would lose that prefix.
    app = create_app(Settings(), engine)
    with TestClient(app, raise_server_exceptions=False) as client:
        for path, methods in app.openapi()["paths"].items():
            for method in methods:
                client.request(method, re.sub(r"\{\w+\}", "1", path))
                assert lines.of(ACCESS)[-1]["route"] == path


def test_a_mounted_folder_is_one_route() -> None:
    assert route_of({"root_path": "/static", "app_root_path": "", "path": "/static/a.js"}) == "/static"
    assert route_of({"root_path": "", "path": "/a"}) == "other"
    assert route_of({"root_path": "/behind/proxy", "path": "/behind/proxy/a"}) == "other"


def test_successful_probes_are_logged_at_debug_only(client: TestClient, lines: Lines) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        assert client.get(path).status_code == 200
    client.post("/healthz")
    assert [line["level"] for line in lines.of(ACCESS)] == ["debug", "debug", "debug", "info"]


def test_a_fault_has_an_identifier_and_a_line_too(engine: Engine, lines: Lines) -> None:
    app = create_app(Settings(), engine)
    with TestClient(app, raise_server_exceptions=False) as client:
        response = client.get("/v1/documents/90000001", headers={"X-Request-ID": "fine"})
        assert response.status_code == 200
        app.state.service.document = None  # what calls it fails
        response = client.get("/v1/documents/90000001", headers={"X-Request-ID": "fault"})
    is_problem(response, 500)
    assert response.headers["x-request-id"] == "fault"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert [(line["request_id"], line["status"]) for line in lines.of(ACCESS)] == [
        ("fine", 200),
        ("fault", 500),
    ]


def test_a_fault_is_still_raised_for_the_server_to_log(engine: Engine) -> None:
    app = create_app(Settings(), engine)
    app.state.service.document = None
    with TestClient(app) as client, pytest.raises(TypeError):
        client.get("/v1/documents/90000001")


class BrokenRanker(LexicalRanker):
    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        raise RuntimeError("broken")


def test_a_failing_ranker_is_logged_as_of_the_request_it_failed(answerer: Answerer, lines: Lines) -> None:
    app = create_app(Settings(), local(Answerer(answerer.index, BrokenRanker())))
    with TestClient(app) as client:
        for identifier in ("first", "second"):
            answer = client.post("/v1/search", json={"body": BODY}, headers={"X-Request-ID": identifier})
            assert answer.json()["degraded"]
    failures = [line for line in lines.of("bioqa") if line["level"] == "error"]
    assert [line["request_id"] for line in failures] == ["first", "second"]


def test_the_server_logs_a_fault_with_its_trace_and_identifier(engine: Engine, lines: Lines) -> None:
    app = create_app(Settings(), engine)
    app.state.service.document = None
    config = uvicorn.Config(app, port=0, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    serving = threading.Thread(target=server.run)
    serving.start()
    try:
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/v1/documents/90000001", headers={"X-Request-ID": "fault-7"})
        answer = connection.getresponse()
        assert (answer.status, answer.headers["X-Request-ID"]) == (500, "fault-7")
        connection.close()
    finally:
        server.should_exit = True
        serving.join(30)
    (line,) = [line for line in lines.of("uvicorn.error") if line["level"] == "error"]
    assert line["request_id"] == "fault-7"
    assert line["exception"].splitlines()[-1].startswith("TypeError")


def test_refusals_are_logged_with_the_key_that_was_limited(
    engine: Engine, lines: Lines, tmp_path: Path
) -> None:
    path = tmp_path / "keys"
    keyfile.add(path, ApiKey("ada", digest("secret"), per_minute=1, burst=1))
    app = create_app(Settings(api_keys_file=path), engine)
    with TestClient(app) as client:
        client.get("/v1/models", headers={"X-API-Key": "secret"})
        client.get("/v1/models", headers={"X-API-Key": "secret"})
        client.get("/v1/models")
    logged = [(line["status"], line.get("key"), line["route"]) for line in lines.of(ACCESS)]
    assert logged == [(200, "ada", "/v1/models"), (429, "ada", "other"), (401, None, "other")]


def test_no_secret_and_no_question_is_in_any_line_even_at_debug(
    answerer: Answerer, lines: Lines, tmp_path: Path
) -> None:
    path, secret = tmp_path / "keys", new_secret()
    keyfile.add(path, ApiKey("ada", digest(secret)))
    app = create_app(
        Settings(
            api_keys_file=path,
            elastic_password=Secret("pass-word-1"),
            elastic_api_key=Secret("key-2"),
            elastic_user="u",
        ),
        local(answerer),  # whose lines can be seen here
    )
    question = "Does Mrs Unmistakable have diabetes?"
    with TestClient(app, raise_server_exceptions=False) as client:
        for headers in (
            {"Authorization": f"Bearer {secret}"},
            {"X-API-Key": secret},
            {"Authorization": f"Bearer {secret}x"},
            {"X-Request-ID": f"{secret}/"},
            {"Cookie": f"key={secret}"},
        ):
            client.post(f"/v1/search?key={secret}", json={"body": question}, headers=headers)
            client.post("/v1/search", content=b"{" + question.encode(), headers=headers)
            client.get(f"/v1/documents/{secret}", headers=headers)
            client.get(f"/{secret}?q={question}", headers=headers)
        app.state.service.document = None
        client.get(f"/v1/documents/{secret}", headers={"X-API-Key": secret})
    assert len(lines.of(ACCESS)) == 21
    logged = "\n".join(lines.texts)
    for private in (secret, digest(secret).hex(), "Unmistakable", "pass-word-1", "key-2"):
        assert private not in logged


def test_lines_of_other_loggers_have_the_identifier(engine: Engine, lines: Lines, tmp_path: Path) -> None:
    app = create_app(Settings(), engine)

    def away() -> list[str]:
        logging.getLogger("bioqa").warning("not ready")
        return ["away"]

    app.state.service.reasons_not_ready = away
    with TestClient(app) as client:
        client.get("/readyz", headers={"X-Request-ID": "probe-7"})
    (line,) = [line for line in lines.of("bioqa") if line["message"] == "not ready"]
    assert line["request_id"] == "probe-7"
    (access,) = lines.of(ACCESS)
    assert (access["level"], access["status"]) == ("info", 503)
    assert json.dumps(access)
