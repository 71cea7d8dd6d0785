"""Who comes in: by which header, where, and what the others are told."""

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import schemathesis
from hypothesis import Phase, given, settings
from schemathesis import Case
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance
from starlette.datastructures import Headers

from bioqa.app.answers.engine import Engine
from bioqa.app.main import create_app
from bioqa.app.security import keyfile
from bioqa.app.security.authentication import credentials
from bioqa.app.security.keys import ApiKey, ApiKeyError, digest
from bioqa.app.settings import Settings
from tests.app.requests import BODY, is_problem
from tests.app.security.conftest import Serve


def basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def test_without_a_file_of_keys_everybody_is_let_in(serve: Serve) -> None:
    assert serve().post("/v1/search", json={"body": BODY}).status_code == 200


def test_each_of_the_three_ways_lets_in(serve: Serve, key_path: Path, secret: str) -> None:
    client = serve(api_keys_file=key_path)
    for headers in (
        {"Authorization": f"Bearer {secret}"},
        {"Authorization": f"bearer  {secret} "},
        {"X-API-Key": secret},
        {"Authorization": basic("whoever", secret)},
        {"Authorization": basic("", secret)},
        {"Authorization": "Bearer wrong", "X-API-Key": secret},
    ):
        assert client.post("/v1/search", json={"body": BODY}, headers=headers).status_code == 200


def test_who_sends_no_key_is_told_how(serve: Serve, key_path: Path) -> None:
    response = serve(api_keys_file=key_path).post("/v1/search", json={"body": BODY})
    assert "X-API-Key" in is_problem(response, 401)["detail"]
    assert response.headers.get_list("www-authenticate") == [
        'Bearer realm="bioqa"',
        'Basic realm="bioqa", charset="UTF-8"',
    ]


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer bioqa_wrong"},
        {"X-API-Key": "bioqa_wrong"},
        {"X-API-Key": "\u00e9"},
        {"Authorization": basic("ada", "bioqa_wrong")},
    ],
)
def test_a_wrong_key_is_called_wrong(serve: Serve, key_path: Path, headers: dict[str, str]) -> None:
    raw = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
    response = serve(api_keys_file=key_path).get("/info", headers=raw)
    assert is_problem(response, 401)["detail"].startswith("this API key is not valid")
    assert response.headers.get_list("www-authenticate")[0] == 'Bearer realm="bioqa", error="invalid_token"'


@pytest.mark.parametrize(
    ("authorization", "found"),
    [
        ("Bearer a.b", ["a.b"]),
        ("Bearer", []),
        ("Bearer   ", []),
        ("Basic " + base64.b64encode(b"n:p:q").decode(), ["p:q"]),
        ("Basic " + base64.b64encode(b"no colon").decode(), []),
        ("Basic " + base64.b64encode(b"n:\xff").decode(), []),
        ("Basic not base64!", []),
        ("Digest username=n", []),
        ("", []),
    ],
)
def test_what_may_be_a_key(authorization: str, found: list[str]) -> None:
    assert list(credentials(Headers({"authorization": authorization}))) == found


def test_a_key_in_the_address_is_none(serve: Serve, key_path: Path, secret: str) -> None:
    client = serve(api_keys_file=key_path)
    is_problem(client.get(f"/info?api_key={secret}&key={secret}"), 401)


def test_only_probes_are_open_and_metrics_if_wanted(serve: Serve, key_path: Path) -> None:
    client = serve(api_keys_file=key_path)
    for path in ("/healthz", "/readyz"):
        assert client.get(path).status_code == 200
    for path in (
        "/",
        "/info",
        "/metrics",
        "/openapi.json",
        "/nowhere",
        "/healthz/",
        "/v1/models",
        "//healthz",
    ):
        is_problem(client.get(path), 401)
    is_problem(client.get("/healthz/../info"), 401)
    assert serve(api_keys_file=key_path, metrics="open").get("/metrics").status_code == 200


def test_every_operation_of_the_interface_is_closed(engine: Engine, serve: Serve, key_path: Path) -> None:
    client = serve(api_keys_file=key_path)
    paths = create_app(Settings(), engine).openapi()["paths"]
    asked = {(m.upper(), p) for p, methods in paths.items() for m in methods} - {
        ("GET", "/healthz"),
        ("GET", "/readyz"),
    }
    assert asked
    for method, path in asked:
        is_problem(client.request(method, path.replace("{", "").replace("}", "")), 401)


