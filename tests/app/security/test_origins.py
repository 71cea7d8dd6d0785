"""Other sites' pages: what they may read and send."""

from pathlib import Path

import pytest

from bioqa.app.security.origins import OriginsError, parse_origins
from tests.app.requests import BODY, TESTSET, is_problem
from tests.app.security.conftest import Serve

LAB = "https://lab.example.org"


def test_by_default_no_other_origin_reads_anything(serve: Serve) -> None:
    client = serve()
    asked = {"Origin": LAB, "Access-Control-Request-Method": "POST"}
    preflight = client.options("/v1/search", headers=asked)
    assert preflight.status_code == 405
    plain = client.get("/info", headers={"Origin": LAB})
    assert not [name for name in (*preflight.headers, *plain.headers) if name.startswith("access-control")]


def test_listed_origins_may_use_the_interface_even_with_keys(
    serve: Serve, key_path: Path, secret: str
) -> None:
    client = serve(cors_origins=f"{LAB}, http://localhost:3000", api_keys_file=key_path)
    asked = {
        "Origin": LAB,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    preflight = client.options("/v1/search", headers=asked)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == LAB
    assert "Authorization" in preflight.headers["access-control-allow-headers"]
    sent = {"Origin": LAB, "Sec-Fetch-Site": "cross-site", "Authorization": f"Bearer {secret}"}
    response = client.post("/v1/search", json={"body": BODY}, headers=sent)
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == LAB
    assert "X-Request-ID" in response.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in response.headers
    refused = client.post("/v1/search", json={"body": BODY}, headers={"Origin": LAB})
    assert refused.headers["access-control-allow-origin"] == LAB, "the page must be able to read the refusal"
    is_problem(refused, 401)
    other = client.options("/v1/search", headers=asked | {"Origin": "https://evil.example.org"})
    assert other.status_code == 400
    assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": LAB},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://other.testserver"},
        {"Origin": LAB},
        {"Origin": "null"},
        {"Origin": "http://testserver:8001"},
    ],
)
def test_forms_of_other_sites_are_refused(serve: Serve, headers: dict[str, str]) -> None:
    client = serve()
    is_problem(client.post("/v1/bioasq", json=TESTSET, headers=headers), 403)
    assert client.get("/v1/models", headers=headers).status_code == 200, "a link may lead here"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://testserver"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://testserver"},
        # Behind a proxy that speaks TLS.
        {"Origin": "https://testserver"},
    ],
)
def test_programs_and_our_own_forms_are_not(serve: Serve, headers: dict[str, str]) -> None:
    assert serve().post("/v1/bioasq", json=TESTSET, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "text", ["*", "lab.example.org", f"{LAB}/", f"{LAB}/path", "https://Lab.example.org", "null", "ftp://a.b"]
)
def test_what_is_no_origin_is_refused_at_start(text: str) -> None:
    with pytest.raises(OriginsError, match="BIOQA_CORS_ORIGINS"):
        parse_origins(f"https://a.example.org,{text}")


def test_origins_are_read_between_commas() -> None:
    assert parse_origins(" https://a.example.org ,http://[::1]:3000,") == (
        "https://a.example.org",
        "http://[::1]:3000",
    )
    assert parse_origins("") == ()
