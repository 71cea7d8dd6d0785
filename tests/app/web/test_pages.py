"""What all pages share: templates' filters, and the files beside them."""

from datetime import UTC, datetime

import pytest
from fastapi.testclient import TestClient

from bioqa.app.version import version
from bioqa.app.web.pages import _duration, day
from tests.app.requests import is_problem
from tests.app.web.html import read


def test_static_files_are_cached_when_their_address_names_their_content(client: TestClient) -> None:
    page = read(client.get("/"))
    addresses = page.xpath("//link/@href | //script/@src | //img/@src")
    assert len(set(addresses)) == 4
    for address in addresses:
        response = client.get(address)
        assert response.status_code == 200
        assert "immutable" in response.headers["cache-control"]
    assert "cache-control" not in client.get("/static/style.css").headers
    assert client.get("/static/style.css?v=1").headers["content-type"] == "text/css; charset=utf-8"
    is_problem(client.get("/static/%2e%2e/pages.py?v=1"), 404)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "less than a minute"),
        (44, "less than a minute"),
        (45, "about a minute"),
        (89, "about a minute"),
        (90, "about 2 minutes"),
        (5399, "about 90 minutes"),
        (5400, "about 2 hours"),
        (36 * 3600, "about 2 days"),
    ],
)
def test_a_remaining_time_is_as_precise_as_an_estimate(seconds: float, words: str) -> None:
    assert _duration(seconds) == words


def test_days_are_written_out() -> None:
    assert day(datetime(2026, 3, 7, 9, 5, tzinfo=UTC)) == "7 March 2026, 09:05 UTC"


def test_an_answer_names_the_version(client: TestClient) -> None:
    assert version() in read(client.get("/?q=metformin")).text_content()