def test_a_revoked_key_is_refused_at_once_and_a_new_one_let_in(
    serve: Serve, key_path: Path, secret: str
) -> None:
    client = serve(api_keys_file=key_path)
    sent = {"X-API-Key": secret}
    assert client.get("/info", headers=sent).status_code == 200
    keyfile.remove(key_path, "ada")
    is_problem(client.get("/info", headers=sent), 401)
    keyfile.add(key_path, ApiKey("eve", digest(secret)))
    assert client.get("/info", headers=sent).status_code == 200


def test_an_expired_key_is_refused(serve: Serve, key_path: Path) -> None:
    today = datetime.now(UTC).date()
    keyfile.add(key_path, ApiKey("old", digest("o"), expires=today))
    keyfile.add(key_path, ApiKey("young", digest("y"), expires=today + timedelta(days=2)))
    client = serve(api_keys_file=key_path)
    is_problem(client.get("/info", headers={"X-API-Key": "o"}), 401)
    assert client.get("/info", headers={"X-API-Key": "y"}).status_code == 200


def test_the_service_does_not_start_with_a_file_that_cannot_be_used(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(ApiKeyError, match="absent"):
        create_app(Settings(api_keys_file=tmp_path / "absent"), engine)


def test_a_file_that_cannot_be_read_is_told_to_who_watches(serve: Serve, key_path: Path, secret: str) -> None:
    client = serve(api_keys_file=key_path, metrics="open")
    sent = {"X-API-Key": secret}
    assert client.get("/readyz").status_code == 200
    key_path.unlink()
    assert client.get("/info", headers=sent).status_code == 200, "for a while"
    unready = client.get("/readyz")
    assert unready.status_code == 503
    assert "keys cannot be read" in unready.json()["reasons"][0]
    assert str(key_path) not in unready.text
    measured = client.get("/metrics").text
    assert 'bioqa_background_failures_total{task="keys"} 1.0' in measured
    assert "bioqa_ready 0.0" in measured
    # As if it were gone for longer: what the folder says of when.
    with patch.object(keyfile, "GRACE_S", 0):
        refused = client.get("/info", headers=sent)
        is_problem(refused, 503)
        assert int(refused.headers["retry-after"]) > 0
        assert "every key is refused" in client.get("/readyz").json()["reasons"][0]


def test_the_description_tells_how_to_come_in(serve: Serve, key_path: Path, secret: str) -> None:
    schema = serve(api_keys_file=key_path).get("/openapi.json", headers={"X-API-Key": secret}).json()
    schemes = schema["components"]["securitySchemes"]
    assert {name: each["type"] for name, each in schemes.items()} == {
        "bearer": "http",
        "header": "apiKey",
        "basic": "http",
    }
    search = schema["paths"]["/v1/search"]["post"]
    assert search["security"] == [{"bearer": []}, {"header": []}, {"basic": []}]
    assert {"401", "429"} <= set(search["responses"])
    for open_path in ("/healthz", "/readyz"):
        operation = schema["paths"][open_path]["get"]
        assert "security" not in operation
        assert not {"401", "429"} & set(operation["responses"])


@pytest.mark.parametrize(("method", "path"), [("GET", "/info"), ("GET", "/readyz")])
def test_what_the_description_says_of_keys_is_so(
    engine: Engine, key_path: Path, secret: str, method: str, path: str
) -> None:
    app = create_app(Settings(api_keys_file=key_path), engine)
    sent = {"X-API-Key": secret}
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers=sent)
    operation = schema[path][method]
    asked = []

    @settings(max_examples=3, derandomize=True, phases=[Phase.generate])
    @given(case=operation.as_strategy())
    def try_it(case: Case[Any]) -> None:
        # It takes the wrong key that it adds to the right one for the only one.
        asked.append(case.call_and_validate(headers=sent, excluded_checks=[ignored_auth]))
        without = case.call()
        case.validate_response(without, excluded_checks=[positive_data_acceptance])
        assert without.status_code == (200 if path == "/readyz" else 401)

    try_it()
    assert asked


def test_without_keys_the_description_says_nothing_of_them(serve: Serve) -> None:
    schema = serve().get("/openapi.json").json()
    assert "securitySchemes" not in schema["components"]
    assert "401" not in schema["paths"]["/v1/search"]["post"]["responses"]


def test_no_route_is_of_a_kind_that_the_guards_do_not_stand_before(engine: Engine) -> None:
    # A WebSocket would pass them by.
    routes = create_app(Settings(), engine).routes
    assert routes
    assert not [route for route in routes if "WebSocket" in type(route).__name__]
