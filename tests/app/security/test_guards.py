"""Rate limits, headers and origins, as clients and browsers meet them."""

from pathlib import Path

import pytest

from bioqa.app.security import keyfile
from bioqa.app.security.keys import ApiKey, digest
from bioqa.app.security.origins import OriginsError, parse_origins
from tests.app.requests import BODY, TESTSET, is_problem
from tests.app.security.conftest import Serve

LAB = "https://lab.example.org"


def test_without_settings_nothing_is_limited(serve: Serve) -> None:
    client = serve()
    for _ in range(30):
        response = client.get("/v1/models")
        assert response.status_code == 200
        assert "ratelimit" not in response.headers


def test_who_asks_too_often_is_told_when_to_come_back(serve: Serve) -> None:
    client = serve(rate_per_minute=1, rate_burst=2)
    first, second, third = (client.get("/v1/models") for _ in range(3))
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.headers["ratelimit-policy"] == '"requests";q=1;w=60'
    assert first.headers["ratelimit"] == '"requests";r=1;t=60'
    assert second.headers["ratelimit"] == '"requests";r=0;t=60'
    assert is_problem(third, 429)["detail"].startswith("more than 1 requests a minute")
    assert 58 <= int(third.headers["retry-after"]) <= 60
    for path in ("/healthz", "/readyz", "/metrics"):
        probes = [client.get(path) for _ in range(3)]
        assert [probe.status_code for probe in probes] == [200] * 3


def test_each_key_has_its_own_bucket_and_may_have_its_own_limit(serve: Serve, key_path: Path) -> None:
    keyfile.add(key_path, ApiKey("usual", digest("u")))
    keyfile.add(key_path, ApiKey("more", digest("m"), per_minute=2, burst=5))
    client = serve(api_keys_file=key_path, rate_per_minute=1, rate_burst=3)
    for secret, allowed in (("u", 3), ("m", 5)):
        answers = [client.get("/v1/models", headers={"X-API-Key": secret}) for _ in range(allowed + 1)]
        assert [answer.status_code for answer in answers] == [200] * allowed + [429]
    assert answers[0].headers["ratelimit-policy"] == '"requests";q=2;w=60'


def test_a_keys_limit_holds_where_the_service_has_none(serve: Serve, key_path: Path) -> None:
    keyfile.add(key_path, ApiKey("slow", digest("s"), per_minute=2))
    keyfile.add(key_path, ApiKey("free", digest("f"), burst=1))
    client = serve(api_keys_file=key_path)
    answers = [client.get("/v1/models", headers={"X-API-Key": "s"}).status_code for _ in range(3)]
    assert answers == [200, 200, 429]
    answers = [client.get("/v1/models", headers={"X-API-Key": "f"}).status_code for _ in range(3)]
    assert answers == [200] * 3


def test_without_keys_headers_make_no_one_another(serve: Serve) -> None:
    client = serve(rate_per_minute=1, rate_burst=1)
    client.get("/v1/models")
    for headers in ({"X-API-Key": "new"}, {"X-Forwarded-For": "192.0.2.9"}, {"Forwarded": "for=192.0.2.9"}):
        is_problem(client.get("/v1/models", headers=headers), 429)


ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/healthz", 200),
        ("GET", "/nowhere", 404),
        ("GET", "/v1/search", 405),
        ("POST", "/v1/search", 422),
        ("GET", "/openapi.json", 200),
        ("GET", "/metrics", 200),
    ],
)
def test_every_answer_tells_browsers_to_be_careful(serve: Serve, method: str, path: str, status: int) -> None:
    response = serve().request(method, path)
    assert response.status_code == status
    assert ALWAYS.items() <= dict(response.headers).items()
    assert "camera=()" in response.headers["permissions-policy"]
    assert "strict-transport-security" not in response.headers
    assert "cache-control" not in response.headers


def test_refusals_are_careful_too_and_private(serve: Serve, key_path: Path, secret: str) -> None:
    client = serve(api_keys_file=key_path)
    for headers, status in (({}, 401), ({"X-API-Key": secret}, 200)):
        response = client.get("/info", headers=headers)
        assert response.status_code == status
        assert ALWAYS.items() <= dict(response.headers).items()
        assert response.headers["cache-control"] == "private"


def test_there_is_no_page_that_takes_its_script_from_elsewhere(serve: Serve) -> None:
    for path in ("/docs", "/redoc"):
        is_problem(serve().get(path), 404)


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
