"""Bodies that are too large."""

from collections.abc import Iterator

import pytest
from fastapi import HTTPException, Request, Response
from fastapi.testclient import TestClient
from starlette.types import Receive, Scope, Send

from bioqa.app.http.limits import BodyLimit
from tests.app.requests import is_problem


def test_large_bodies_are_refused_whether_they_tell_their_length_or_not(client: TestClient) -> None:
    content = b'{"body": "' + b"x" * 2_000_000 + b'"}'

    def pieces() -> Iterator[bytes]:
        for begin in range(0, len(content), 100_000):
            yield content[begin : begin + 100_000]

    headers = {"Content-Type": "application/json"}
    for sent in (content, pieces()):
        is_problem(client.post("/v1/search", content=sent, headers=headers), 413)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await Response(str(len(body)))(scope, receive, send)


LIMITED = TestClient(BodyLimit(echo, max_bytes=10, others={"/files": 100}))


@pytest.mark.parametrize(("path", "most"), [("/", 10), ("/files", 100), ("/files/more", 10)])
def test_a_path_may_have_a_limit_of_its_own(path: str, most: int) -> None:
    assert LIMITED.post(path, content=b"x" * most).text == str(most)
    refused = LIMITED.post(path, content=b"x" * (most + 1))
    assert is_problem(refused, 413)["detail"] == f"the body is larger than {most} bytes"
    assert refused.headers["connection"] == "close"


def test_a_length_that_lies_does_not_help() -> None:
    with pytest.raises(HTTPException) as caught:
        LIMITED.post("/", content=iter([b"x" * 11]), headers={"Content-Length": "1"})
    assert caught.value.status_code == 413
    assert LIMITED.post("/", content=b"x", headers={"Content-Length": "9" * 5000}).status_code == 413
