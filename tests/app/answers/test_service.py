"""What goes wrong in the service itself, and that waiting for a model holds up nothing else."""

import threading
from collections.abc import Sequence
from pathlib import Path

from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.service import Service
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.tantivy import TantivyIndex
from bioqa.models.answers.ranking import Ranking
from tests.app.answers.test_answering import AwayIndex
from tests.app.conftest import LexicalRanker
from tests.app.requests import BODY, TESTSET, is_problem


def test_without_an_index_questions_get_503_until_there_is_one(tmp_path: Path, index_folder: Path) -> None:
    folder = tmp_path / "later"

    def open_index() -> SearchIndex:
        return TantivyIndex.open(folder)

    app = create_app(Settings(), Answerer(TantivyIndex.open(index_folder), LexicalRanker()))
    app.state.service = Service(Settings(), [LexicalRanker()], open_index)
    with TestClient(app, raise_server_exceptions=False) as client:
        for response in (
            client.post("/v1/search", json={"body": BODY}),
            client.post("/v1/bioasq", json=TESTSET),
            client.get("/v1/documents/90000001"),
        ):
            is_problem(response, 503)
            assert int(response.headers["retry-after"]) > 0
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["ready"]) == (503, False)
        assert "missing" in ready.json()["reasons"][0]
        assert str(tmp_path) not in ready.text
        assert client.get("/info").json()["index"] is None
        assert client.get("/healthz").status_code == 200
        with TantivyIndex.create(folder) as index:
            index.commit()
        assert client.get("/readyz").json()["reasons"] == ["the search index holds no documents"]
        folder.rename(tmp_path / "empty")
        is_problem(client.post("/v1/search", json={"body": BODY}), 503)
        folder.symlink_to(index_folder)
        assert client.get("/readyz").json() == {"ready": True, "reasons": []}
        assert client.post("/v1/search", json={"body": BODY}).json()["documents"]


def test_a_fault_of_ours_is_a_problem_that_tells_no_secret() -> None:
    broken = Answerer(AwayIndex(RuntimeError(f"secret of {__file__}")), LexicalRanker())  # type: ignore[arg-type]
    app = create_app(Settings(), broken)
    with TestClient(app, raise_server_exceptions=False) as client:
        response = client.post("/v1/search", json={"body": BODY})
        assert "secret" not in is_problem(response, 500)["detail"]
    assert app.state.service.counts.failed == 1


class SlowRanker(LexicalRanker):
    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        self.begun.set()
        assert self.go_on.wait(30)
        return super().rank(question, candidates)


def test_health_and_documents_answer_at_once_while_a_model_works(answerer: Answerer) -> None:
    ranker = SlowRanker()
    app = create_app(Settings(), Answerer(answerer.index, ranker))
    with TestClient(app) as client:
        asking = threading.Thread(target=client.post, args=("/v1/search",), kwargs={"json": {"body": BODY}})
        asking.start()
        try:
            assert ranker.begun.wait(30)
            assert client.get("/healthz").status_code == 200
            assert client.get("/readyz").status_code == 200
            assert client.get("/v1/documents/90000001").status_code == 200
            # The model waits for the end of this test, and its question with it.
            assert asking.is_alive()
        finally:
            ranker.go_on.set()
            asking.join(30)
