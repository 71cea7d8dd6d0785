"""Rate limits, headers and origins, as clients and browsers meet them."""

from pathlib import Path

from bioqa.app.security import keyfile
from bioqa.app.security.keys import ApiKey, digest
from tests.app.requests import is_problem
from tests.app.security.conftest import Serve


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
    assert is_problem(third, 429)["detail"].startswith("more than 1 requests per minute")
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
