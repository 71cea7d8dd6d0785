"""The service over a real Elasticsearch that dies and comes back."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answerer
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate, Question
from bioqa.bioasq.files import submission_dict
from bioqa.indexer.loading.run import load
from bioqa.indexer.opening import open_index, open_target
from bioqa.indexer.search.elastic.address import Access
from bioqa.models.answers.ranking import Ranking
from tests.app.conftest import SAMPLE
from tests.app.engines import over
from tests.app.jobs.test_restart import QUESTIONS
from tests.app.jobs.waiting import until
from tests.app.rankers import LexicalRanker
from tests.app.requests import BODY, is_problem
from tests.elastic_server import ElasticServer, settle

ACCESS = Access(timeout_s=60, patience_s=60)
BATCHES = "/v1/bioasq/batches"


class SlowRanker(LexicalRanker):
    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        time.sleep(0.05)
        return super().rank(question, candidates)


def test_an_elasticsearch_that_is_killed_and_comes_back(own_server: None, tmp_path: Path) -> None:
    folder = tmp_path / "server"
    with ElasticServer(folder) as server:
        where, port = f"{server.url}/pool", int(server.url.rsplit(":", 1)[1])
        settle(server.url)
        with closing(open_target(where, access=ACCESS)) as target:
            load([SAMPLE / "medline.xml"], target, workers=1)
        expected = undisturbed(where)
        with serving(where, tmp_path / "data") as client:
            first = ask(client)
            assert first.status_code == 200
            batch = submit(client)
            until(lambda: client.get(batch).json()["answered"] >= 5, "five answers")
            server.kill_node()
            check_what_is_told_while_it_is_away(client)
            late = submit(client)
            until(lambda: client.get(batch).json()["waits_for"] is not None, "the batch to wait")
            with ElasticServer(folder, port=port) as again:
                settle(again.url)
                until(lambda: ask(client).status_code == 200, "the index to be found again")
                assert ask(client).json()["documents"] == first.json()["documents"]
                assert client.get("/readyz").status_code == 200
                check_is_done(client, batch, expected)
                check_is_done(client, late, expected)


def serving(where: str, data: Path) -> TestClient:
    open_pool = partial(open_index, where, ACCESS)
    app = create_app(Settings(data_dir=data), over(open_pool, SlowRanker()))
    return TestClient(app, raise_server_exceptions=False)


def undisturbed(where: str) -> dict[str, Any]:
    """What the batch is answered where nothing fails."""
    with closing(open_index(where, ACCESS)) as index:
        answerer = Answerer(index, LexicalRanker())
        questions = [Question(q["id"], q["body"], q["type"]) for q in QUESTIONS]
        return submission_dict(answerer.answer(question).response() for question in questions)


def ask(client: TestClient) -> httpx2.Response:
    return client.post("/v1/search", json={"body": BODY})


def submit(client: TestClient) -> str:
    response = client.post(BATCHES, json={"questions": QUESTIONS})
    assert response.status_code == 202
    return str(response.headers["location"])


def check_what_is_told_while_it_is_away(client: TestClient) -> None:
    begun = time.monotonic()
    with ThreadPoolExecutor(4) as threads:
        for response in threads.map(lambda _: ask(client), range(4)):
            problem = is_problem(response, 503)
            assert int(response.headers["retry-after"]) >= 1
            assert "127.0.0.1" not in str(problem)
    assert time.monotonic() - begun < 30
    begun = time.monotonic()
    assert client.get("/healthz").status_code == 200
    assert time.monotonic() - begun < 5
    assert client.get("/readyz").status_code == 503


def check_is_done(client: TestClient, batch: str, expected: dict[str, Any]) -> None:
    until(lambda: client.get(batch).json()["state"] == "done", "the batch to be done")
    status = client.get(batch).json()
    assert (status["failed"], status["degraded"], status["restarts"]) == (0, 0, [])
    assert client.get(status["submission"]).json() == expected
