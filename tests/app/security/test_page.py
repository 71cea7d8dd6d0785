"""The page behind keys: a browser asks for one by itself, and every page has the policy of pages."""

import base64
from pathlib import Path

import pytest

from bioqa.app.security import keyfile
from bioqa.app.security.headers import DATA, PAGE
from tests.app.requests import BODY, is_problem
from tests.app.security.conftest import Serve

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def signed_in(key: str) -> dict[str, str]:
    return BROWSER | {"Authorization": "Basic " + base64.b64encode(f":{key}".encode()).decode()}


def test_a_browser_without_a_key_gets_a_page_that_makes_it_ask_for_one(serve: Serve, key_path: Path) -> None:
    response = serve(api_keys_file=key_path).get("/", headers=BROWSER)
    assert response.status_code == 401
    assert response.headers["content-type"].startswith("text/html")
    assert 'Basic realm="bioqa", charset="UTF-8"' in response.headers.get_list("www-authenticate")
    assert response.headers["content-security-policy"] == PAGE
    assert response.headers["x-request-id"]


def test_with_a_key_as_password_the_page_answers(serve: Serve, key_path: Path, secret: str) -> None:
    client = serve(api_keys_file=key_path)
    response = client.get("/", params={"q": BODY}, headers=signed_in(secret))
    assert response.status_code == 200
    assert "<article" in response.text
    assert response.headers["content-security-policy"] == PAGE
    assert response.headers["cache-control"] in ("private", "no-store", "private, no-store")
    assert client.get("/", headers=signed_in(secret + "x")).status_code == 401


def test_what_the_page_is_made_of_needs_no_key(serve: Serve, key_path: Path) -> None:
    client = serve(api_keys_file=key_path)
    for name, kind in (("htmx.min.js", "text/javascript"), ("style.css", "text/css")):
        response = client.get(f"/static/{name}")
        assert response.status_code == 200
        assert response.headers["content-type"].startswith(kind)
        assert response.headers["content-security-policy"] == DATA
    for path in ("/static", "/static/../info", "/static/%2e%2e/info", "/static//etc/passwd"):
        assert client.get(path).status_code in (401, 404)


def test_a_browser_that_asks_too_often_gets_a_page_that_says_when_to_come_back(serve: Serve) -> None:
    client = serve(rate_per_minute=1, rate_burst=1)
    assert client.get("/", headers=BROWSER).status_code == 200
    response = client.get("/", headers=BROWSER)
    assert (response.status_code, response.headers["content-security-policy"]) == (429, PAGE)
    assert int(response.headers["retry-after"]) > 0
    is_problem(client.get("/v1/models"), 429)


def test_a_fault_is_a_page_with_the_policy_too(serve: Serve) -> None:
    client = serve()
    client.app.state.service.answer = None  # type: ignore[attr-defined]
    response = client.get("/", params={"q": BODY}, headers=BROWSER)
    assert response.status_code == 500
    assert response.headers["content-type"].startswith("text/html")
    assert response.headers["content-security-policy"] == PAGE
    assert response.headers["x-request-id"]


@pytest.mark.parametrize("host", ["testserver", "evil.test"])
def test_who_is_not_let_in_sees_no_rankers(
    serve: Serve, key_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    headers = {**BROWSER, "Host": host}
    with_keys = serve(api_keys_file=key_path, allowed_hosts="testserver")
    monkeypatch.setattr(keyfile, "GRACE_S", 0)
    key_path.unlink()
    refused = [with_keys.get("/", headers={**headers, "X-API-Key": "any"}), serve().get("/", headers=headers)]
    expected = [421, 421] if host == "evil.test" else [503, 200]
    assert [page.status_code for page in refused] == expected
    for page in refused:
        assert ("lexical" in page.text) == (page.status_code == 200)
