"""Requests that no description allows: torn bodies, wrong kinds, odd headers and addresses, at every address.

Schemathesis makes up what the description of the interface speaks of (tests/app/test_openapi.py); here is the
rest, the addresses that it does not name included.
"""

import json
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.app.requests import BODY, TESTSET

BOUNDARY = "b0undary"


def form(*parts: tuple[str, bytes]) -> bytes:
    made = b""
    for name, content in parts:
        made += (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="x"\r\n\r\n'.encode()
        )
        made += content + b"\r\n"
    return made + f"--{BOUNDARY}--\r\n".encode()


GOLDEN = json.dumps(TESTSET).encode()
VALID: dict[str, tuple[bytes, ...]] = {
    "/v1/search": (json.dumps({"body": BODY, "max_documents": 3}).encode(),),
    "/v1/explain": (json.dumps({"body": BODY, "pmid": "90000001"}).encode(),),
    "/v1/rerank": (json.dumps({"query": BODY, "documents": ["a b.", {"text": "c", "title": "d"}]}).encode(),),
    "/v2/rerank": (json.dumps({"query": BODY, "documents": ["a b."], "top_n": 1}).encode(),),
    "/v1/embeddings": (json.dumps({"input": ["a b.", "c"], "encoding_format": "base64"}).encode(),),
    "/v1/documents": (json.dumps({"pmids": ["90000001", "7"]}).encode(),),
    "/v1/citations": (json.dumps({"pmids": ["90000001", "90000002"], "format": "apa"}).encode(),),
    "/v1/bioasq": (GOLDEN,),
    "/v1/bioasq/batches": (GOLDEN, form(("file", GOLDEN), ("ranker", b"lexical"))),
    "/v1/bioasq/validate": (GOLDEN, form(("submission", GOLDEN), ("testset", GOLDEN))),
    "/v1/bioasq/evaluate": (GOLDEN, form(("golden", GOLDEN), ("submission", GOLDEN))),
    "/v1/bioasq/compare": (
        json.dumps({"golden": TESTSET, "systems": {"a": TESTSET}}).encode(),
        form(("golden", GOLDEN), ("submission", GOLDEN), ("submission", GOLDEN)),
    ),
}
KINDS = (
    "application/json",
    f"multipart/form-data; boundary={BOUNDARY}",
    "application/json; charset=utf-16",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=other",
    "text/html",
    "",
)
HEADERS = (
    "Accept",
    "Accept-Encoding",
    "Authorization",
    "Content-Encoding",
    "Cookie",
    "Expect",
    "Forwarded",
    "Idempotency-Key",
    "If-None-Match",
    "Origin",
    "Range",
    "X-API-Key",
    "X-Forwarded-For",
    "X-HTTP-Method-Override",
    "X-Request-ID",
    "traceparent",
)
MANY = settings(max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck))

# What a header may hold on the wire: bytes without line ends, not only ASCII.
values = st.binary(max_size=40).map(lambda b: b.translate(None, b"\r\n\0"))
headers = st.dictionaries(st.sampled_from(HEADERS), values, max_size=4)


@st.composite
def torn(draw: st.DrawFn, content: bytes) -> bytes:
    """A few bytes cut out, put in or repeated."""
    for _ in range(draw(st.integers(0, 3))):
        begin = draw(st.integers(0, len(content)))
        end = draw(st.integers(begin, min(len(content), begin + 20)))
        put = draw(
            st.one_of(st.binary(max_size=6), st.just(content[begin:end] * 2), st.just(b"\xed\xa0\x80"))
        )
        content = content[:begin] + put + content[end:]
    return content


def check(response: Any) -> None:
    assert response.status_code < 500, response.text
    if response.status_code >= 400:
        assert response.headers["content-type"].startswith(("application/problem+json", "text/html"))
        assert "Traceback" not in response.text
        assert ".py" not in response.text


def test_every_address_that_takes_a_body_is_tried(application: FastAPI) -> None:
    paths = application.openapi()["paths"]
    described = {path for path, methods in paths.items() if "post" in methods}
    assert described | {"/v2/rerank"} == set(VALID)


@pytest.mark.parametrize("path", sorted(VALID))
def test_torn_bodies_of_any_kind_with_any_headers(client: TestClient, path: str) -> None:
    bodies = st.sampled_from(VALID[path]).flatmap(torn)

    @MANY
    @given(bodies, st.sampled_from(KINDS), headers)
    def try_it(content: bytes, kind: str, given: dict[str, bytes]) -> None:
        sent: Any = {"Content-Type": kind, **given}
        check(client.post(path, content=content, headers=sent))

    try_it()


GET = (
    "/",
    "/answer.json",
    "/counts",
    "/citations.ris",
    "/citations.x",
    "/v1/citations",
    "/v1/documents/1",
    "/v1/bioasq/batches",
)
ODD = ("0", "-1", "9" * 30, "2020-02-30", "NaN", "\ud800")
queries = st.dictionaries(
    st.sampled_from(["q", "n", "ranker", "before", "pmid", "format", "limit", "id"]),
    st.one_of(st.text(max_size=20), st.sampled_from(ODD)),
    max_size=4,
)


def quoted(text: str) -> str:
    return quote(text.encode(errors="surrogatepass"), safe="")


@pytest.mark.parametrize("path", GET)
def test_any_query_with_any_headers(client: TestClient, path: str) -> None:
    @MANY
    @given(queries, headers)
    def try_it(query: dict[str, str], given: dict[str, bytes]) -> None:
        text = "&".join(f"{name}={quoted(value)}" for name, value in query.items())
        sent: Any = given
        check(client.get(f"{path}?{text}", headers=sent))

    try_it()


METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "PROPFIND")
steps = st.one_of(st.text(max_size=8), st.sampled_from(["v1", "bioasq", "documents", "..", ""]))


@MANY
@given(st.sampled_from(METHODS), st.lists(steps, max_size=5))
def test_any_method_at_any_address(client: TestClient, method: str, steps: list[str]) -> None:
    check(client.request(method, "http://testserver/" + "/".join(map(quoted, steps))))
