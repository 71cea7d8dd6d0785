"""What goes wrong in the service itself, and that waiting for a model holds up nothing else."""

import asyncio
import threading
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answerer, SearchOptions
from bioqa.app.answers.refusals import Draining
from bioqa.app.answers.service import Service
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate, Question
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


class StumblingIndex(AwayIndex):
    """Fails at one question, once the others have been searched for; finds nothing for them."""

    def __init__(self, others: int) -> None:
        super().__init__(RuntimeError("secret"))
        self.searched = threading.Barrier(others + 1, timeout=30)

    def search(self, question: str, size: int = 100, published_before: date | None = None) -> list[Candidate]:
        self.searched.wait()
        if question == "bad":
            raise RuntimeError("secret")
        return []


def test_questions_given_up_because_another_failed_count_as_failed_not_as_dropped() -> None:
    index = StumblingIndex(others=7)
    settings = Settings(batch_questions=4, retrieval_threads=8)
    service = Service(settings, [SlowRanker()], lambda: index)  # type: ignore[arg-type, return-value]
    questions = [Question(str(n), "bad" if n == 0 else "good") for n in range(20)]
    with pytest.raises(RuntimeError, match="secret"):
        asyncio.run(service.answer_all(questions, SearchOptions()))
    service.ranker.go_on.set()  # type: ignore[attr-defined]
    service.close()
    assert (service.counts.failed, service.counts.dropped) == (8, 0)
    assert service.queue.waiting == 0


def test_questions_of_a_test_set_whose_client_goes_away_are_dropped() -> None:
    ranker = SlowRanker()
    index = StumblingIndex(others=1)
    service = Service(Settings(retrieval_threads=2), [ranker], lambda: index)  # type: ignore[arg-type, return-value]

    async def leave() -> None:
        asking = asyncio.create_task(
            service.answer_all([Question("a", "a"), Question("b", "b")], SearchOptions())
        )
        while not ranker.begun.is_set():
            await asyncio.sleep(0.002)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(leave())
    ranker.go_on.set()
    service.close()
    assert (service.counts.dropped, service.counts.failed) == (2, 0)


def test_questions_of_a_test_set_refused_at_the_end_count_as_refused() -> None:
    ranker = SlowRanker()
    index = StumblingIndex(others=1)
    service = Service(Settings(retrieval_threads=2), [ranker], lambda: index)  # type: ignore[arg-type, return-value]

    async def end() -> None:
        asking = asyncio.create_task(
            service.answer_all([Question("a", "a"), Question("b", "b")], SearchOptions())
        )
        while not (ranker.begun.is_set() and service.queue._queues["batch"]):
            await asyncio.sleep(0.002)
        service.drain()
        service.refuse_waiting()
        ranker.go_on.set()
        with pytest.raises(Draining):
            await asking

    asyncio.run(end())
    service.close()
    counts = service.counts  # whichever of the two was being ranked, and whichever is waited for first
    assert (counts.answers + counts.refused, counts.dropped) == (2, 0)
    assert counts.refused
