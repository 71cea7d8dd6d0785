"""What browsers are told with every answer."""

from pathlib import Path

import pytest

from tests.app.requests import is_problem
from tests.app.security.conftest import Serve
from tests.app.web.html import read

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
        ("GET", "/v1/rerank", 405),
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
    is_problem(serve().get("/redoc"), 404)
    for address in read(serve().get("/docs")).xpath("//script/@src | //link/@href | //img/@src"):
        assert address.startswith("/static/")
