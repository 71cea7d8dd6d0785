"""Where the tools' answers come from, and what is told when they cannot."""

from pathlib import Path

import httpx2
from fastapi import FastAPI

from bioqa.app.answers.service import Service
from bioqa.app.mcp.backends import LocalBackend, RemoteBackend
from bioqa.app.mcp.server import create_server
from bioqa.app.settings import Settings
from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.tantivy import TantivyIndex
from tests.app.mcp.calls import answered, refused
from tests.app.rankers import LexicalRanker
from tests.app.requests import BODY

SETTINGS = Settings(max_question_characters=300)


def test_an_index_that_is_away_is_told_and_found_again(tmp_path: Path, index_folder: Path) -> None:
    def open_index() -> SearchIndex:
        if not (tmp_path / "there").exists():
            raise BioqaError("the index is away")
        return TantivyIndex.open(index_folder)

    service = Service(SETTINGS, [LexicalRanker()], open_index)
    server = create_server(LocalBackend(service))
    assert refused(server, "search", question=BODY) == "Error executing tool search: the index is away"
    (tmp_path / "there").touch()
    assert answered(server, "search", question=BODY)["documents"]
    service.close()


def test_a_service_that_is_away_or_none_is_told() -> None:
    away = create_server(RemoteBackend("http://127.0.0.1:1"))
    assert "the service at http://127.0.0.1:1 cannot be reached" in refused(away, "search", question="a")
    other = FastAPI()
    other.post("/v1/search")(lambda: {"hello": "world"})
    none = create_server(RemoteBackend("http://none", transport=httpx2.ASGITransport(other)))
    assert "http://none is not a bioqa service" in refused(none, "search", question="a")


def test_the_key_reaches_the_service() -> None:
    seen = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers.get("authorization"))
        return httpx2.Response(401, json={"detail": "an API key is needed"})

    transport = httpx2.MockTransport(answer)
    for key in ("secret", None):
        backend = RemoteBackend("http://bioqa.test", key, transport)
        said = refused(create_server(backend), "get_document", pmid="1")
        assert said.endswith("the service at http://bioqa.test refused (401): an API key is needed")
        assert "secret" not in said
    assert seen == ["Bearer secret", None]
