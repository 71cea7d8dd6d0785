"""An index in which the metadata of a citation is damaged: a clear word wherever it is needed, 503 over HTTP,
and answers wherever it is not. In Elasticsearch's form: tests/indexer/search/elastic/test_mapping.py."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answerer
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.indexer.medline.packed import pack
from bioqa.indexer.search.records import encode
from bioqa.indexer.search.tantivy.index import TantivyIndex
from tests.app.conftest import Run, document
from tests.app.engines import local
from tests.app.rankers import LexicalRanker
from tests.app.requests import is_problem
from tests.app.web.html import BROWSER, read, texts
from tests.indexer.metadata import FULL

PMID = "90000001"
DAMAGES = {
    "not JSON": pack(FULL)[:-40],
    "not a list": b"7",
    "too few fields": b"[]",
    "not the right fields": b"[" + b"null," * 18 + b"null]",
    "other types": pack(FULL).replace(b'"Journal Article"', b"[7]").replace(b'"Tamsin"', b"null"),
}


@pytest.fixture(params=[*DAMAGES.values()], ids=[*DAMAGES])
def damaged(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    record = encode(document(1, "Kelp is sweet.", "Kelp grows in the sea."))
    folder = tmp_path / "damaged"
    with TantivyIndex.create(folder) as index:
        index.write([record._replace(metadata=request.param)])
        index.commit()
    return folder


@pytest.fixture
def client(damaged: Path) -> Iterator[TestClient]:
    app = create_app(Settings(), local(Answerer(TantivyIndex.open(damaged), LexicalRanker())))
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def test_programs_are_told(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    asked = {"body": "kelp"}
    for response in (
        client.post("/v1/search", json=asked),
        client.post("/v1/search", json=asked | {"facets": True}),
        client.get(f"/v1/documents/{PMID}"),
        client.post("/v1/documents", json={"pmids": [PMID]}),
        *(client.get(f"/v1/citations?pmid={PMID}&format={name}") for name in ("ris", "nbib", "csl", "apa")),
    ):
        assert "index is damaged" in is_problem(response, 503)["detail"]
    assert "the metadata of a citation cannot be read" in caplog.text


def test_readers_are_told(client: TestClient) -> None:
    for path in ("/?q=kelp", f"/article/{PMID}", f"/citations.ris?pmid={PMID}"):
        page = read(client.get(path, headers=BROWSER), 503)
        assert "index is damaged" in " ".join(texts(page, "//main"))


def test_a_submission_needs_no_metadata(client: TestClient) -> None:
    asked = {"questions": [{"id": "q", "body": "kelp"}]}
    (question,) = client.post("/v1/bioasq", json=asked).json()["questions"]
    assert question["documents"] == [f"http://www.ncbi.nlm.nih.gov/pubmed/{PMID}"]


def test_the_command_line_says_what_to_do(command: Run, damaged: Path) -> None:
    result = command("ask", "kelp", "--index", damaged, "--ranker", "bm25")
    assert result.code == 2
    assert "the index is damaged; restore it from a copy" in result.err
