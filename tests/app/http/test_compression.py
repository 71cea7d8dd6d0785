"""What is compressed, for whom, and what is left as it is."""

import gzip
import json
from collections.abc import Callable

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bioqa.app.http.compression import SMALLEST, Compression
from tests.app.requests import BODY
from tests.app.web.html import BROWSER

GZIP = {"Accept-Encoding": "gzip"}


def answered(respond: Callable[[], Response], **headers: str) -> Response:
    """What a client gets, still as it was sent."""

    async def route(request: Request) -> Response:
        return respond()

    app = Compression(Starlette(routes=[Route("/", route)]))
    with TestClient(app).stream("GET", "/", headers={**GZIP, **headers}) as response:
        content = b"".join(response.iter_raw())
        return Response(content, response.status_code, dict(response.headers))


@pytest.mark.parametrize("length", [SMALLEST, 100_000, 1_000_000])
def test_a_text_comes_packed_and_is_the_same(length: int) -> None:
    text = ("metformin " * length)[:length]
    response = answered(lambda: PlainTextResponse(text))
    assert response.headers["content-encoding"] == "gzip"
    assert response.headers["content-length"] == str(len(response.body))
    assert response.headers["vary"] == "Accept-Encoding"
    assert len(response.body) < length / 5
    assert gzip.decompress(bytes(response.body)).decode() == text


UNTOUCHED: dict[str, Callable[[], Response]] = {
    "short": lambda: PlainTextResponse("x" * (SMALLEST - 1)),
    "packed already": lambda: PlainTextResponse("x" * 5000, headers={"Content-Encoding": "br"}),
    "a picture": lambda: Response(b"x" * 5000, media_type="image/png"),
    "a part": lambda: PlainTextResponse("x" * 5000, 206, {"Content-Range": "bytes 0-4999/9999"}),
    "nothing": lambda: Response(status_code=304, headers={"Content-Length": "5000"}),
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_what_gains_nothing_is_left_alone(name: str) -> None:
    respond = UNTOUCHED[name]
    plain, response = answered(respond, **{"Accept-Encoding": "identity"}), answered(respond)
    assert response.body == plain.body
    assert response.headers == plain.headers
    assert "accept-encoding" not in response.headers.get("vary", "").lower()


def test_caches_are_told_of_both_forms_whichever_is_sent() -> None:
    response = answered(
        lambda: PlainTextResponse("x" * 5000, headers={"Vary": "Origin"}), **{"Accept-Encoding": "identity"}
    )
    assert response.body == b"x" * 5000
    assert "content-encoding" not in response.headers
    assert response.headers["vary"] == "Origin, Accept-Encoding"


@pytest.mark.parametrize(
    ("site", "packed"),
    [(None, True), ("none", True), ("same-origin", True), ("same-site", False), ("cross-site", False)],
)
def test_pages_of_other_sites_learn_nothing_from_lengths(
    client: TestClient, site: str | None, packed: bool
) -> None:
    sent = {**GZIP, **({} if site is None else {"Sec-Fetch-Site": site})}
    response = client.get(f"/?q={BODY}", headers={**BROWSER, **sent})
    assert response.headers.get("content-encoding") == ("gzip" if packed else None)
    assert "<html" in response.text


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        ("", False),
        ("gzip", True),
        ("br, gzip;q=0.5", True),
        ("gzip;q=0, br", False),
        ("br, gzip; q = 0.000", False),
        ("gzip;q=0.01", True),
        ("br;q=0, gzip", True),
        ("deflate", False),
    ],
)
def test_who_takes_gzip(value: str, accepted: bool) -> None:
    response = answered(lambda: PlainTextResponse("x" * 5000), **{"Accept-Encoding": value})
    assert ("content-encoding" in response.headers) is accepted


def test_answers_pages_files_and_errors_come_packed(application: FastAPI, client: TestClient) -> None:
    asked = {"body": BODY}
    packed = client.post("/v1/search", json=asked, headers=GZIP)
    plain = client.post("/v1/search", json=asked, headers={"Accept-Encoding": "identity"})
    assert (packed.headers["content-encoding"], plain.headers.get("content-encoding")) == ("gzip", None)
    assert int(packed.headers["content-length"]) < len(plain.content) / 3
    assert packed.json()["documents"] == plain.json()["documents"]
    wrong = json.dumps({"questions": [{}] * 40})
    for response in (
        client.get("/openapi.json", headers=GZIP),
        client.get("/static/style.css", headers=GZIP),
        client.get("/nowhere", headers={**GZIP, **BROWSER}),
        client.post("/v1/bioasq", content=wrong, headers={**GZIP, "Content-Type": "application/json"}),
    ):
        assert response.headers["content-encoding"] == "gzip", response.url
        assert response.text
    assert "content-encoding" not in client.get("/healthz", headers=GZIP).headers


def test_a_file_that_a_browser_has_is_not_sent_again(client: TestClient) -> None:
    tag = client.get("/static/style.css", headers=GZIP).headers["etag"]
    assert client.get("/static/style.css", headers={**GZIP, "If-None-Match": tag}).status_code == 304
